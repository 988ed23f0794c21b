"""A chat from the first line to the last: what is typed, what the model is asked, what is drawn."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from tests.chat.conftest import CTRL_C, ENTER, KEY
from tests.fakes.model_server import Call, Say, fail


async def test_an_answer_is_drawn_as_markdown(chat, model):
    model.say("# Result\n\nIt is **four**.")
    async with chat() as typist:
        typist.type("What is 2 + 2?" + ENTER)
        await typist.sees("› What is 2 + 2?", "Result", "It is four.")
    [request] = model.requests
    assert request.messages[-1]["content"] == "What is 2 + 2?"


async def test_ctrl_c_interrupts_the_turn_and_the_chat_goes_on(chat, model):
    model.say(Say("One two three", ending="stall"), "Here again.")
    async with chat() as typist:
        typist.type("Go." + ENTER)
        await typist.sees("One two three")
        typist.type(CTRL_C)
        await typist.sees("Interrupted.", "Ctrl-C again leaves")
        typist.type("Still there?" + ENTER)
        await typist.sees("Here again.")


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


async def test_where_commands_run_is_told_at_the_beginning_and_with_each_command(chat, model, monkeypatch):
    monkeypatch.setenv("HERMES_ACP_SANDBOX", "never")
    model.say(Say(calls=[Call("terminal", {"command": "pwd"})]), "Done.")
    async with chat() as typist:
        await typist.sees("Commands run in no sandbox: it is turned off")
        typist.type("Go." + ENTER)
        await typist.sees("✓ pwd", "no sandbox", "Done.")


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
