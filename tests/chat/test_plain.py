"""Chats in a terminal that can only write one line after the other."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say

EDIT = Call("write_file", {"path": "a.txt", "content": "new\n"})
PAST_THE_GUARD = 0.5


async def test_there_is_a_prompt_whenever_nothing_runs_and_only_then(chat, model):
    model.say("One.", Say("Two.", token_delay=0.1))
    async with chat(dumb=True) as typist:
        typist.type("First?\n")
        await typist.sees("One.\n\n> ")
        typist.type("Second?\n")
        await typist.sees("Two.\n\n> ")
        typist.type("\n")
        await typist.sees("> ")
    assert "\x1b" not in typist.raw
    # The terminal itself shows what is typed.
    assert "First?" not in typist.raw


async def test_several_lines_that_come_together_are_one_message(chat, model):
    async with chat(dumb=True) as typist:
        typist.type("def f():\n    return 1\n")
        await typist.sees("Done.")
    assert [request.messages[-1]["content"] for request in model.requests] == ["def f():\n    return 1"]


@pytest.mark.parametrize("said", ["you should not", "yesterday", "y please", "maybe"])
async def test_a_line_that_only_begins_like_a_yes_allows_nothing(chat, model, project, said):
    model.say(Say(calls=[EDIT]), "Not done.")
    async with chat(dumb=True) as typist:
        typist.type("Go.\n")
        await typist.sees("[y]es")
        await asyncio.sleep(PAST_THE_GUARD)
        typist.type(f"{said}\n")
        await typist.sees("[y]es")
        await asyncio.sleep(PAST_THE_GUARD)
        assert not (project / "a.txt").exists()
        typist.type("no\n")
        await typist.sees("Not done.")
    assert not (project / "a.txt").exists()


async def test_a_line_that_was_typed_before_the_question_answers_it_not(chat, model, project):
    model.say(Say(calls=[EDIT]), "Not done.")
    async with chat(dumb=True) as typist:
        typist.type("Go.\n")
        await typist.sees("[y]es")
        typist.type("y\n")
        await typist.sees("[y]es")
        assert not (project / "a.txt").exists()
        await asyncio.sleep(PAST_THE_GUARD)
        typist.type("Yes\n")
        await typist.sees("✓ Create a.txt")
    assert (project / "a.txt").exists()


async def test_a_question_with_choices_shows_which_one_was_chosen(chat, model):
    model.say(Say(calls=[Call("clarify", {"question": "Which?", "choices": ["red", "blue"]})]), "Blue it is.")
    async with chat(dumb=True) as typist:
        typist.type("Go.\n")
        await typist.sees("2 blue", "your own words › ")
        typist.type("2\n")
        await typist.sees("› blue", "Blue it is.")
