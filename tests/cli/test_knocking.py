"""The doctor knocks at the model's server, once."""

import asyncio
from types import SimpleNamespace

import pytest

from tests.fakes.local_server import LocalServer, lmstudio, ollama
from tests.fakes.model_server import ModelServer
from tests.fakes.replies import fail
from tests.support.commands import doctor, hermes, report


async def test_the_doctor_tells_of_model_servers_on_this_machine(home):
    able, unable = ollama({"talker": ["completion"], "worker": ["tools"]}), lmstudio({"id": "talker", "type": "llm"})
    async with LocalServer(able) as first, LocalServer(unable) as second:
        places = f"ollama={first.url},lmstudio={second.url}"
        done = await asyncio.to_thread(hermes, home, "doctor", HERMES_ACP_LOCAL_SERVERS=places)
        assert done.returncode == 0
        found = report(done)
        assert [state for state, _ in found["server"]] == ["ok", "warning"]
        assert "Ollama on this machine" in found["server"][0][1]
        assert "no model that can use tools" in found["server"][1][1]
        assert found["model"][0][1].startswith(f"worker of ollama at {first.url}/v1")
        first.answers = {}
        done = await asyncio.to_thread(hermes, home, "doctor", HERMES_ACP_LOCAL_SERVERS=places)
        assert report(done)["model"][0][0] == "missing"
        before = len(first.asked)
        await asyncio.to_thread(doctor, home, HERMES_ACP_LOCAL_SERVERS=places, OPENAI_API_KEY="sk-x")
        assert len(first.asked) == before


async def knock(home, server, *arguments, **more):
    options = ["--provider", "custom", "--model", "fake-model", "--base-url", server.url, *arguments]
    done = await asyncio.to_thread(hermes, home, "doctor", *options, HERMES_ACP_API_KEY="sk-SECRET", **more)
    assert b"SECRET" not in done.stdout + done.stderr
    return done.returncode, report(done).get("server")


async def test_the_doctor_knocks_at_the_models_server_once(home):
    async with ModelServer() as server:
        assert await knock(home, server) == (0, [("ok", f"{server.url} answers, and has fake-model")])
        assert (server.listed, server.requests) == (1, [])
        assert await knock(home, server, "--offline") == (0, None)
        assert server.listed == 1
        server.models = ("another",)
        status, [(state, text)] = await knock(home, server)
        assert (status, state) == (0, "note")
        assert "fake-model is not in its list" in text


async def test_the_doctor_tells_of_a_key_that_is_refused_without_asking_twice(home):
    async with ModelServer() as server:
        server.list_answer = fail(401, "Incorrect API key provided: sk-SECRET", code="invalid_api_key")
        status, [(state, text)] = await knock(home, server)
        assert (status, state) == (1, "missing")
        assert text.startswith(f"{server.url} refuses the key found in HERMES_ACP_API_KEY: ")
        assert server.listed == 1


async def test_the_doctor_tells_of_a_server_that_is_not_there(home):
    async with ModelServer() as server:
        url = server.url
    status, [(state, text)] = await knock(home, server := SimpleNamespace(url=url))
    assert (status, state) == (1, "missing")
    assert text.startswith(f"{server.url} is not there: ")


@pytest.mark.slow
async def test_the_doctor_waits_three_seconds_for_a_server_that_says_nothing(home):
    async with LocalServer({}, delay=60.0) as server:
        status, [(state, text)] = await knock(home, server)
        assert (status, state) == (1, "missing")
        assert "no answer for 3 seconds" in text


async def test_the_doctor_does_not_mind_a_server_without_a_list(home):
    async with LocalServer({}) as server:
        status, [(state, text)] = await knock(home, server)
        assert (status, state) == (0, "note")
        assert "answers, but lists no models" in text
