"""The models that an endpoint offers: found after the session is open, chosen, kept, and never in the way."""

import asyncio

import pytest

from tests.fakes.model_server import ModelServer, Status
from tests.support.editor import AgentError, open_editor
from tests.support.talk import open_params

pytestmark = pytest.mark.slow

NAMES = ("big-model", "fake-model", "small-model")


@pytest.fixture
async def model():
    async with ModelServer(models=NAMES) as server:
        yield server
        assert server.problems == []


def choices(options):
    [option] = [option for option in options if option["id"] == "model"]
    return option["currentValue"], [choice["value"] for choice in option["options"]]


def of_models(update):
    return update["sessionUpdate"] == "config_option_update" and len(choices(update["configOptions"])[1]) > 1


async def choose(editor, session, name):
    params = {"sessionId": session, "configId": "model", "value": name}
    return await editor.request("session/set_config_option", params)


async def test_the_choices_grow_in_every_open_session_after_its_answer(editor, model, project):
    results = [await editor.request("session/new", {"cwd": str(project), "mcpServers": []}) for _ in range(3)]
    for result in results:
        assert choices(result["configOptions"]) == ("fake-model", ["fake-model"])
        line = await editor.wait_line(
            lambda line, id=result["sessionId"]: (
                line.get("method") == "session/update"
                and line["params"]["sessionId"] == id
                and of_models(line["params"]["update"])
            )
        )
        expected = ("fake-model", ["fake-model", "big-model", "small-model"])
        assert choices(line["params"]["update"]["configOptions"]) == expected
    assert model.listed == 1
    late = await editor.request("session/new", {"cwd": str(project), "mcpServers": []})
    assert choices(late["configOptions"]) == expected
    assert model.listed == 1


async def test_a_chosen_model_answers_the_next_prompt_and_is_kept_over_a_restart(editor, model, project, tmp_path):
    session = await editor.new_session(project)
    await editor.wait_update(of_models)
    assert choices((await choose(editor, session, "small-model"))["configOptions"])[0] == "small-model"
    await editor.prompt(session, "hi")
    assert model.requests[-1].body["model"] == "small-model"
    other = await editor.new_session(project)
    await editor.prompt(other, "hi")
    assert model.requests[-1].body["model"] == "fake-model"
    await editor.close()
    model.list_answer = Status(500)
    async with open_editor(tmp_path / "home", model.url) as second:
        await second.initialize()
        for method in ("session/load", "session/resume"):
            result = await second.request(method, open_params(session, project))
            assert choices(result["configOptions"]) == ("small-model", ["small-model", "fake-model"])
        await second.prompt(session, "still you?")
        assert model.requests[-1].body["model"] == "small-model"
        fork = await second.request("session/fork", open_params(session, project))
        assert choices(fork["configOptions"])[0] == "small-model"


@pytest.mark.slow
async def test_a_model_of_another_address_is_not_kept(editor, model, project, tmp_path):
    session = await editor.new_session(project)
    await editor.wait_update(of_models)
    await choose(editor, session, "small-model")
    await editor.close()
    async with ModelServer() as elsewhere, open_editor(tmp_path / "home", elsewhere.url) as second:
        await second.initialize()
        result = await second.request("session/load", open_params(session, project))
        assert choices(result["configOptions"]) == ("fake-model", ["fake-model"])
        await second.prompt(session, "hi")
        assert elsewhere.requests[-1].body["model"] == "fake-model"


@pytest.mark.slow
async def test_a_model_that_was_never_chosen_follows_the_settings(editor, model, project, tmp_path):
    session = await editor.new_session(project)
    await editor.close()
    async with open_editor(tmp_path / "home", model.url, HERMES_ACP_MODEL="corrected-model") as second:
        await second.initialize()
        result = await second.request("session/load", open_params(session, project))
        assert choices(result["configOptions"])[0] == "corrected-model"


async def test_the_command_lists_and_chooses_them(editor, model, project):
    session = await editor.new_session(project)
    await editor.wait_update(of_models)
    await editor.prompt(session, "/model")
    assert all(f"`{name}`" in editor.text(session) for name in NAMES)
    await editor.prompt(session, "/model big-model")
    await editor.prompt(session, "hi")
    assert model.requests[-1].body["model"] == "big-model"
    with pytest.raises(AgentError) as error:
        await choose(editor, session, "no-model")
    assert error.value.code == -32602


@pytest.mark.parametrize(
    "answer",
    [
        Status(404),
        pytest.param(Status(200, "<html>"), marks=pytest.mark.slow),
        pytest.param(Status(200, first_delay=30), marks=pytest.mark.slow),
    ],
)
async def test_without_a_list_everything_else_works(editor, model, project, answer):
    model.list_answer = answer
    session = await editor.new_session(project)
    assert await editor.prompt(session, "hi") == "end_turn"
    await asyncio.sleep(0.2)
    assert model.listed == 1
    assert editor.updates(session, "config_option_update") == []
    assert choices((await choose(editor, session, "fake-model"))["configOptions"])[1] == ["fake-model"]
    assert "Traceback" not in editor.stderr
    assert await editor.close(timeout=3) == 0


@pytest.mark.slow
async def test_a_list_that_failed_is_asked_for_again_by_the_next_session(editor, model, project):
    model.list_answer = Status(503)
    await editor.new_session(project)
    await model.until(lambda server: server.listed)
    await asyncio.sleep(0.1)
    model.list_answer = None
    await editor.new_session(project)
    await editor.wait_update(of_models)


async def test_the_session_is_open_before_the_endpoint_is_asked(editor, model, project):
    await editor.new_session(project)
    assert model.listed == model.connections == 0


def settings(home, server, name):
    folder = home / "hermes-acp"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(f'[model]\nprovider = "custom"\nname = "{name}"\nbase_url = "{server.url}"\n')


async def test_open_sessions_follow_an_authenticate_to_another_address(model, project, tmp_path):
    home = tmp_path / "home"
    settings(home, model, "small-model")
    async with ModelServer(models=("elsewhere",)) as other, open_editor(home) as editor:
        hello = await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "hi")
        settings(home, other, "elsewhere")
        await editor.request("authenticate", {"methodId": hello["authMethods"][0]["id"]})
        update = await editor.wait_update(
            lambda update: (
                update["sessionUpdate"] == "config_option_update" and choices(update["configOptions"])[0] == "elsewhere"
            )
        )
        assert choices(update["configOptions"]) == ("elsewhere", ["elsewhere"])
        await editor.prompt(session, "hi")
        assert other.requests[-1].body["model"] == "elsewhere"
        assert len(model.requests) == 1
