"""Text that is broken between words, also while it streams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.demo.palette import Palette
from hermes_acp.demo.render import Conversation
from hermes_acp.demo.wrapping import Flow, width_of, wrapped

TEXTS = st.text(st.sampled_from("ab漢 \n\t"), max_size=80)


@given(TEXTS, st.lists(st.integers(1, 9)), st.integers(4, 20))
def test_how_it_streams_changes_nothing_and_no_word_is_lost(text, cuts, width):
    flow, given, at = Flow(width), "", 0
    for cut in cuts:
        given += flow.add(text[at : at + cut])
        at += cut
    given += flow.add(text[at:]) + flow.end()
    whole = Flow(width)
    assert given == whole.add(text) + whole.end()
    assert given.split() == text.split()
    for line in given.split("\n"):
        assert width_of(line.strip()) <= width or len(line.split()) == 1


@given(TEXTS)
def test_where_the_width_is_not_known_it_stays_as_it_is(text):
    flow = Flow(0)
    assert flow.add(text) + flow.end() == text
    assert wrapped("a" * 50, 0, "  ") == ["  " + "a" * 50]


@pytest.mark.parametrize("kind", ["agent_message_chunk", "agent_thought_chunk"])
def test_words_of_the_agent_are_broken_between_words_at_the_terminals_width(kind):
    conversation = Conversation(Palette(False), columns=lambda: 20)
    pieces = ["One two three", " four fi", "ve six seven", " eight."]
    updates = ({"sessionUpdate": kind, "content": {"type": "text", "text": piece}} for piece in pieces)
    shown = "".join(map(conversation.update, updates)) + conversation.end()
    assert shown == "\nOne two three four\nfive six seven\neight.\n"


def test_a_question_is_broken_between_words_too():
    conversation = Conversation(Palette(False), columns=lambda: 30)
    reason = {"type": "content", "content": {"type": "text", "text": "It is not among those that only read."}}
    asked = conversation.question(
        {
            "toolCall": {"toolCallId": "c", "title": "make", "content": [reason]},
            "options": [{"name": "Allow this exact command in this folder"}],
        }
    )
    assert asked.splitlines() == [
        "● make",
        "  │ It is not among those that",
        "  │ only read.",
        "  ? May it?",
        "    1 Allow this exact command",
        "      in this folder",
    ]
