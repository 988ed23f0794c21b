"""Without key and settings a model server of this machine is used, and the person is told which."""

import asyncio
import time
from contextlib import asynccontextmanager, suppress

import pytest

from tests.fakes.local_server import LocalServer, ollama, vllm
from tests.fakes.model_server import ModelServer
from tests.support.editor import AgentError, open_editor
from tests.support.talk import open_params

pytestmark = pytest.mark.slow


@pytest.fixture
async def local():
    """An Ollama with a model that can use tools."""
    async with ModelServer(models=("qwen3:8b", "other")) as server:
        server.others = ollama({"embedder": ["embedding"], "qwen3:8b": ["completion", "tools"]})
        yield server
        assert server.problems == []


def at(**servers):
    return {"HERMES_ACP_LOCAL_SERVERS": ",".join(f"{name}={url}" for name, url in servers.items())}


@asynccontextmanager
async def started(tmp_path, **servers):
    """An editor whose agent looks at these addresses."""
    async with open_editor(tmp_path / "home", **at(**servers)) as editor:
        await editor.initialize()
        yield editor


async def test_a_server_is_found_used_and_named_in_the_first_turn(local, project, tmp_path):
    async with open_editor(tmp_path / "home", **at(ollama=local.url)) as editor:
        await editor.initialize({"session": {"notices": {}}})
        assert local.connections == 0
        result = await editor.request("session/new", {"cwd": str(project), "mcpServers": []})
        [option] = [option for option in result["configOptions"] if option["id"] == "model"]
        assert option["currentValue"] == "qwen3:8b"
        session = result["sessionId"]
        assert await editor.prompt(session, "hi") == "end_turn"
        assert await editor.prompt(session, "again") == "end_turn"
        [notice] = editor.updates(session, "notice")
        assert notice["severity"] == "info"
        assert "qwen3:8b of Ollama on this machine" in notice["title"]
        assert local.url in notice["title"]
        assert {request.body["model"] for request in local.requests} == {"qwen3:8b"}
        assert {request.headers["authorization"] for request in local.requests} == {"Bearer none"}


async def test_the_result_is_kept_and_one_look_serves_all(project, tmp_path):
    async with LocalServer(vllm("served"), delay=0.1) as server, started(tmp_path, vllm=server.url) as editor:
        sessions = await asyncio.gather(*(editor.new_session(project) for _ in range(5)))
        sessions.append(await editor.new_session(project))
        assert len(set(sessions)) == 6
        assert server.asked.count("/v1/models") <= 2, "one look, and one list of models once a session is open"


async def test_what_is_assumed_is_said(project, tmp_path):
    async with ModelServer(models=("served",)) as server, started(tmp_path, vllm=server.url) as editor:
        session = await editor.new_session(project)
        await editor.prompt(session, "hi")
        assert "served of vLLM on this machine" in editor.text(session)
        assert "does not tell" in editor.text(session)


async def test_nothing_found_is_auth_required_and_found_later_by_authenticate(local, project, tmp_path):
    others, local.others = local.others, {}
    async with open_editor(tmp_path / "home", **at(ollama=local.url)) as editor:
        hello = await editor.initialize()
        method = {"methodId": hello["authMethods"][0]["id"]}
        for request in (("session/new", {"cwd": str(project), "mcpServers": []}), ("authenticate", method)):
            with pytest.raises(AgentError) as error:
                await editor.request(*request)
            assert error.value.code == -32000
            assert "model server" in str(error.value)
        local.others = others
        assert await editor.request("authenticate", method) == {}
        assert await editor.prompt(await editor.new_session(project), "hi") == "end_turn"


async def test_a_silent_port_delays_the_session_by_the_look_alone(project, tmp_path):
    async with (
        LocalServer(ollama({}), delay=60) as silent,
        started(tmp_path, ollama=silent.url, vllm=silent.url) as editor,
    ):
        with pytest.raises(AgentError):
            await editor.new_session(project)
        before = time.monotonic()
        with pytest.raises(AgentError) as error:
            await editor.new_session(project)
        assert 0.25 < time.monotonic() - before < 10
        assert error.value.code == -32000


@pytest.mark.parametrize(
    "configured",
    [
        {"OPENAI_API_KEY": "sk-test-0123456789"},
        {"HERMES_ACP_API_KEY": "sk-test-0123456789"},
        {"HERMES_ACP_PROVIDER": "custom", "HERMES_ACP_MODEL": "m", "HERMES_ACP_BASE_URL": "http://127.0.0.1:9/v1"},
        {"HERMES_ACP_MODEL": "gpt-5.5"},
        {"HERMES_ACP_PROVIDER": "demo"},
    ],
    ids=["key", "general key", "endpoint", "model", "demo"],
)
async def test_nobody_is_asked_when_anything_is_configured(local, project, tmp_path, configured):
    async with open_editor(tmp_path / "home", **at(ollama=local.url), **configured) as editor:
        await editor.initialize()
        with suppress(AgentError):
            await editor.new_session(project)
        assert local.connections == 0


@pytest.mark.slow
async def test_a_logout_holds_for_local_servers_too(local, project, tmp_path):
    async with open_editor(tmp_path / "home", **at(ollama=local.url)) as editor:
        hello = await editor.initialize()
        await editor.new_session(project)
        await editor.request("logout")
        with pytest.raises(AgentError) as error:
            await editor.new_session(project)
        assert error.value.code == -32000
        await editor.request("authenticate", {"methodId": hello["authMethods"][0]["id"]})
        assert await editor.prompt(await editor.new_session(project), "hi") == "end_turn"


@pytest.mark.slow
async def test_an_earlier_session_is_opened_with_the_server_after_a_restart(local, project, tmp_path):
    async with open_editor(tmp_path / "home", **at(ollama=local.url)) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "hi")
        await editor.close()
    async with open_editor(tmp_path / "home", **at(ollama=local.url)) as second:
        await second.initialize()
        await second.request("session/load", open_params(session, project))
        assert await second.prompt(session, "still there?") == "end_turn"
        assert len(local.requests[-1].messages) == 4


async def test_a_wrong_place_is_told(project, tmp_path):
    async with open_editor(tmp_path / "home", HERMES_ACP_LOCAL_SERVERS="ollama=http://example.com") as editor:
        await editor.initialize()
        with pytest.raises(AgentError) as error:
            await editor.new_session(project)
        assert error.value.code == -32603
        assert "HERMES_ACP_LOCAL_SERVERS" in str(error.value)
