"""A title is one short line, whatever a model makes of the question."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_acp.agent.history import INTERRUPTED
from hermes_acp.agent.providers.retry import Retrying
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.agent.titles import MAX_CHARACTERS, as_title, ask_title, first_title, title_question
from hermes_acp.errors import ProviderError
from hermes_acp.messages import AssistantMessage, Text, UserMessage, user
from hermes_acp.text import visible
from tests.support.pictures import picture


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Fix the login form", "Fix the login form"),
        ('"Fix the login form."\n', "Fix the login form"),
        ("\n\n**Title: Fix the login form**\nIt says what was done.", "Fix the login form"),
        ("# «Исправление формы»", "Исправление формы"),
        ("„Anmeldung reparieren“", "Anmeldung reparieren"),
        ("`git rebase` erklärt", "git rebase` erklärt"),
        ("- a list of one", "- a list of one"),
        ("\x1b[31mRed\x1b[0m alert\u202e\u200b", "Red alert"),
        ("tab\tand  spaces", "tab and spaces"),
        ("---\nReal title\n---", "Real title"),
        ("", ""),
        ("\n \n", ""),
        ('"" ""', ""),
        ("Sure! Here is what I think about that, as long as you do not mind my being verbose:", ""),
        (
            "Donaudampfschifffahrtsgesellschaft " * 3,
            "Donaudampfschifffahrtsgesellschaft Donaudampfschifffahrtsges…"[:59] + "…",
        ),
    ],
)
def test_an_answer_becomes_one_line_without_marks(answer, title):
    assert as_title(answer) == title


@given(st.text(st.characters(), max_size=300))
@example("\U000e0100 a name \ufe0f")
def test_any_answer_becomes_a_title_that_can_be_shown(answer):
    title = as_title(answer)
    assert len(title) <= MAX_CHARACTERS
    assert title == " ".join(title.split())
    assert visible(title) == title
    assert not title.startswith(('"', "'"))
    title.encode()


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("Fix\n the\tform", "Fix the form"),
        ("\x1b]0;x\x07\x1b[31mRed\x1b[0m\u202e al\u200bert\x00", "Red alert"),
        ("one\u2028two\x85three", "one two three"),
        ("half \ud83d", "half \ufffd"),
        ("\u200b \x1b[0m", ""),
        ("word " * 50, ("word " * 50)[:59] + "…"),
    ],
)
def test_the_first_words_of_a_prompt_can_be_shown(prompt, title):
    assert first_title(prompt) == title


@pytest.mark.parametrize("messages", [[], [user("a")], [user("a"), INTERRUPTED], [user("a"), AssistantMessage(" ")]])
def test_without_an_answer_there_is_nothing_to_name(messages):
    assert title_question(messages) == ""


def test_the_question_holds_the_beginning_of_both_and_no_picture():
    prompt = UserMessage((Text("p" * 50_000), picture()))
    question = title_question([prompt, AssistantMessage("a" * 50_000), user("more"), AssistantMessage("later")])
    assert len(question) < 4000
    assert "ppp" in question
    assert "aaa" in question
    assert "later" not in question


async def test_the_model_is_asked_without_tools_and_only_as_long_as_needed():
    model = Scripted(AssistantMessage("Fix the form\nand here is much more that nobody reads " * 50))
    assert await ask_title(model, "Name it.") == "Fix the form"
    [request] = model.requests
    assert not request.tools
    assert model.closed == 1


async def test_a_failure_is_not_tried_again():
    model = Scripted(ProviderError("busy", kind="overloaded"), AssistantMessage("Too late"))
    assert await ask_title(Retrying(model), "Name it.") == ""
    assert len(model.requests) == 1
    with pytest.raises(ProviderError):
        await ask_title(Retrying(Scripted(ProviderError("no key", kind="auth"))), "Name it.")


async def test_thoughts_are_no_title():
    model = Scripted(AssistantMessage("Fix it", reasoning="The user wants a title. Let me think."))
    assert await ask_title(model, "Name it.") == "Fix it"
