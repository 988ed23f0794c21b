"""Reserves and keys that rotate, through the wire: what each server received, and what the editor was told."""

import asyncio
import time

import pytest

from tests.e2e.test_compaction import SmallModel
from tests.fakes.model_server import Call, ModelServer, Say, Status, fail
from tests.support.editor import AgentError, open_editor
from tests.support.processes import lives

pytestmark = pytest.mark.slow

PRIMARY_KEY, RESERVE_KEY = "sk-primary-0123456789", "sk-reserve-0123456789"
RESERVE = "small-model (backup)"
NOTICES = {"notices": {}}


@pytest.fixture
async def reserve():
    async with ModelServer() as server:
        yield server
        assert server.problems == []


@pytest.fixture
def configure(tmp_path, model, reserve):
    """Writes the settings: two endpoints and what is added to them."""
    folder = tmp_path / "home" / "hermes-acp"
    folder.mkdir(parents=True)
    model.models = ("big-model",)

    def write(*more, cooldown=60, key='api_key_env = "PRIMARY_KEY"'):
        settings = f"""
[agent]
fallback_cooldown = {cooldown}
auto_title = false
[model]
provider = "custom"
name = "big-model"
base_url = "{model.url}"
{key}
[[fallback_providers]]
provider = "backup"
model = "small-model"
base_url = "{reserve.url}"
api_key_env = "RESERVE_KEY"
"""
        (folder / "config.toml").write_text("\n".join([settings, *more]), encoding="utf-8")

    write()
    return write


def start(tmp_path, **env):
    keys = {"PRIMARY_KEY": PRIMARY_KEY, "RESERVE_KEY": RESERVE_KEY}
    return open_editor(tmp_path / "home", **{**keys, **env})


def asked(server):
    """Each request: its key, its model, its last message."""
    return [
        (
            request.headers["authorization"].removeprefix("Bearer "),
            request.body["model"],
            request.messages[-1]["content"],
        )
        for request in server.requests
    ]


def model_shown(options):
    [option] = [option for option in options if option["id"] == "model"]
    return option["currentValue"], [choice["value"] for choice in option["options"]]


def models_told(editor, session):
    """The models that the editor was told to show, in order, without repetitions."""
    updates = editor.updates(session, "config_option_update")
    shown = [model_shown(update["configOptions"])[0] for update in updates]
    return [model for before, model in zip([None, *shown], shown, strict=False) if model != before]


async def test_the_reserve_answers_in_the_same_turn_and_the_editor_is_told(
    tmp_path, configure, model, reserve, project
):
    (project / "a").write_text("the content\n")
    model.say(Say(calls=[Call("read_file", {"path": "a"})]), fail(401, "expired"))
    reserve.say("It holds the content.")
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await editor.prompt(session, "what is in a?") == "end_turn"
        assert asked(model)[0] == (PRIMARY_KEY, "big-model", "what is in a?")
        [(key, name, last)] = asked(reserve)
        assert (key, name) == (RESERVE_KEY, "small-model")
        assert "the content" in last
        assert reserve.requests[0].messages == model.requests[1].messages
        assert models_told(editor, session) == [RESERVE]
        text = editor.text(session)
        assert text.index(f"Now answered by {RESERVE}") < text.index("It holds the content.")
        assert "expired" in text
        assert PRIMARY_KEY not in str(editor.lines) + editor.stderr
        await editor.prompt(session, "/model")
        assert f"The model is `big-model` (`{RESERVE}` answers in its place)" in editor.text(session)


async def test_an_editor_that_takes_notices_is_told_by_one(tmp_path, configure, model, project):
    model.say(fail(402, "no money"))
    async with start(tmp_path) as editor:
        await editor.initialize({"session": NOTICES})
        session = await editor.new_session(project)
        await editor.prompt(session, "hi")
        [notice] = editor.updates(session, "notice")
        assert notice["title"] == f"Now answered by {RESERVE}"
        assert "no money" in notice["description"]
        assert editor.text(session) == "Done."


async def test_the_primary_is_asked_again_after_its_cooldown_and_that_is_told(
    tmp_path, configure, model, reserve, project
):
    configure(cooldown=0.6)
    model.say(fail(401, "expired"), "Back.")
    async with start(tmp_path) as editor:
        await editor.initialize()
        session, other = await editor.new_session(project), await editor.new_session(project)
        began = time.monotonic()
        await editor.prompt(session, "one")
        await editor.prompt(other, "two")
        soon = time.monotonic() - began < 5
        assert not soon or [last for *_, last in asked(model)] == ["one"]
        await asyncio.sleep(0.7)
        await editor.prompt(session, "three")
        assert asked(model)[-1][2] == "three"
        assert asked(reserve)[0][2] == "one"
        assert models_told(editor, session) == [RESERVE, "big-model"]
        assert [message["content"] for message in model.requests[-1].messages[-3:]] == ["one", "Done.", "three"]
        assert editor.text(session).endswith("Back.")


async def test_after_text_was_shown_it_is_an_error_and_the_text_is_kept(tmp_path, configure, model, reserve, project):
    model.say(Say("The answer begins", ending="reset"))
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        with pytest.raises(AgentError) as error:
            await editor.prompt(session, "hi")
        assert (error.value.code, reserve.requests) == (-32603, [])
    async with start(tmp_path) as editor:
        await editor.initialize()
        await editor.request("session/load", {"sessionId": session, "cwd": str(project), "mcpServers": []})
        assert "The answer begins" in editor.text(session)
        await editor.prompt(session, "again")
        assert asked(model)[-1][2] == "again"


async def test_cards_of_a_broken_draft_are_closed_before_the_reserve_answers(
    tmp_path, configure, model, reserve, project
):
    draft = Say(reasoning="hm", calls=[Call("write_file", '{"path": "b", "content": "half')], error={"code": 401})
    model.say(draft)
    reserve.say("Fine.")
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "hi")
        kinds = [update["sessionUpdate"] for update in editor.updates(session)]
        failed = [update for update in editor.updates(session, "tool_call_update") if update.get("status") == "failed"]
        assert len(failed) == 1
        assert kinds.index("tool_call_update") < kinds.index("config_option_update")
        assert not (project / "b").exists()
        assert editor.text(session).endswith("Fine.")


async def test_a_reserve_can_be_chosen_and_is_kept_over_a_restart(tmp_path, configure, model, reserve, project):
    async with start(tmp_path) as editor:
        await editor.initialize()
        result = await editor.request("session/new", {"cwd": str(project), "mcpServers": []})
        session = result["sessionId"]
        assert model_shown(result["configOptions"]) == ("big-model", ["big-model", RESERVE])
        await editor.request("session/set_config_option", {"sessionId": session, "configId": "model", "value": RESERVE})
        await editor.prompt(session, "hi")
        assert (asked(model), asked(reserve)) == ([], [(RESERVE_KEY, "small-model", "hi")])
    async with start(tmp_path) as editor:
        await editor.initialize()
        params = {"sessionId": session, "cwd": str(project), "mcpServers": []}
        loaded = await editor.request("session/load", params)
        assert model_shown(loaded["configOptions"])[0] == RESERVE
        await editor.prompt(session, "still you?")
        assert asked(reserve)[-1] == (RESERVE_KEY, "small-model", "still you?")
    (tmp_path / "home" / "hermes-acp" / "config.toml").write_text(
        f'[model]\nprovider = "custom"\nname = "big-model"\nbase_url = "{model.url}"\n', encoding="utf-8"
    )
    async with start(tmp_path) as editor:
        await editor.initialize()
        loaded = await editor.request("session/load", params)
        assert model_shown(loaded["configOptions"])[0] == "big-model"
        await editor.prompt(session, "and now?")
        assert asked(model)[-1][1:] == ("big-model", "and now?")


async def test_choosing_the_primary_while_the_reserve_answers_shows_it_and_tells_of_the_next_switch(
    tmp_path, configure, model, project
):
    model.say(fail(401, "expired"))
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "one")
        params = {"sessionId": session, "configId": "model", "value": "big-model"}
        answer = await editor.request("session/set_config_option", params)
        assert model_shown(answer["configOptions"])[0] == "big-model"
        await editor.prompt(session, "two")
        assert models_told(editor, session) == [RESERVE, "big-model", RESERVE]


# Keys


def helper(tmp_path, text):
    file = tmp_path / "helper"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return f"[credentials]\ncommand = ['{file}', 'arg']"


async def test_the_key_of_a_command_is_read_anew_when_it_is_rejected(tmp_path, configure, model, reserve, project):
    first, second = "sk-rotating-first-01", "sk-rotating-second-02"
    keys = tmp_path / "keys"
    keys.write_text(first)
    configure(helper(tmp_path, f"echo noise >&2; echo run >> {tmp_path}/runs; cat {keys}"), key="")
    model.keys = (first,)
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "one")
        model.keys = (second,)
        keys.write_text(second)
        sessions = [await editor.new_session(project) for _ in range(4)]
        stops = await asyncio.gather(*(editor.prompt(each, "two") for each in sessions))
        assert stops == ["end_turn"] * 4
        assert [key for key, *_ in asked(model)].count(second) == 4
        assert {key for key, *_ in asked(model)} == {first, second}
        assert (tmp_path / "runs").read_text().count("run") == 2
        assert reserve.requests == []
        assert not {first, second, "noise"} & {*editor.stderr.split()}


async def test_a_key_that_stays_rejected_goes_to_the_reserve_else_is_an_error_of_the_prompt(
    tmp_path, configure, model, reserve, project
):
    """I1: -32000 is for nothing configured, not for a key that was refused."""
    model.keys = ("another-key-0123456789",)
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await editor.prompt(session, "one") == "end_turn"
        assert len(asked(model)) == len(asked(reserve)) == 1
    reserve.keys = model.keys
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        with pytest.raises(AgentError) as error:
            await editor.prompt(session, "two")
        assert error.value.code == -32603
        assert "Incorrect API key" in error.value.message
        assert f"{RESERVE} failed too" in error.value.message
        assert PRIMARY_KEY not in error.value.message


async def test_a_cancel_while_the_command_runs_ends_it_at_once(tmp_path, configure, model, project):
    pids = tmp_path / "pids"
    configure(helper(tmp_path, f"echo $$ >> {pids}; exec sleep 60"), key="")
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        prompt = editor.begin_prompt(session, "hi")
        while not (pids.exists() and pids.read_text().strip()):
            await asyncio.sleep(0.01)
        began = time.monotonic()
        editor.notify("session/cancel", {"sessionId": session})
        assert (await prompt)["stopReason"] == "cancelled"
        assert time.monotonic() - began < 5
        assert model.requests == []
    assert not any(lives(int(pid)) for pid in pids.read_text().split())


async def test_a_cancel_between_attempts_ends_the_turn_and_asks_no_reserve(
    tmp_path, configure, model, reserve, project
):
    model.say(Status(503), "Late.")
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        prompt = editor.begin_prompt(session, "hi")
        await editor.wait_line(
            lambda line: line.get("method") == "_hermes/status" and line["params"]["kind"] == "retrying"
        )
        began = time.monotonic()
        editor.notify("session/cancel", {"sessionId": session})
        assert (await prompt)["stopReason"] == "cancelled"
        assert time.monotonic() - began < 5
        assert (len(model.requests), reserve.requests) == (1, [])


async def test_a_wrong_reserve_is_told_by_the_first_session_and_initialize_works(tmp_path, configure, project):
    configure('[[fallback_providers]]\nprovider = "nowhere"\nmodel = "x"')
    async with start(tmp_path) as editor:
        await editor.initialize()
        with pytest.raises(AgentError) as error:
            await editor.new_session(project)
        assert error.value.code == -32603
        assert "fallback_providers (entry 2).provider: there is no 'nowhere'" in error.value.message


async def test_a_reserve_without_a_key_is_left_out_and_the_log_says_so(tmp_path, configure, model, project):
    configure('[[fallback_providers]]\nprovider = "openrouter"')
    async with start(tmp_path, RESERVE_KEY="") as editor:
        await editor.initialize()
        result = await editor.request("session/new", {"cwd": str(project), "mcpServers": []})
        assert model_shown(result["configOptions"])[1] == ["big-model"]
        assert "fallback_providers (entry 1): left out: The variable RESERVE_KEY" in editor.stderr
        assert "fallback_providers (entry 2): left out: There is no key for OpenRouter" in editor.stderr


def sizes_told(editor, session):
    """The windows that the editor was told of, in order, without repetitions."""
    sizes = [update["size"] for update in editor.updates(session, "usage_update")]
    return [size for at, size in enumerate(sizes) if at == 0 or size != sizes[at - 1]]


SMALL, BIG = 12_000, 64_000
WINDOWS = f"context_window = {SMALL}\n[compression]\nprotect_last_n = 4\n"


async def talk_on(editor, session, count):
    for number in range(count):
        assert await editor.prompt(session, f"Go on, {number}.") == "end_turn"


async def test_while_a_reserve_answers_the_context_is_fitted_to_its_window(
    tmp_path, configure, model, reserve, project
):
    small, big = SmallModel(SMALL), SmallModel(BIG)
    configure(WINDOWS)
    model.script(big)
    reserve.script(small)
    async with start(tmp_path, HERMES_ACP_CONTEXT_WINDOW=str(BIG)) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "Remember FACT-one.")
        model.script(lambda body: fail(401, "no such key"))
        await talk_on(editor, session, 30)
        assert small.refused == 0
        assert small.summaries >= 1
        assert "FACT-one" in str(reserve.requests[-1].messages)
        assert sizes_told(editor, session) == [BIG, SMALL]
        assert "can hold 12,000 tokens" in await said(editor, session, "/context")


async def test_a_reserve_whose_window_is_not_known_is_given_no_more_than_the_model_was(
    tmp_path, configure, model, reserve, project
):
    small = SmallModel(SMALL)
    configure("[compression]\nprotect_last_n = 4\n")
    model.say("Begun.", fail(401, "no such key"))
    model.default = fail(401, "no such key")
    reserve.script(small)
    async with start(tmp_path, HERMES_ACP_CONTEXT_WINDOW=str(SMALL)) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "Remember FACT-one.")
        await talk_on(editor, session, 30)
        assert small.refused == 0
        assert small.summaries >= 1
        assert sizes_told(editor, session) == [SMALL]


async def test_a_conversation_that_is_too_long_for_the_reserve_is_compacted_for_it_and_the_model_keeps_its_window(
    tmp_path, configure, model, reserve, project
):
    small, big = SmallModel(SMALL), SmallModel(BIG)
    configure(WINDOWS, cooldown=1)
    model.script(big)
    reserve.script(small)
    async with start(tmp_path, HERMES_ACP_CONTEXT_WINDOW=str(BIG)) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "Remember FACT-one.")
        await talk_on(editor, session, 40)
        assert big.summaries == 0
        model.script(lambda body: fail(401, "no such key"))
        assert await editor.prompt(session, "And now?") == "end_turn"
        assert small.refused == 1
        assert "FACT-one" in str(reserve.requests[-1].messages)
        assert sizes_told(editor, session) == [BIG, SMALL]
        model.script(big)
        await asyncio.sleep(1.2)
        await talk_on(editor, session, 20)
        assert big.summaries == 0
        assert sizes_told(editor, session) == [BIG, SMALL, BIG]


async def said(editor, session, command):
    """What is answered to a command."""
    before = len(editor.text(session))
    await editor.prompt(session, command)
    return editor.text(session)[before:]
