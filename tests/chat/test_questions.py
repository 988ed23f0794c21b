"""What the chat asks before something takes effect, and what the answers do."""

import asyncio
import json

from tests.chat.conftest import CTRL_C, ENTER, PAST_THE_GUARD
from tests.fakes.model_server import Call, Say

EDIT = Call("write_file", {"path": "a.txt", "content": "new\n"})


async def test_an_edit_is_shown_before_it_is_allowed(chat, model, project):
    model.say(Say(calls=[EDIT]), "Done.")
    async with chat() as typist:
        typist.type("Go." + ENTER)
        await typist.sees("a.txt (new)", "+new", "[y]es")
        assert not (project / "a.txt").exists()
        await asyncio.sleep(PAST_THE_GUARD)
        typist.type("y")
        await typist.sees("✓ ", "Done.")
    assert (project / "a.txt").read_text() == "new\n"


async def test_a_key_that_was_typed_before_the_question_came_decides_nothing(chat, model, project):
    model.say(Say(calls=[EDIT]), "Not done.")
    async with chat() as typist:
        typist.type("Go." + ENTER + "yyyy")
        await typist.sees("[y]es")
        typist.type("y")
        await asyncio.sleep(PAST_THE_GUARD)
        assert not (project / "a.txt").exists()
        typist.type("n")
        await typist.sees("Not done.")
    assert not (project / "a.txt").exists()


async def test_a_rejection_takes_its_comment_to_the_model(chat, model, project):
    model.say(Say(calls=[EDIT]), "I see.")
    async with chat() as typist:
        typist.type("Go." + ENTER)
        await typist.sees("[c]omment")
        await asyncio.sleep(PAST_THE_GUARD)
        typist.type("c")
        await typist.sees("why not ›")
        typist.type("Use b.txt" + ENTER)
        await typist.sees("I see.")
    [result] = [each for each in model.requests[1].messages if each["role"] == "tool"]
    assert "Use b.txt" in result["content"]
    assert not (project / "a.txt").exists()


async def test_a_plan_is_shown_and_agreeing_to_it_ends_plan_mode(chat, model, project):
    model.say(Say(calls=[Call("leave_plan_mode", {"plan": "Write the file a.txt."})]), Say(calls=[EDIT]), "Done.")
    async with chat(mode="plan") as typist:
        typist.type("Go." + ENTER)
        await typist.sees("Leave plan mode", "Write the file a.txt.", "[y]es [n]o [c]omment")
        await asyncio.sleep(PAST_THE_GUARD)
        typist.type("y")
        await typist.sees("a.txt (new)", "[y]es")
        await asyncio.sleep(PAST_THE_GUARD)
        typist.type("y")
        await typist.sees("Done.")
        typist.type("/mode" + ENTER)
        await typist.sees("The mode is ask.")
    assert (project / "a.txt").read_text() == "new\n"


async def test_always_writes_a_rule_and_asks_no_more(chat, model, home):
    line = "touch b.txt"
    model.say(Say(calls=[Call("terminal", {"command": line})]), "One.")
    model.say(Say(calls=[Call("terminal", {"command": line})]), "Two.")
    async with chat() as typist:
        typist.type("Go." + ENTER)
        await typist.sees("? Run", line, "[a]lways")
        await asyncio.sleep(PAST_THE_GUARD)
        typist.type("a")
        await typist.sees("A rule from now on: allow the command `touch b.txt` in", "One.")
        typist.type("Again." + ENTER)
        await typist.sees("Two.")
    assert line in (home / "config.toml").read_text("utf-8")


async def test_ctrl_c_at_a_question_ends_the_turn(chat, model, project):
    model.say(Say(calls=[EDIT]))
    async with chat() as typist:
        typist.type("Go." + ENTER)
        await typist.sees("[y]es")
        typist.type(CTRL_C)
        await typist.sees("Interrupted.")
    assert len(model.requests) == 1
    assert not (project / "a.txt").exists()


async def test_a_question_with_choices_takes_a_number_or_words(chat, model):
    ask = Say(calls=[Call("clarify", {"question": "Which colour?", "choices": ["red", "blue"]})])
    model.say(ask, "Blue it is.", ask, "Green it is.")
    async with chat() as typist:
        typist.type("Paint." + ENTER)
        await typist.sees("Which colour?", "1 red", "2 blue")
        typist.type("2" + ENTER)
        await typist.sees("Blue it is.")
        typist.type("Again." + ENTER)
        await typist.sees("Which colour?")
        typist.type("green" + ENTER)
        await typist.sees("Green it is.")
    answers = [each["content"] for each in model.requests[-1].messages if each["role"] == "tool"]
    assert answers == ["blue", "green"]


async def test_a_question_that_nobody_answers_in_time_does_not_hold_the_turn(chat, model):
    model.say(Say(calls=[Call("clarify", {"question": "Which colour?"})]), "Tell me which.", "Blue it is.")
    async with chat(approval_timeout=0.3) as typist:
        typist.type("Paint." + ENTER)
        await typist.sees("Which colour?", "Tell me which.")
        typist.type("Blue." + ENTER)
        await typist.sees("› Blue.", "Blue it is.")
    assert "The user has not answered here." in str(model.requests[1].messages[-1])


async def test_what_a_project_brings_is_asked_about_with_keys_of_its_own(chat, model, project, home):
    """For this session, for good, not now, never; a server and a text apart."""
    (project / "AGENTS.md").write_text("Use tabs.\n")
    (project / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "no-such-server"}}}')
    model.say("Hello.", "Hello again.", "Hello there.")
    for keys, asked in (("yn", True), ("av", True), ("", False)):
        async with chat() as typist:
            typist.type("Hi." + ENTER)
            for key, what in zip(keys, ("instruct the agent", '"command": "no-such-server"'), strict=asked):
                await typist.sees(what, "[a]lways", "ne[v]er")
                await asyncio.sleep(PAST_THE_GUARD)
                typist.type(key)
            await typist.sees("Hello")
            assert "no-such-server' was not found" not in typist.shown
    assert all("Use tabs." in str(request.messages[0]) for request in model.requests)
    assert json.loads((home / "trust.json").read_text())["never"] == [str(project / ".mcp.json")]


async def test_a_prompt_that_is_cancelled_at_a_question_about_the_project_is_not_lost(chat, model, project):
    (project / "AGENTS.md").write_text("Use tabs.\n")
    async with chat() as typist:
        typist.type("Find the heron." + ENTER)
        await typist.sees("ne[v]er")
        typist.type(CTRL_C)
        await typist.sees("Interrupted.")
        typist.type("And now?" + ENTER)
        await typist.sees("Done.")
    said = [message["content"] for message in model.requests[0].messages if message["role"] == "user"]
    assert said == ["Find the heron.", "And now?"]


async def test_a_projects_server_starts_in_the_chat_after_a_yes(chat, model, project):
    (project / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "no-such-server"}}}')
    model.say("Hello.")
    async with chat() as typist:
        typist.type("Hi." + ENTER)
        await typist.sees("Start the MCP servers", "ne[v]er")
        await asyncio.sleep(PAST_THE_GUARD)
        typist.type("y")
        await typist.sees("MCP server x is not connected", "Hello.")


async def test_a_question_shows_all_of_its_keys_in_a_narrow_terminal(chat, model, project):
    (project / "AGENTS.md").write_text("Use tabs.\n")
    async with chat(columns=30) as typist:
        typist.type("Go." + ENTER)
        await typist.sees("[y]es, in this session", "[a]lways [n]ot now ne[v]er")
        await asyncio.sleep(PAST_THE_GUARD)
        typist.type("v")
        await typist.sees("Done.")
