"""Tokens by characters, as the provider counts them."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.gauge import LEAST, MOST, Gauge, Size, size_of_messages
from hermes_acp.agent.providers.base import Request, Usage
from hermes_acp.messages import AssistantMessage, Image, ToolCall, ToolMessage, UserMessage, user

PICTURE = Image("QUJD" * 1000, "image/png")


def request(text="x" * 7000, pictures=0):
    return Request("", [UserMessage((*user(text).parts, *[PICTURE] * pictures))])


def test_what_the_provider_counted_is_believed():
    gauge = Gauge()
    gauge.learn(request(), Usage(input=2500))
    assert abs(gauge.tokens(gauge.size_of(request().messages)) - 2500) < 10


@given(st.integers(0, 10**9))
def test_but_only_within_reason(counted):
    gauge = Gauge()
    gauge.learn(request(), Usage(input=counted))
    assert LEAST <= gauge.characters_per_token <= MOST


def test_pictures_count_by_number_and_not_by_their_bytes():
    size = size_of_messages(request("hi", pictures=3).messages)
    assert size.pictures == 3
    assert size.characters < 100


def test_everything_that_is_said_counts():
    call = ToolCall("c", "patch", {"edits": [{"old": "a" * 100, "new": None}], "path": "b" * 50})
    said = [AssistantMessage("t" * 10, "r" * 20, (call,)), ToolMessage("c", "patch", "o" * 30)]
    assert 210 < size_of_messages(said).characters < 330


changes = st.lists(st.tuples(st.sampled_from(["add", "drop", "change", "begin anew"]), st.text(max_size=20)))


@given(changes)
def test_the_size_of_a_conversation_is_right_whatever_became_of_it_since_the_last_time(made):
    gauge, said = Gauge(), []
    for change, text in made:
        match change:
            case "add":
                said.append(user(text))
            case "drop":
                del said[-1:]
            case "change":
                said[len(said) // 2 : len(said) // 2 + 1] = [user(text)]
            case _:
                said = [user(text)]
        assert gauge.size_of(said) == size_of_messages(said)


def test_a_refusal_beats_what_is_known_of_a_model():
    gauge = Gauge()
    assert gauge.window("m", 100) == 100
    gauge.limits["m"] = 50
    assert [gauge.window("m", known) for known in (100, 0, 20)] == [50, 50, 20]
    assert gauge.window("other", 100) == 100


def test_an_empty_request_takes_nothing():
    assert Gauge().tokens(Size()) == 0
