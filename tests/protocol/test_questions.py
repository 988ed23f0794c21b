"""Questions over ACP: what is sent, and what any answer means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.errors import TurnCancelled
from hermes_acp.host import Question
from hermes_acp.protocol.questions import DECLINED, choice_params, form_params, read_choice, read_form

OPEN = Question("call_1", "How?")
CHOICES = Question("call_1", "Which?", ("red", "blue"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["action", "content", "choice", "answer", "outcome", "optionId", "x"]), inner)
    ),
)


def test_an_open_question_is_one_field_that_must_be_filled():
    params = form_params("s", OPEN)
    assert (params["mode"], params["sessionId"], params["toolCallId"]) == ("form", "s", "call_1")
    assert params["requestedSchema"]["required"] == ["answer"]
    assert params["requestedSchema"]["properties"]["answer"]["type"] == "string"


def test_choices_are_offered_beside_an_answer_in_own_words():
    schema = form_params("s", CHOICES)["requestedSchema"]
    assert [option["const"] for option in schema["properties"]["choice"]["oneOf"]] == ["red", "blue"]
    assert schema["properties"]["answer"]["type"] == "string"
    assert schema["required"] == []


@pytest.mark.parametrize(
    ("result", "meant"),
    [
        ({"action": "accept", "content": {"choice": "red"}}, "red"),
        ({"action": "accept", "content": {"choice": "red", "answer": " or so "}}, "red\nor so"),
        ({"action": "accept", "content": {"choice": "green", "answer": "green"}}, "green"),
        ({"action": "accept", "content": {"choice": "green"}}, None),
        ({"action": "accept", "content": {"answer": 7}}, None),
        ({"action": "accept", "content": {"answer": "  "}}, None),
        ({"action": "accept", "content": None}, None),
        ({"action": "accept"}, None),
        ({"action": "decline"}, DECLINED),
        ({"action": "cancel"}, None),
        ({"action": "_later"}, None),
        ({"action": "_later", "content": {"answer": "by hand"}}, None),
        ({"action": "cancel", "content": {"answer": "by hand"}}, None),
        ({}, None),
        (None, None),
        ([1], None),
    ],
)
def test_what_a_form_came_to(result, meant):
    assert read_form(CHOICES, result) == meant


def test_the_first_option_decides_nothing_and_none_lasts():
    params = choice_params("s", CHOICES)
    assert params["options"][0]["name"] == "I'll answer in chat"
    assert {option["kind"] for option in params["options"]} == {"allow_once"}
    assert [option["name"] for option in params["options"][1:]] == ["red", "blue"]
    chosen = [{"outcome": {"outcome": "selected", "optionId": option["optionId"]}} for option in params["options"]]
    assert [read_choice(CHOICES, each) for each in chosen] == [None, "red", "blue"]


@pytest.mark.parametrize("outcome", [{"outcome": "selected", "optionId": "choice_3"}, {"optionId": "choice_1"}, "red"])
def test_an_option_that_was_not_offered_answers_nothing(outcome):
    assert read_choice(CHOICES, {"outcome": outcome}) is None


def test_a_cancelled_outcome_ends_the_turn():
    with pytest.raises(TurnCancelled):
        read_choice(CHOICES, {"outcome": {"outcome": "cancelled"}})


@given(JSON)
def test_no_answer_of_an_editor_is_too_strange(result):
    assert isinstance(read_form(CHOICES, result), str | None)
    assert read_choice(CHOICES, result) in (None, "red", "blue")
