"""How much models can be told to think, by name or by server, and what becomes of a wish they cannot meet."""

import pytest

from hermes_acp.agent.thought_levels import fitted, levels_of, unknown_levels
from hermes_acp.config import THOUGHT_LEVELS, AgentConfig

COMMON = ("low", "medium", "high")


@pytest.mark.parametrize(
    ("model", "levels"),
    [
        ("gpt-5", ("minimal", *COMMON)),
        ("gpt-5-mini-2025-08-07", ("minimal", *COMMON)),
        ("gpt-5.1", ("none", *COMMON)),
        ("openai/gpt-5.2", ("none", *COMMON, "xhigh")),
        ("gpt-5-codex", COMMON),
        ("gpt-5.1-codex-max", ("none", *COMMON, "xhigh")),
        ("gpt-5-chat-latest", ()),
        ("gpt-5.1-chat-latest", ()),
        ("gpt-4o", ()),
        ("o3", COMMON),
        ("o4-mini", COMMON),
        ("o1-mini", ()),
        ("openai/gpt-oss-120b:free", COMMON),
        ("gpt-oss:20b", COMMON),
        ("claude-sonnet-4-5", ("none", *COMMON)),
        ("anthropic/claude-opus-4.6", ("none", *COMMON, "max")),
        ("claude-3-7-sonnet-latest", ("none", *COMMON)),
        ("claude-3-5-haiku-latest", ()),
        ("gemini-2.5-flash", COMMON),
        ("gemini-2.5-flash-image", ()),
        ("gemini-2.0-flash", ()),
        ("grok-3-mini", ("low", "high")),
        ("grok-4", ()),
        ("o-llama", ()),
        ("my-model", ()),
    ],
)
def test_a_name_tells_the_levels(model, levels):
    assert levels_of(model) == levels


@pytest.mark.parametrize(
    ("model", "reasons", "levels"),
    [
        ("my-model", None, ()),
        ("my-model", True, COMMON),
        ("my-model", False, ()),
        ("gpt-5", True, ("minimal", *COMMON)),
        ("gpt-5", False, ()),
        ("gpt-4o", None, ()),
    ],
)
def test_the_server_tells_more_than_the_name(model, reasons, levels):
    assert levels_of(model, reasons) == levels


def test_a_level_in_the_settings_says_that_an_unknown_model_takes_one():
    assert levels_of("my-model", unknown=unknown_levels(AgentConfig())) == ()
    said = unknown_levels(AgentConfig(thought_level="default"))
    assert [
        levels_of(name, told, said) for name, told in (("my-model", None), ("my-model", False), ("gpt-4o", None))
    ] == [
        COMMON,
        (),
        (),
    ]


@pytest.mark.parametrize(
    ("wanted", "levels", "level"),
    [
        ("high", COMMON, "high"),
        ("max", COMMON, "high"),
        ("minimal", COMMON, "low"),
        ("minimal", ("none", *COMMON), "low"),
        ("none", ("none", *COMMON), "none"),
        ("none", COMMON, "low"),
        ("medium", ("low", "high"), "low"),
        ("default", COMMON, "default"),
        ("high", (), "default"),
        ("low", ("none",), "default"),
    ],
)
def test_a_wish_becomes_the_nearest_level(wanted, levels, level):
    assert fitted(wanted, levels) == level


def test_every_level_fits_itself():
    assert [fitted(level, THOUGHT_LEVELS[1:]) for level in THOUGHT_LEVELS] == list(THOUGHT_LEVELS)
