"""How much a model is to think, in the words of the Messages API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hermes_acp.agent.anthropic_models import is_adaptive
from hermes_acp.agent.providers.anthropic_dialect import FEWEST_TOKENS, MessagesDialect

OFF = ("none", "off")
_EFFORTS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh", "max": "max"}
_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16_384, "xhigh": 24_576, "max": 24_576}
"""Tokens; less where an answer may not have twice as many."""


def thinking(
    level: str, model: str, dialect: MessagesDialect, messages: Sequence[Mapping[str, Any]], most: int
) -> dict[str, Any]:
    """The fields of a request that say how much to think; none when nobody said.

    Args:
        level: such as "low", "high" or "off"; others say nothing.
        model: its name.
        dialect: what is known of its endpoint.
        messages: those of the request, encoded.
        most: how many tokens the answer may have.
    """
    if level in OFF:
        return {"thinking": {"type": "disabled"}}
    if level not in _EFFORTS:
        return {}
    if dialect.thinking == "adaptive" or (not dialect.thinking and is_adaptive(model)):
        display = {} if "display" in dialect.without else {"display": "summarized"}
        return {"thinking": {"type": "adaptive", **display}, "output_config": {"effort": _EFFORTS[level]}}
    budget = min(_BUDGETS[level], most // 2)
    if budget < FEWEST_TOKENS or _acts_without_thought(messages):
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _acts_without_thought(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the turn that goes on began to act without a thought: then a budget of thinking is refused."""
    first: Mapping[str, Any] = {}
    for message in reversed(messages):
        if message["role"] == "assistant":
            first = message["content"][0]
        elif all(block["type"] != "tool_result" for block in message["content"]):
            break
    return bool(first) and "thinking" not in first["type"]
