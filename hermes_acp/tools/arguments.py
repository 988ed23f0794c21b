"""What models write as arguments: taken kindly, and refused in words that say what to change."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from hermes_acp.text import clean, shorten

_OTHER_NAMES = {
    "file_path": "path",
    "filepath": "path",
    "filename": "path",
    "file": "path",
    "directory": "path",
    "dir": "path",
    "old_string": "old_text",
    "old_str": "old_text",
    "new_string": "new_text",
    "new_str": "new_text",
    "contents": "content",
    "cmd": "command",
    "query": "pattern",
    "regex": "pattern",
    "include": "glob",
}
"""Names that models know from other tools, and what they mean here."""


def _without_titles(schema: dict[str, Any]) -> None:
    for field in schema.get("properties", {}).values():
        field.pop("title", None)


class Params(BaseModel):
    """The base of all parameters: unknown fields are ignored, numbers may be text, null means the default."""

    model_config = ConfigDict(
        extra="ignore", coerce_numbers_to_str=True, defer_build=True, json_schema_extra=_without_titles
    )

    @model_validator(mode="before")
    @classmethod
    def _take_kindly(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        renamed = {cls._name(key, data): value for key, value in data.items()}
        return {key: _clean(value) for key, value in renamed.items() if value is not None}

    @classmethod
    def _name(cls, key: str, data: dict[str, Any]) -> str:
        meant = _OTHER_NAMES.get(key, key)
        known = meant in cls.model_fields and key not in cls.model_fields and meant not in data
        return meant if known else key


def explain(error: ValidationError) -> str:
    """What is wrong with a call's arguments, for the model to correct."""
    faults = "; ".join(_fault(fault) for fault in error.errors(include_url=False, include_context=False)[:5])
    return f"The arguments do not fit: {faults}. Nothing was done; call again with these corrected."


def _fault(fault: Any) -> str:
    name = ".".join(map(str, fault["loc"])) or "arguments"
    if fault["type"] == "missing":
        return f"{name} is missing"
    return f"{name}: {fault['msg']}, not {shorten(clean(repr(fault['input'])), 80)}"


def _clean(value: Any) -> Any:
    return clean(value) if isinstance(value, str) else value
