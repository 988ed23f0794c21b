"""What all that is read from the wire has in common."""

from __future__ import annotations

import os
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Params(BaseModel):
    """The base of everything that is read from the wire."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True, alias_generator=to_camel)

    meta: Any = Field(default=None, alias="_meta")


def _absolute(path: str) -> str:
    if "\0" in path:
        raise ValueError("must not contain a NUL character")
    if not os.path.isabs(path):
        raise ValueError("must be an absolute path")
    return path


def or_empty(value: Any) -> Any:
    """A list that may be null."""
    return [] if value is None else value


def _text_or_none(value: Any) -> Any:
    return value if isinstance(value, str) else None


AbsolutePath = Annotated[str, AfterValidator(_absolute)]
Hint = Annotated[str | None, BeforeValidator(_text_or_none)]
"""A text that is only shown: anything else in its place counts as absent (schema: default on error)."""
