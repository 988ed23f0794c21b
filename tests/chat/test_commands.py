"""Commands that are typed in the chat, and sessions that are gone on with."""

import asyncio
import time
from datetime import datetime, timedelta, timezone

import pytest

from tests.chat.conftest import CTRL_C, CTRL_O, ENTER
from tests.fakes.model_server import Call, Say


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
