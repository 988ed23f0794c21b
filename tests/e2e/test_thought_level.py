"""The thought level: offered for models that take one, kept, and what each API is then asked."""

import asyncio

import pytest

from tests.fakes.model_server import Call, ModelServer, Say, Status, fail
from tests.support.editor import AgentError, open_editor

pytestmark = pytest.mark.slow

THINKER, PLAIN = "gpt-5", "gpt-4o"


@pytest.fixture
async def model():
    async with ModelServer(models=(PLAIN, THINKER)) as server:
        yield server
        assert server.problems == []


def start(tmp_path, model, name=THINKER, **more):
    return open_editor(tmp_path / "home", model.url, HERMES_ACP_MODEL=name, **more)


def settings(tmp_path, text):
    folder = tmp_path / "home" / "hermes-acp"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text, encoding="utf-8")


def level_in(options):
    """The present level and those to choose from; None where there is no such option."""
    found = [option for option in options if option["id"] == "thought_level"]
    for option in found:
        assert option["category"] == "thought_level"
        return option["currentValue"], [choice["value"] for choice in option["options"]]
    return None


async def choose(editor, session, value, option="thought_level"):
    params = {"sessionId": session, "configId": option, "value": value}
    return (await editor.request("session/set_config_option", params))["configOptions"]


async def announced(editor, level):
    """Wait until the list of options is sent with this level, or without a level for None."""
    await editor.wait_update(
        lambda update: (
            update["sessionUpdate"] == "config_option_update"
            and (level_in(update["configOptions"]) or (None,))[0] == level
        )
    )


async def asked(editor, model, session):
    """What the next prompt's request says of thinking."""
    await editor.prompt(session, "hi")
    return said_of_thinking(model.requests[-1].body)


def said_of_thinking(body):
    return {name: body[name] for name in ("reasoning_effort", "reasoning", "thinking", "output_config") if name in body}


async def open_with(editor, project, method="session/new", **more):
    return await editor.request(method, {"cwd": str(project), "mcpServers": [], **more})


@pytest.mark.parametrize(
    ("api", "name", "before", "high", "levels"),
    [
        ("chat_completions", "gpt-5", {}, {"reasoning_effort": "high"}, ["minimal", "low", "medium", "high"]),
        (
            "codex_responses",
            "gpt-5-codex",
            {"reasoning": {"summary": "auto"}},
            {"reasoning": {"effort": "high", "summary": "auto"}},
            ["low", "medium", "high"],
        ),
        (
            "anthropic_messages",
            "claude-sonnet-4-5",
            {},
            {"thinking": {"type": "enabled", "budget_tokens": 16_000}},
            ["none", "low", "medium", "high"],
        ),
        (
            "anthropic_messages",
            "claude-opus-4-6",
            {},
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"}},
            ["none", "low", "medium", "high", "max"],
        ),
    ],
)
async def test_a_level_changes_the_next_request_in_each_api(tmp_path, model, project, api, name, before, high, levels):
    async with start(tmp_path, model, name, HERMES_ACP_API_MODE=api) as editor:
        await editor.initialize()
        opened = await open_with(editor, project)
        session = opened["sessionId"]
        assert level_in(opened["configOptions"]) == ("default", ["default", *levels])
        assert await asked(editor, model, session) == before
        assert level_in(await choose(editor, session, "high"))[0] == "high"
        await announced(editor, "high")
        assert await asked(editor, model, session) == high
        await choose(editor, session, "default")
        assert await asked(editor, model, session) == before


async def test_a_level_set_in_mid_turn_holds_for_the_next_call(tmp_path, model, project):
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]), "Done.")
    async with start(tmp_path, model) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        allow = editor.handlers["session/request_permission"]

        async def answer(params):
            await choose(editor, session, "low")
            return allow(params)

        editor.handlers["session/request_permission"] = answer
        await editor.prompt(session, "go")
        assert [said_of_thinking(request.body) for request in model.requests] == [{}, {"reasoning_effort": "low"}]


async def test_it_is_kept_over_a_restart_and_by_every_way_in(tmp_path, model, project):
    async with start(tmp_path, model) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await choose(editor, session, "minimal")
        assert await asked(editor, model, session) == {"reasoning_effort": "minimal"}
    async with start(tmp_path, model) as second:
        await second.initialize()
        for method in ("session/load", "session/resume", "session/fork"):
            opened = await open_with(second, project, method, sessionId=session)
            assert level_in(opened["configOptions"])[0] == "minimal"
        for one in (session, opened["sessionId"]):
            assert await asked(second, model, one) == {"reasoning_effort": "minimal"}
        assert level_in((await open_with(second, project))["configOptions"])[0] == "default"


async def test_a_model_that_takes_none_has_no_option_and_the_choice_outlasts_it(tmp_path, model, project):
    async with start(tmp_path, model) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.wait_update(lambda update: PLAIN in str(update.get("configOptions")))
        await choose(editor, session, "high")
        assert level_in(await choose(editor, session, PLAIN, "model")) is None
        await announced(editor, None)
        assert await asked(editor, model, session) == {}
        with pytest.raises(AgentError) as error:
            await choose(editor, session, "low")
        assert error.value.code == -32602
        assert level_in(await choose(editor, session, THINKER, "model"))[0] == "high"
        assert await asked(editor, model, session) == {"reasoning_effort": "high"}


@pytest.mark.parametrize("value", ["xhigh", "off", ""])
async def test_a_level_that_the_model_does_not_take_is_refused(tmp_path, model, project, value):
    async with start(tmp_path, model) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        with pytest.raises(AgentError) as error:
            await choose(editor, session, value)
        assert error.value.code == -32602
        assert await asked(editor, model, session) == {}


async def test_what_the_list_tells_of_a_model_brings_the_option(tmp_path, model, project):
    entries = [{"id": "my-thinker", "supported_parameters": ["tools", "reasoning"]}]
    model.list_answer = Status(200, {"object": "list", "data": entries})
    async with start(tmp_path, model, "my-thinker") as editor:
        await editor.initialize()
        opened = await open_with(editor, project)
        assert level_in(opened["configOptions"]) is None
        await announced(editor, "default")
        await choose(editor, opened["sessionId"], "low")
        assert await asked(editor, model, opened["sessionId"]) == {"reasoning_effort": "low"}


@pytest.mark.parametrize(
    ("name", "shown", "said"),
    [
        (THINKER, "high", {"reasoning_effort": "high"}),
        ("my-model", "high", {"reasoning_effort": "high"}),
        ("claude-opus-4-6", "max", {"reasoning_effort": "max"}),
        (PLAIN, None, {}),
    ],
)
async def test_the_settings_say_it_for_sessions_that_chose_nothing(tmp_path, model, project, name, shown, said):
    settings(tmp_path, '[agent]\nthought_level = "max"\n')
    async with start(tmp_path, model, name) as editor:
        await editor.initialize()
        opened = await open_with(editor, project)
        assert (level_in(opened["configOptions"]) or (None,))[0] == shown
        assert await asked(editor, model, opened["sessionId"]) == said


async def test_a_model_that_refuses_to_think_is_asked_again_without(tmp_path, model, project):
    settings(tmp_path, '[agent]\nthought_level = "low"\n')
    model.say(fail(400, '"my-model" does not support thinking'), "Done.")
    async with start(tmp_path, model, "my-model") as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await asked(editor, model, session) == {}
        assert said_of_thinking(model.requests[0].body) == {"reasoning_effort": "low"}


async def test_the_command_shows_and_sets_it(tmp_path, model, project):
    async with start(tmp_path, model) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.wait_update(lambda update: PLAIN in str(update.get("configOptions")))
        for command, answer in (
            ("/think", "The thought level is `default`. To choose: `default`, `minimal`, `low`, `medium`, `high`."),
            ("/think low", "The thought level is now `low`."),
            ("/think hard", "There is no thought level `hard`."),
            (f"/model {PLAIN}", f"The model is now `{PLAIN}`."),
            ("/think", f"How much `{PLAIN}` thinks cannot be chosen."),
            (f"/model {THINKER}", f"The model is now `{THINKER}`."),
        ):
            before = len(editor.text(session))
            await editor.prompt(session, command)
            assert editor.text(session)[before:].startswith(answer)
        await announced(editor, "low")
        assert await asked(editor, model, session) == {"reasoning_effort": "low"}


@pytest.mark.parametrize(
    ("reserve_model", "said"),
    [(PLAIN, {}), ("my-model", {}), ("o3", {"reasoning_effort": "low"}), ("gpt-5.1", {"reasoning_effort": "low"})],
)
async def test_a_reserve_is_told_what_it_takes(tmp_path, model, project, reserve_model, said):
    async with ModelServer() as reserve:
        settings(
            tmp_path,
            f'[[fallback_providers]]\nprovider = "backup"\nmodel = "{reserve_model}"\nbase_url = "{reserve.url}"\n',
        )
        async with start(tmp_path, model) as editor:
            await editor.initialize()
            session = await editor.new_session(project)
            await choose(editor, session, "minimal")
            model.say(fail(404, "The model does not exist."))
            await editor.prompt(session, "hi")
            assert said_of_thinking(model.requests[0].body) == {"reasoning_effort": "minimal"}
            assert [said_of_thinking(request.body) for request in reserve.requests] == [said]


async def test_subagents_think_as_much_as_the_session(tmp_path, model, project):
    model.say(Say(calls=[Call("delegate_task", {"goal": "count"})]), "Seven.", "Done.")
    async with start(tmp_path, model) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await choose(editor, session, "high")
        await editor.prompt(session, "go")
        assert [said_of_thinking(request.body) for request in model.requests] == [{"reasoning_effort": "high"}] * 3


async def test_titles_are_not_thought_about(tmp_path, model, project):
    async with start(tmp_path, model, HERMES_ACP_AUTO_TITLE="true") as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await choose(editor, session, "high")
        await editor.prompt(session, "hi")
        async with asyncio.timeout(5):
            await model.until(lambda server: len(server.requests) == 2)
        assert said_of_thinking(model.requests[1].body) == {}
