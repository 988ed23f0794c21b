"""Role order: what is right, what is mended."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.history import INTERRUPTED, close_open_turn, find_disorder, repair
from hermes_acp.messages import AssistantMessage, ToolCall, ToolMessage, user


def calls(*ids):
    return AssistantMessage(tool_calls=tuple(ToolCall(call_id, "read_file") for call_id in ids))


def result(call_id):
    return ToolMessage(call_id, "read_file", "text of " + call_id)


def test_a_turn_with_parallel_calls_is_in_order():
    history = [user("a"), calls("1", "2"), result("1"), result("2"), AssistantMessage("b"), user("c")]
    assert find_disorder(history) is None


def test_disorder_is_named():
    assert "second user" in find_disorder([user("a"), user("b")])
    assert "second assistant" in find_disorder([user("a"), AssistantMessage("b"), AssistantMessage("c")])
    assert "begins with the user" in find_disorder([AssistantMessage("b")])
    assert "no call" in find_disorder([user("a"), result("1")])
    assert "no result" in find_disorder([user("a"), calls("1")])
    assert "before the result" in find_disorder([user("a"), calls("1"), user("b")])
    assert find_disorder([user("a"), calls("1", "2"), result("2"), result("1")])


def test_an_orphan_call_left_by_a_crash_gets_an_interrupted_result():
    mended = repair([user("a"), calls("1", "2"), result("2")])
    assert [message.call_id for message in mended[2:]] == ["1", "2"]
    assert mended[2].is_error
    assert mended[3] == result("2")


def test_an_orphan_result_is_dropped():
    assert repair([user("a"), result("9"), AssistantMessage("b")]) == [user("a"), AssistantMessage("b")]


def test_results_go_back_into_call_order():
    mended = repair([user("a"), calls("1", "2"), result("2"), result("1")])
    assert mended[2:] == [result("1"), result("2")]


def test_a_prompt_after_results_that_nobody_answered_to_gets_an_answer_before_it():
    mended = repair([user("a"), calls("1"), result("1"), user("b")])
    assert mended == [user("a"), calls("1"), result("1"), INTERRUPTED, user("b")]


def test_results_find_their_calls_through_another_windows_messages():
    mended = repair([user("a"), calls("1"), user("b"), calls("2"), result("1"), AssistantMessage("x"), result("2")])
    assert mended[2] == result("1")
    assert mended[5:7] == [calls("2"), result("2")]


def test_no_call_takes_the_result_of_another_that_has_its_id():
    mended = repair([user("a"), calls("1"), result("1"), AssistantMessage("x"), user("b"), calls("1")])
    assert mended[-1].is_error


def test_adjacent_users_are_joined_by_a_blank_line():
    assert repair([user("a"), user("b")])[0].text == "a\n\nb"


def test_a_turn_without_answer_is_closed_once():
    history = [user("a"), calls("1"), result("1")]
    assert close_open_turn(history) == INTERRUPTED
    assert close_open_turn(history) is None
    assert find_disorder(history) is None


def test_an_empty_history_needs_no_closing():
    assert close_open_turn([]) is None


ids = st.sampled_from(["1", "2", "3"])
anything = st.lists(
    st.builds(user, st.text(min_size=1, max_size=3))
    | st.builds(AssistantMessage, st.text(min_size=1, max_size=3))
    | st.lists(ids, max_size=3, unique=True).map(lambda names: calls(*names))
    | ids.map(result),
    max_size=12,
)


@given(anything)
def test_no_history_can_brick_a_session(history):
    mended = repair(history)
    assert find_disorder(mended) is None
    assert repair(mended) == mended


@given(anything)
def test_repair_keeps_what_people_and_models_said(history):
    said = "".join(message.text for message in history if not isinstance(message, ToolMessage))
    mended = [message for message in repair(history) if message != INTERRUPTED]
    kept = "".join(message.text for message in mended if not isinstance(message, ToolMessage))
    assert "".join(said.split()) in "".join(kept.split())
