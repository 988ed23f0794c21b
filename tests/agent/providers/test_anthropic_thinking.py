"""How much a model is to think is said in the form that it takes."""

import pytest

from hermes_acp.agent.anthropic_models import longest_answer, version_of
from hermes_acp.agent.providers.anthropic_dialect import MessagesDialect
from hermes_acp.agent.providers.anthropic_encoding import messages_body
from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.messages import user
from tests.fakes.anthropic_rules import broken_rule
from tests.support.asking import after_call


def body_of(model, level, messages=None, **more):
    """The body of a request that Anthropic takes."""
    request = Request("", messages or [user("hi")], after_call().tools, thought_level=level)
    body = messages_body(request, Endpoint("fake", model, "http://fake", **more), MessagesDialect())
    assert broken_rule({"model": model, "stream": True, **body}) == ""
    return body


@pytest.mark.parametrize(
    ("model", "version"),
    [
        ("claude-sonnet-5-5", (5, 5)),
        ("claude-opus-5", (5, 0)),
        ("claude-opus-4-8", (4, 8)),
        ("claude-haiku-4-5-20251001", (4, 5)),
        ("claude-opus-4-20250514", (4, 0)),
        ("claude-3-7-sonnet-20250219", (3, 7)),
        ("claude-3-opus-20240229", (3, 0)),
        ("us.anthropic.claude-sonnet-4-6-v1:0", (4, 6)),
        ("anthropic/claude-sonnet-4.5", (4, 5)),
        ("claude-next", (99, 0)),
        ("glm-4.6", None),
        ("deepseek-v3", None),
    ],
)
def test_a_version_is_read_from_the_names_of_claude_models_only(model, version):
    assert version_of(model) == version


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-sonnet-5-5", 32_000),
        ("claude-opus-4-1", 32_000),
        ("claude-3-5-haiku-latest", 8192),
        ("claude-3-haiku-20240307", 4096),
        ("kimi-k2", 8192),
    ],
)
def test_the_longest_answer_is_always_said_and_never_more_than_the_model_gives(model, tokens):
    assert longest_answer(model) == tokens
    assert body_of(model, "")["max_tokens"] == tokens
    assert body_of(model, "", max_output=2000)["max_tokens"] == 2000


@pytest.mark.parametrize("model", ["claude-opus-4-6", "claude-sonnet-5", "claude-next"])
@pytest.mark.parametrize(("level", "effort"), [("minimal", "low"), ("low", "low"), ("high", "high"), ("max", "max")])
def test_newer_models_are_told_an_effort(model, level, effort):
    body = body_of(model, level)
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": effort}


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-sonnet-4-20250514", "glm-4.6"])
def test_older_models_and_those_of_others_are_given_a_budget_that_leaves_room_for_an_answer(model):
    budgets = [
        body_of(model, level)["thinking"]["budget_tokens"] for level in ("minimal", "low", "medium", "high", "max")
    ]
    assert budgets == sorted(budgets)
    assert budgets[-1] <= body_of(model, "max")["max_tokens"] // 2
    assert "output_config" not in body_of(model, "high")


def test_where_there_is_no_room_for_thoughts_none_are_asked_for():
    assert "thinking" not in body_of("glm-4.6", "high", max_output=1500)


@pytest.mark.parametrize("level", ["", "auto", "very much"])
def test_nothing_is_said_when_nobody_said(level):
    assert not {"thinking", "output_config"} & body_of("claude-sonnet-5", level).keys()


def test_a_turn_that_began_to_act_without_a_thought_goes_on_without_a_budget_for_one():
    assert "thinking" not in body_of("claude-haiku-4-5", "high", after_call().messages)
    assert "thinking" in body_of("claude-haiku-4-5", "high", [*after_call().messages[:1]])
    assert "thinking" in body_of("claude-sonnet-5", "high", after_call().messages)


def test_no_temperature_is_ever_sent():
    assert not {"temperature", "top_p", "top_k"} & body_of("claude-3-haiku-20240307", "").keys()
