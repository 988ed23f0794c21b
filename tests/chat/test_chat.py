"""A chat from the first line to the last: what is typed, what the model is asked, what is drawn."""

import asyncio
import json
import sqlite3
import time
from contextlib import closing
from datetime import datetime, timedelta, timezone

import pytest

from hermes_acp.chat import screen
from tests.chat.conftest import ALT_ENTER, CTRL_C, CTRL_E, CTRL_O, CTRL_R, ENTER, KEY
from tests.fakes.model_server import Call, Say, fail

EDIT = Call("write_file", {"path": "a.txt", "content": "new\n"})
PAST_THE_GUARD = 0.5


async def test_an_answer_is_drawn_as_markdown(chat, model):
    model.say("# Result\n\nIt is **four**.")
    async with chat() as typist:
        typist.type("What is 2 + 2?" + ENTER)
        await typist.sees("› What is 2 + 2?", "Result", "It is four.")
    [request] = model.requests
    assert request.messages[-1]["content"] == "What is 2 + 2?"


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


async def test_ctrl_c_interrupts_the_turn_and_the_chat_goes_on(chat, model):
    model.say(Say("One two three", ending="stall"), "Here again.")
    async with chat() as typist:
        typist.type("Go." + ENTER)
        await typist.sees("One two three")
        typist.type(CTRL_C)
        await typist.sees("Interrupted.", "Ctrl-C again leaves")
        typist.type("Still there?" + ENTER)
        await typist.sees("Here again.")


async def test_what_is_typed_in_a_turn_interrupts_it(chat, model):
    model.say(Say("First", ending="stall"), "Second answer.")
    async with chat() as typist:
        typist.type("One." + ENTER)
        await typist.sees("First")
        typist.type("Two." + ENTER)
        await typist.sees("Interrupted.", "› Two.", "Second answer.")


async def test_what_is_typed_in_a_turn_waits_where_that_is_wanted(chat, model):
    model.say(Say("First " * 5, token_delay=0.1), "Second answer.")
    async with chat(busy_prompt="queue") as typist:
        typist.type("One." + ENTER)
        await typist.sees("First")
        typist.type("Two." + ENTER)
        await typist.sees("First First First First First", "› Two.", "Second answer.")
        assert "Interrupted." not in typist.shown


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


async def test_a_failure_is_one_line_without_the_key_and_the_chat_goes_on(chat, model):
    model.say(fail(400, f"No such thing, {KEY}"), "Better.")
    async with chat() as typist:
        typist.type("Go." + ENTER)
        await typist.sees("! ", "No such thing")
        typist.type("Again." + ENTER)
        await typist.sees("Better.")
    assert KEY not in typist.raw


async def test_without_a_model_the_chat_says_what_to_do_and_goes_on(chat, project):
    async with chat(model=None, base_url=None, api_key=None) as typist:
        await typist.sees("hermes-acp-agent setup")
        typist.type("Hello?" + ENTER)
        await typist.sees("› Hello?", "hermes-acp-agent setup")


async def test_lines_are_added_with_alt_enter_and_kept_in_the_paste(chat, model):
    model.say("Four lines.")
    async with chat() as typist:
        typist.type("one" + ALT_ENTER + "two\x1b[200~\nthree\r\nfour\x1b[201~" + ENTER)
        await typist.sees("four", "Four lines.")
    assert model.requests[0].messages[-1]["content"] == "one\ntwo\nthree\nfour"


@pytest.mark.parametrize("hostile", ["\x1b]0;owned\x07", "\x1b[2J", "\x9b31m", "\x1b[?1049h", "a\rb\x08\x08"])
async def test_no_escape_code_of_a_model_reaches_the_terminal(chat, model, hostile):
    model.say(f"before {hostile} after")
    async with chat() as typist:
        before = typist.raw.count("\x1b[2J")
        typist.type("Go." + ENTER)
        await typist.sees("before", "after")
        assert typist.raw.count("\x1b[2J") == before
        for code in ("owned", "\x9b", "\x1b[?1049h", "\x08\x08"):
            assert code not in typist.raw or code == "\x08\x08"


async def test_an_earlier_session_is_listed_chosen_and_gone_on_with(chat, model):
    model.say("The word is heron.")
    async with chat() as typist:
        typist.type("Remember heron." + ENTER)
        await typist.sees("The word is heron.")
    model.say("You said heron.")
    async with chat() as typist:
        typist.type("/resume" + ENTER)
        await typist.sees("Which session?", "Remember heron.")
        typist.type("1" + ENTER)
        await typist.sees("› Remember heron.", "The word is heron.", "You go on from here.")
        typist.type("What did I say?" + ENTER)
        await typist.sees("You said heron.")
    said = [each["content"] for each in model.requests[-1].messages if each["role"] == "user"]
    assert said == ["Remember heron.", "What did I say?"]


async def test_commands_answer_without_the_model(chat, model):
    async with chat() as typist:
        typist.type("/help" + ENTER)
        await typist.sees("/compact", "/resume", "/quit")
        typist.type("/mode plan" + ENTER)
        await typist.sees("The mode is now plan", "fake-model · plan")
    assert model.requests == []


async def test_how_much_the_model_thinks_is_chosen_and_kept_for_the_next_chat(chat, model):
    async with chat(model="gpt-5") as typist:
        typist.type("/think high" + ENTER)
        await typist.sees("The thought level is now high")
        typist.type("Hello." + ENTER)
        await typist.sees("Done.")
        typist.type("/think extremely" + ENTER)
        await typist.sees("There is no thought level extremely")
    async with chat(model="gpt-5") as typist:
        typist.type("/resume" + ENTER)
        await typist.sees("Which session?")
        typist.type("1" + ENTER)
        await typist.sees("You go on from here.")
        typist.type("Again." + ENTER)
        await typist.sees("Done.")
        typist.type("/think default" + ENTER)
        await typist.sees("The thought level is now default")
        typist.type("Again." + ENTER)
        await typist.sees("Done.")
    assert [request.body.get("reasoning_effort") for request in model.requests] == ["high", "high", None]


async def test_a_compaction_that_comes_to_nothing_is_told_once(chat, model):
    async with chat() as typist:
        typist.type("Hello." + ENTER)
        await typist.sees("Done.")
        typist.type("/compact" + ENTER)
        await typist.sees("the conversation is short")
        assert "leave out." not in typist.shown


async def test_a_damaged_store_is_told_as_a_notice_and_the_chat_goes_on(chat, model, home):
    home.mkdir(parents=True, exist_ok=True)
    (home / "sessions.db").write_bytes(b"damage" * 1000)
    async with chat() as typist:
        typist.type("Hello." + ENTER)
        await typist.waits_for("Done.")
        assert "! About the stored sessions: The session store was damaged" in " ".join(typist.shown.split())
        assert "WARNING" not in typist.shown
    [kept] = home.glob("sessions.db.corrupt-*")
    assert kept.read_bytes() == b"damage" * 1000


async def test_a_session_that_was_deleted_meanwhile_is_told_in_one_line(chat, model, home):
    async with chat() as typist:
        typist.type("Hello." + ENTER)
        await typist.sees("Done.")
        with closing(sqlite3.connect(home / "sessions.db")) as store, store:
            store.execute("PRAGMA foreign_keys = ON")
            store.execute("DELETE FROM sessions")
        typist.type("And now?" + ENTER)
        await typist.sees("This session has been deleted")
        typist.type("/help" + ENTER)
        await typist.sees("/quit")
        assert "could not finish" not in typist.shown


async def test_what_was_typed_is_kept_for_its_owner_alone(chat, model, home):
    async with chat() as typist:
        typist.type("Hello é." + ENTER)
        await typist.sees("› Hello é.")
    path = home / "chat-history.jsonl"
    assert [json.loads(line) for line in path.read_text("utf-8").splitlines()] == ["Hello é."]
    assert path.stat().st_mode & 0o777 == 0o600
    async with chat() as typist:
        typist.type("\x1b[A")
        await typist.sees("Hello é.")
        typist.type(CTRL_C)


async def test_a_file_that_is_named_goes_with_the_message(chat, model, project):
    (project / "a b.md").write_text("heron\n")
    (project / ".env").write_text("SECRET=heron2\n")
    model.say("I have read it.")
    async with chat() as typist:
        typist.type('Read @"a b.md" and @.env please' + ENTER)
        await typist.sees("› Read", "I have read it.")
    [request] = model.requests
    sent = json.dumps(request.messages)
    assert "heron\\n" in sent
    assert "heron2" not in sent


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


async def test_where_commands_run_is_told_at_the_beginning_and_with_each_command(chat, model, monkeypatch):
    monkeypatch.setenv("HERMES_ACP_SANDBOX", "never")
    model.say(Say(calls=[Call("terminal", {"command": "pwd"})]), "Done.")
    async with chat() as typist:
        await typist.sees("Commands run in no sandbox: it is turned off")
        typist.type("Go." + ENTER)
        await typist.sees("✓ pwd", "no sandbox", "Done.")


async def test_a_slip_in_a_commands_name_is_told_and_the_model_not_asked(chat, model):
    model.say("As it is.", "A folder.")
    async with chat() as typist:
        typist.type("/contxt" + ENTER)
        await typist.sees("There is no command /contxt", "Did you mean /context?")
        assert model.requests == []
        typist.type(" /contxt" + ENTER)
        await typist.sees("As it is.")
        typist.type("/tmp is what?" + ENTER)
        await typist.sees("A folder.")
    said = [request.messages[-1]["content"] for request in model.requests]
    assert said == ["/contxt", "/tmp is what?"]


async def test_a_slip_in_a_commands_name_interrupts_no_turn(chat, model):
    model.say(Say("One two three four five.", token_delay=0.1))
    async with chat() as typist:
        typist.type("Go." + ENTER)
        await typist.sees("One")
        typist.type("/contxt" + ENTER)
        await typist.sees("/contxt … comes after this turn; /stop ends it.", "five.", "There is no command /contxt")
        assert "Interrupted." not in typist.shown


async def test_tools_are_described_in_whole_sentences(chat, model):
    async with chat(columns=120) as typist:
        typist.type("/tools" + ENTER)
        await typist.sees("todo:")
        listed = " ".join(typist.shown.split())
    assert "process: Commands that terminal started in the background: list them, poll one for its output, " in listed
    assert "wait for its end, or kill it with all that it started." in listed


@pytest.mark.parametrize("word", ["exit", "quit", "/quit"])
async def test_words_that_leave_programs_leave_the_chat(chat, model, word):
    async with chat() as typist:
        typist.type(word + ENTER)
        await asyncio.sleep(0.2)
    assert model.requests == []


async def test_stop_where_nothing_runs_says_so(chat, model):
    async with chat() as typist:
        for _ in range(100):
            typist.type("/stop" + ENTER)
            await asyncio.sleep(0.1)
            if "Nothing is running." in typist.shown:
                break
        await typist.sees("Nothing is running.")


@pytest.mark.parametrize("asked", ["settings", "option", "both"])
async def test_trajectories_of_the_chat_are_kept_where_the_settings_say(chat, project, home, asked):
    home.mkdir()
    if asked != "option":
        (home / "config.toml").write_text("[trajectories]\nsave = true\n", "utf-8")
    given = {} if asked == "settings" else {"save_trajectories": True}
    async with chat(**given) as typist:
        typist.type("Hello." + ENTER)
        await typist.sees("Done.")
        while not (found := [*home.rglob("trajectory_*.jsonl"), *project.rglob("trajectory_*.jsonl")]):
            await asyncio.sleep(0.02)
    places = {"settings": home, "option": project, "both": project}
    [file] = found
    assert file.parent == places[asked]
    assert "Hello." in file.read_text("utf-8")


async def test_a_call_can_be_seen_whole_by_a_key_and_by_its_number(chat, model):
    model.say(Say(calls=[Call("terminal", {"command": "seq 100 150"})]), Say(calls=[Call("list_files", {"path": "."})]))
    async with chat(mode="ask", rows=100) as typist:
        typist.type("/show" + ENTER)
        await typist.sees("There is no call yet to show.")
        typist.type("Go." + ENTER)
        await typist.sees("✓ seq 100 150", "48 lines before (/show)", "│ 150", "Done.")
        assert "101" not in typist.shown
        typist.type("/show 2" + ENTER)
        await typist.sees("101", "149")
        typist.type(CTRL_O)
        await typist.sees("✓ List")
        typist.type("/show 3" + ENTER)
        await typist.sees("There are 2 calls to show; 1 is the last.")


async def test_a_question_shows_all_of_its_keys_in_a_narrow_terminal(chat, model, project):
    (project / "AGENTS.md").write_text("Use tabs.\n")
    async with chat(columns=30) as typist:
        typist.type("Go." + ENTER)
        await typist.sees("[y]es, in this session", "[a]lways [n]ot now ne[v]er")
        await asyncio.sleep(PAST_THE_GUARD)
        typist.type("v")
        await typist.sees("Done.")


async def test_a_tab_in_a_paste_is_shown_as_blanks_and_sent_as_a_tab(chat, model):
    async with chat() as typist:
        typist.type("\x1b[200~if x:\r\n\ty = 1\x1b[201~")
        await typist.sees("    y = 1")
        assert "^I" not in typist.shown
        typist.type(ENTER)
        await typist.sees("Done.")
    assert model.requests[0].messages[-1]["content"] == "if x:\n\ty = 1"


async def test_earlier_sessions_are_listed_in_the_time_of_this_machine(chat, model, monkeypatch):
    monkeypatch.setenv("TZ", "Etc/GMT-5")
    time.tzset()
    try:
        async with chat() as typist:
            typist.type("Remember." + ENTER)
            await typist.sees("Done.")
            typist.type("/resume" + ENTER)
            await typist.sees("Which session?", "Remember.")
            now = datetime.now(timezone(timedelta(hours=5)))
            moments = {(now - timedelta(minutes=ago)).strftime("%Y-%m-%d %H:%M") for ago in range(3)}
            assert any(moment in typist.shown for moment in moments)
            typist.type(CTRL_C)
    finally:
        monkeypatch.undo()
        time.tzset()


async def test_what_was_typed_before_is_searched_with_ctrl_r(chat, model):
    model.say("It flew.", "It stayed.")
    async with chat() as typist:
        typist.type("Find the heron." + ENTER)
        await typist.sees("It flew.")
        typist.type("Another thing." + ENTER)
        await typist.sees("It stayed.")
        typist.type(CTRL_R + "hero")
        await typist.sees("look back for: hero", "Find the heron.")
        typist.type(ENTER + CTRL_E + " Again." + ENTER)
        await typist.sees("› Find the heron. Again.", "Done.")
        typist.type(CTRL_R + "hero" + CTRL_C)
        await asyncio.sleep(0.2)
    said = [request.messages[-1]["content"] for request in model.requests]
    assert said[-1] == "Find the heron. Again."


async def test_a_search_that_is_drawn_before_the_history_is_there_finds_all_the_same(chat, model, monkeypatch):
    monkeypatch.setattr(screen, "REDRAW_SECONDS", 0.5)
    model.say("It flew.", "It stayed.")
    async with chat() as typist:
        typist.type("Find the heron." + ENTER)
        await typist.sees("It flew.")
        typist.type("Another thing." + ENTER)
        await typist.sees("It stayed.")
        typist.type(CTRL_R + "hero")
        await typist.sees("look back for: hero", "Find the heron.", seconds=5)
        typist.type(CTRL_C)
        await asyncio.sleep(0.1)
