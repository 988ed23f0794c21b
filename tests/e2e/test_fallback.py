"""Reserves, through the wire: what each server received, and what the editor was told."""

import asyncio
import time

import pytest

from tests.fakes.model_server import Call, Say, Status, fail
from tests.support.editor import AgentError
from tests.support.reserves import PRIMARY_KEY, RESERVE, RESERVE_KEY, asked, model_shown, models_told, start
from tests.support.talk import open_params

pytestmark = pytest.mark.slow

NOTICES = {"notices": {}}


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
        await editor.request("session/load", open_params(session, project))
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
        params = open_params(session, project)
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
