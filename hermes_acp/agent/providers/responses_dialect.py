"""What a Responses endpoint refuses beyond what all of them take, learned from its 400s."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hermes_acp.errors import ProviderError
from hermes_acp.lazy_dataclasses import dataclass

EFFORT = "reasoning.effort"
SUMMARY = "reasoning.summary"
OPTIONAL_FIELDS = (EFFORT, SUMMARY, "reasoning", "include", "parallel_tool_calls", "store", "strict")

_UNSUPPORTED = re.compile(
    r"unsupported|not supported|n't support|unknown|unrecognized|unexpected|not permitted|not allowed|extra"
    r"|must be verified|invalid value",
    re.IGNORECASE,
)
_ITEM = r"\b(?:rs|msg|fc)_[\w-]+"
_REASONING = re.compile(
    rf"""
      without\ its\ required | invalid_encrypted_content | encrypted\ content .{{0,80}} (verif|decrypt|parsed|match)
    | {_ITEM} .{{0,60}} not\ found | \bitem\b .{{0,80}} not\ found | duplicate\ item
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_TEXT_ONLY = re.compile(
    r"output\b.{0,80}\b(string|array|list|text)\b|function_call_output.{0,80}(image|content)|input_image.{0,80}output",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ResponsesDialect:
    """`without` are optional fields that the endpoint does not take; `lost` the ids of reasoning items that it
    no longer accepts, and when `forgetful`, none at all; with `plain_results` a result is text only."""

    without: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    forgetful: bool = False
    plain_results: bool = False


def adapted(dialect: ResponsesDialect, error: ProviderError, body: Mapping[str, Any]) -> ResponsesDialect:
    """The dialect as this refusal of this body teaches it; the same one when it teaches nothing."""
    words = str(error)
    if error.status not in (400, 404, 422):
        return dialect
    named = _named(words) & _sent(body)
    if named and _UNSUPPORTED.search(words):
        return replace(dialect, without=dialect.without | named)
    if (items := _reasoning(body)) and _REASONING.search(words):
        return replace(dialect, lost=dialect.lost | items, forgetful=bool(dialect.lost))
    if _has_pictured_result(body) and _TEXT_ONLY.search(words):
        return replace(dialect, plain_results=True)
    return dialect


def _named(words: str) -> frozenset[str]:
    """The optional fields that an error names, in quotes: their names are words as well."""
    named = {name for name in OPTIONAL_FIELDS if re.search(rf"['\"`]{re.escape(name)}['\"`]", words)}
    if re.search("reasoning summar", words, re.IGNORECASE):
        named.add(SUMMARY)
    if re.search("encrypted.content['`\"]? is not supported", words, re.IGNORECASE):
        named.add("include")
    return frozenset(named)


def _sent(body: Mapping[str, Any]) -> frozenset[str]:
    inner = {f"reasoning.{name}" for name in body.get("reasoning") or ()}
    strict = {name for tool in body.get("tools") or () for name in tool if name == "strict"}
    return frozenset({*body, *inner, *strict})


def _reasoning(body: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(reasoning_id(item) for item in body["input"] if item["type"] == "reasoning")


def reasoning_id(item: Mapping[str, Any]) -> str:
    """What a reasoning item is known by."""
    return str(item.get("id") or item.get("encrypted_content") or "")


def _has_pictured_result(body: Mapping[str, Any]) -> bool:
    return any(item["type"] == "function_call_output" and isinstance(item["output"], list) for item in body["input"])
