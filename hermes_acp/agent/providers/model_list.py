"""What an endpoint tells of its models, in whatever form it does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from hermes_acp.errors import ProviderError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import clean

MAX_MODELS = 200
"""More cannot be looked through; the newest are kept."""

MAX_NAME = 200
_WINDOWS = (
    *("context_length", "context_window", "max_model_len", "loaded_context_length", "max_context_length"),
    "max_input_tokens",
)
"""OpenRouter, Groq, vLLM, LM Studio, Anthropic."""

_OTHER_KINDS = re.compile(
    r"embed|rerank|moderation|whisper|transcribe|\btts\b|dall-e|imagen?\b|gpt-image|\bsora\b|\bveo\b|realtime|audio|speech|"
    r"babbage|davinci|guard",
    re.IGNORECASE,
)
"""Models that do not answer in a conversation, as far as their names tell."""


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model that an endpoint offers. `window` is in tokens, 0 when not told; `sees_images` and `reasons`, whether
    it can be told how much to think, None likewise."""

    name: str
    window: int = 0
    sees_images: bool | None = None
    reasons: bool | None = None


def read_models(body: bytes, provider: str) -> tuple[ListedModel, ...]:
    """The models for conversations in the answer of an endpoint's list, at most `MAX_MODELS`, by name.

    Raises:
        ProviderError: it is no list of models.
    """
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    entries = data.get("data", data.get("models")) if isinstance(data, Mapping) else data
    if not isinstance(entries, list):
        raise ProviderError(f"{provider} does not list its models.", kind="malformed")
    usable = [entry for entry in entries if isinstance(entry, Mapping) and _is_usable(entry)]
    usable.sort(key=_made, reverse=True)
    listed = {model.name: model for model in map(_listed, reversed(usable[:MAX_MODELS]))}
    return tuple(sorted(listed.values(), key=lambda model: model.name.lower()))


def _is_usable(entry: Mapping[str, Any]) -> bool:
    name, takes = _name(entry), entry.get("supported_parameters")
    if not name or len(name) > MAX_NAME or not name.isprintable() or entry.get("type") == "embeddings":
        return False
    if entry.get("lifecycle") == "retired":
        return False
    return not _OTHER_KINDS.search(name) and (not isinstance(takes, list) or "tools" in takes)


def _name(entry: Mapping[str, Any]) -> str:
    name = entry.get("id") or entry.get("name")
    return clean(name) if isinstance(name, str) else ""


def _made(entry: Mapping[str, Any]) -> float:
    made = entry.get("created", entry.get("created_at"))
    if isinstance(made, str):
        with suppress(ValueError):
            return datetime.fromisoformat(made).timestamp()
    return made if isinstance(made, int | float) else 0


def _listed(entry: Mapping[str, Any]) -> ListedModel:
    found = (entry.get(name) for name in _WINDOWS)
    window = next((value for value in found if isinstance(value, int) and 0 < value < 2**31), 0)
    return ListedModel(_name(entry), window, _sees_images(entry), _reasons(entry))


def _sees_images(entry: Mapping[str, Any]) -> bool | None:
    """As OpenRouter, Anthropic and LM Studio tell it."""
    architecture = entry.get("architecture")
    takes = architecture.get("input_modalities") if isinstance(architecture, Mapping) else None
    if isinstance(takes, list):
        return "image" in takes
    able = entry.get("capabilities")
    image = able.get("image_input") if isinstance(able, Mapping) else None
    if isinstance(image, Mapping):
        return bool(image.get("supported"))
    return {"vlm": True, "llm": False}.get(str(entry.get("type")))


def _reasons(entry: Mapping[str, Any]) -> bool | None:
    """As OpenRouter and Anthropic tell it."""
    takes, able = entry.get("supported_parameters"), entry.get("capabilities")
    if isinstance(takes, list):
        return "reasoning" in takes or "reasoning_effort" in takes
    thinking = able.get("thinking") if isinstance(able, Mapping) else None
    return bool(thinking.get("supported")) if isinstance(thinking, Mapping) else None
