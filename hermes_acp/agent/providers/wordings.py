"""The words in which model servers tell that a prompt is too long, a model gone, or money short."""

from __future__ import annotations

import re
from functools import cached_property

from hermes_acp.errors import ProviderErrorKind


class Wording:
    """Phrases to look for, made ready when they are first looked for: most agents never have to."""

    def __init__(self, *phrases: str) -> None:
        self._phrases = phrases

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(self._phrases), re.IGNORECASE | re.DOTALL)

    def search(self, text: str) -> re.Match[str] | None:
        """The first of the phrases in a text."""
        return self._pattern.search(text)


TOO_LONG = Wording(
    "context_length_exceeded",
    "exceed_context_size",
    "model_context_window_exceeded",
    "max(imum)? (context|prompt|input|model) length",
    "max(imum)? length of the model",
    "maximum model length",
    "(input|prompt|request|message|conversation)s? (is|are) too (long|large)(?!.*per min)",
    "prompt too long",
    "prompt exceeds",
    "too many (input |prompt )?tokens(?!.* per )",
    "exceed(s|ed|ing)? .{0,40}(context (length|size|window|limit)|token limit|number of (input )?tokens)",
    "context (length|size|window)\\b.{0,60}\\b(exceed|overflow|too small|limit|only)",
    "greater than the context length",
    "when context the overflows",
    "tokens? count\\b.{0,60}\\bexceeds",
    "`?inputs`? (must have less|tokens)",
    "too large for model with",
    "reduce the length of the (messages|prompt|input)",
)
"""OpenAI, Anthropic, Gemini, Mistral, xAI, Bedrock, llama.cpp, vLLM, Ollama, LM Studio, TGI, routers."""

MODEL_GONE = Wording(
    "(model|deployment|engine)_?(not_?found|not_available|decommissioned|terms_required)",
    "(unknown|invalid|unsupported|unrecognized|no such)[ _]model",
    "\\bmodel\\b.{0,120}\\b(not|n't) (found|exist|available|loaded)",
    "\\bmodel\\b.{0,120}\\b(no longer|unavailable|deprecated|decommissioned)",
    "\\bmodel\\b.{0,120}\\bis not (a )?(valid|supported)(?! with)",
    "not a valid model",
    "no (available |allowed )?(endpoints|providers|channels?)\\b",
    "provider (returned )?error",
    "does not support (tools|tool |function|chat)",
)

NO_MONEY = Wording(
    "quota", "billing", "insufficient[_ ](balance|funds|credit)", "credit balance", "out of credits", "payment required"
)

TYPES: tuple[tuple[Wording, ProviderErrorKind], ...] = (
    (Wording("overloaded", "unavailable", "capacity"), "overloaded"),
    (Wording("rate.?limit", "too_many_requests", "resource_exhausted", "throttl"), "rate_limit"),
    (Wording("authentication", "permission", "unauthori", "forbidden", "api_key"), "auth"),
    (Wording("not_found"), "model_unavailable"),
    (Wording("invalid_?(request|prompt)", "_policy", "bad_?request", "invalid_argument", "validation"), "bad_request"),
)
"""Error types and codes as they come in an answer without a telling status, and what they mean."""
