"""Content, arguments and results as hosts hand them in, made into text and strict JSON."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

from hermes_acp.messages import parse_arguments
from hermes_acp.nesting import is_deep
from hermes_acp.text import clean, shorten

_PICTURE = "[screenshot]"
_MARKS = {
    "image": _PICTURE,
    "image_url": _PICTURE,
    "input_image": _PICTURE,
    "audio": "[audio]",
    "input_audio": "[audio]",
    "file": "[file]",
    "input_file": "[file]",
}
"""What stands for a part whose bytes are not kept, by its type."""

_BLOCK_TAG = re.compile("<(?=/?tool_(?:call|response)>)")

log = logging.getLogger(__name__)


def text_of(content: Any) -> str:
    """The text of a message's content, parts joined by newlines, pictures as their mark."""
    match content:
        case None:
            return ""
        case str():
            return content
        case list() | tuple():
            return "\n".join(text for part in content if (text := _part_text(part)))
        case Mapping():
            return _object_text(content)
        case _:
            return _described(content)


def word_of(value: Any) -> str:
    """A field that should be a text, as one; empty when it is not there."""
    if value is None or isinstance(value, str):
        return value or ""
    return _described(value)


def reasoning_of(message: Mapping[str, Any]) -> str:
    """The native reasoning of a reply, from the first of its fields that says anything."""
    fields = (message.get(name) for name in ("reasoning", "reasoning_content", "reasoning_details"))
    return next((text for field in fields if (text := text_of(field)).strip()), "")


def arguments_of(raw: Any, name: str) -> dict[str, Any]:
    """The arguments of a call as an object; `{}` with a warning when they are none.

    Objects that were encoded twice are decoded twice.
    """
    arguments, problem = parse_arguments(raw)
    if problem and isinstance(raw, str) and (inner := _inner_text(raw)):
        arguments, problem = parse_arguments(inner)
    if not problem and not is_deep(arguments):
        return arguments
    log.warning(
        "The arguments of a call of %s are no usable JSON object: {} in a trajectory.", clean(shorten(name, 80))
    )
    return {}


def result_of(content: Any) -> Any:
    """The content of a tool's result: a JSON value when it is strictly one, else text."""
    match content:
        case None:
            return None
        case str():
            return _parsed(content)
        case Mapping() if content.get("_multimodal"):
            return _parsed(_object_text(content))
        case Mapping():
            return _strict(dict(content))
        case list() | tuple():
            return _strict([_marked(part) for part in content])
        case _:
            return _strict(content)


def json_text(value: Any) -> str:
    """Strict JSON on one line, in which none of the format's own block tags stands."""
    return _BLOCK_TAG.sub(r"\\u003c", json.dumps(value, ensure_ascii=False, allow_nan=False))


def inert(text: str) -> str:
    """Text in which no tag is left that would be read as a call or a result."""
    return _BLOCK_TAG.sub("&lt;", text)


def strict_json(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: it is none, or only so with NaN and infinities, or is nested too deeply to be read.
    """
    try:
        value = json.loads(text, parse_constant=_refuse)
        json.dumps(value, allow_nan=False)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def _part_text(part: Any) -> str:
    return _object_text(part) if isinstance(part, Mapping) else word_of(part)


def _object_text(part: Mapping[str, Any]) -> str:
    if part.get("_multimodal"):
        texts = [text for text in _texts(part.get("content")) if text]
        return word_of(part.get("text_summary")) or "\n".join(texts) or _PICTURE
    mark = _mark(part)
    return mark or word_of(part.get("text")) or word_of(part.get("summary"))


def _texts(parts: Any) -> list[str]:
    listed = parts if isinstance(parts, list) else []
    return [word_of(part.get("text")) for part in listed if isinstance(part, Mapping) and part.get("type") == "text"]


def _marked(part: Any) -> Any:
    mark = _mark(part) if isinstance(part, Mapping) else ""
    return {"type": "text", "text": mark} if mark else part


def _mark(part: Mapping[str, Any]) -> str:
    return _MARKS.get(word_of(part.get("type")), "")


def _inner_text(raw: str) -> str:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""


def _parsed(text: str) -> Any:
    if not text.strip().startswith(("{", "[")):
        return text
    try:
        value = strict_json(text)
    except ValueError:
        return text
    return text if is_deep(value) else value


def _strict(value: Any) -> Any:
    """The value as reading its JSON gives it, or its text when it has no strict JSON."""
    try:
        kept = strict_json(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (ValueError, TypeError, RecursionError):
        return _described(value)
    return _described(value) if is_deep(kept) else kept


def _described(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        return f"[a {type(value).__name__} that cannot be written]"


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
