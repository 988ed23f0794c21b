"""What a Chat Completions endpoint refuses or demands beyond what all of them take, learned from its 400s."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hermes_acp.errors import ProviderError
from hermes_acp.lazy_dataclasses import dataclass

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")
OPTIONAL_FIELDS = (*REASONING_FIELDS, "stream_options", "reasoning_effort")

_SHORT_IDS = re.compile(r"tool call id\b.*\blength of 9\b", re.IGNORECASE | re.DOTALL)
_UNTHINKING = re.compile(r"not support (?:thinking|reasoning)", re.IGNORECASE)
"""Ollama names no field."""

_DEMANDS = re.compile(r"missing|required|must (?!not)|needs? to", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Dialect:
    """`without` are optional fields that the endpoint does not know; a `thoughtful` one demands a
    `reasoning_content` in every assistant message that calls tools; one with `short_ids` takes ids of calls
    of nine letters and digits only (Mistral)."""

    without: frozenset[str] = frozenset()
    thoughtful: bool = False
    short_ids: bool = False


def adapted(dialect: Dialect, error: ProviderError, body: Mapping[str, Any]) -> Dialect:
    """The dialect as this refusal of this body teaches it; the same one when it teaches nothing."""
    if error.status not in (400, 422):
        return dialect
    if _SHORT_IDS.search(str(error)):
        return replace(dialect, short_ids=True)
    named = {name for name in OPTIONAL_FIELDS if re.search(rf"\b{name}\b", str(error))}
    if _UNTHINKING.search(str(error)):
        named.add("reasoning_effort")
    if "reasoning_content" in named - dialect.without and _DEMANDS.search(str(error)) and not dialect.thoughtful:
        return replace(dialect, thoughtful=True)
    return replace(dialect, without=dialect.without | (named & _sent(body)))


def _sent(body: Mapping[str, Any]) -> set[str]:
    return {name for fields in (body, *body["messages"]) for name in fields}
