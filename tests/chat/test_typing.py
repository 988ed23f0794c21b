"""What is typed: lines, pastes, prompts beside a running turn, and what was typed before."""

import asyncio
import json

from hermes_acp.chat import screen
from tests.chat.conftest import ALT_ENTER, CTRL_C, CTRL_E, CTRL_R, ENTER
from tests.fakes.model_server import Say


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


async def test_lines_are_added_with_alt_enter_and_kept_in_the_paste(chat, model):
    model.say("Four lines.")
    async with chat() as typist:
        typist.type("one" + ALT_ENTER + "two\x1b[200~\nthree\r\nfour\x1b[201~" + ENTER)
        await typist.sees("four", "Four lines.")
    assert model.requests[0].messages[-1]["content"] == "one\ntwo\nthree\nfour"


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


async def test_a_tab_in_a_paste_is_shown_as_blanks_and_sent_as_a_tab(chat, model):
    async with chat() as typist:
        typist.type("\x1b[200~if x:\r\n\ty = 1\x1b[201~")
        await typist.sees("    y = 1")
        assert "^I" not in typist.shown
        typist.type(ENTER)
        await typist.sees("Done.")
    assert model.requests[0].messages[-1]["content"] == "if x:\n\ty = 1"


async def say_two_things(typist, model):
    model.say("It flew.", "It stayed.")
    typist.type("Find the heron." + ENTER)
    await typist.sees("It flew.")
    typist.type("Another thing." + ENTER)
    await typist.sees("It stayed.")


async def test_what_was_typed_before_is_searched_with_ctrl_r(chat, model):
    async with chat() as typist:
        await say_two_things(typist, model)
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
    async with chat() as typist:
        await say_two_things(typist, model)
        typist.type(CTRL_R + "hero")
        await typist.sees("look back for: hero", "Find the heron.", seconds=5)
        typist.type(CTRL_C)
        await asyncio.sleep(0.1)
