"""What the editor may send: the params of every method, checked where it matters and tolerant elsewhere.

Fields that are not known are kept; optional ones may be null. `_meta` stays by itself and means nothing here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
)
from pydantic.alias_generators import to_camel

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import shorten


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


def _or_empty(value: Any) -> Any:
    return [] if value is None else value


def _text_or_none(value: Any) -> Any:
    return value if isinstance(value, str) else None


def _number_or_none(value: Any) -> Any:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


AbsolutePath = Annotated[str, AfterValidator(_absolute)]
Hint = Annotated[str | None, BeforeValidator(_text_or_none)]
"""A text that is only shown: anything else in its place counts as absent (schema: default on error)."""


class TextBlock(Params):
    type: Literal["text"]
    text: str


class ImageBlock(Params):
    type: Literal["image"]
    data: str
    mime_type: str
    uri: Hint = None


class AudioBlock(Params):
    type: Literal["audio"]
    data: str
    mime_type: str


class ResourceLinkBlock(Params):
    """A file or page that the person pointed at; its content is not part of the prompt."""

    type: Literal["resource_link"]
    name: str
    uri: str
    title: Hint = None
    description: Hint = None
    mime_type: Hint = None
    size: Annotated[int | None, BeforeValidator(_number_or_none)] = None


class TextResource(Params):
    uri: str
    text: str
    mime_type: Hint = None


class BlobResource(Params):
    """Bytes in base64."""

    uri: str
    blob: str
    mime_type: Hint = None


def _resource_tag(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return next((name for name in ("text", "blob") if name in value), None)


Resource = Annotated[
    Annotated[TextResource, Tag("text")] | Annotated[BlobResource, Tag("blob")],
    Discriminator(
        _resource_tag, custom_error_type="resource", custom_error_message="a resource needs a text or a blob"
    ),
]


class ResourceBlock(Params):
    """A resource whose content is part of the prompt."""

    type: Literal["resource"]
    resource: Resource


class UnknownBlock(Params):
    """A block of a type that is not known here, kept as it came."""

    type: str


_BLOCK_TYPES = ("text", "image", "audio", "resource_link", "resource")


def _block_tag(value: Any) -> str | None:
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        return None
    return kind if kind in _BLOCK_TYPES else "unknown"


Block = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ImageBlock, Tag("image")]
    | Annotated[AudioBlock, Tag("audio")]
    | Annotated[ResourceLinkBlock, Tag("resource_link")]
    | Annotated[ResourceBlock, Tag("resource")]
    | Annotated[UnknownBlock, Tag("unknown")],
    Discriminator(
        _block_tag, custom_error_type="block", custom_error_message="a content block must be an object with a type"
    ),
]


class NamedValue(Params):
    """An environment variable or an HTTP header."""

    name: str
    value: str


NamedValues = Annotated[list[NamedValue], BeforeValidator(_or_empty)]


class StdioServer(Params):
    """An MCP server to be started as a program."""

    name: str
    command: str
    args: Annotated[list[str], BeforeValidator(_or_empty)] = Field(default_factory=list)
    env: NamedValues = Field(default_factory=list)
    type: Literal["stdio"] = "stdio"


class RemoteServer(Params):
    """An MCP server to be reached by HTTP, or by HTTP with server-sent events."""

    name: str
    url: str
    headers: NamedValues = Field(default_factory=list)
    type: Literal["http", "sse"]


def _known_type(value: Any) -> Any:
    kind = value.get("type", "stdio") if isinstance(value, dict) else None
    if isinstance(kind, str) and kind not in _SERVER_TYPES:
        raise ValueError(f"an MCP server of type {shorten(ascii(kind), 40)} is not supported; use stdio, http or sse")
    return value


def _server_tag(value: Any) -> str | None:
    kind = value.get("type", "stdio") if isinstance(value, dict) else None
    return _SERVER_TYPES.get(kind) if isinstance(kind, str) else None


_SERVER_TYPES = {"stdio": "stdio", "http": "remote", "sse": "remote"}


Server = Annotated[
    Annotated[StdioServer, Tag("stdio")] | Annotated[RemoteServer, Tag("remote")],
    Discriminator(
        _server_tag, custom_error_type="server", custom_error_message="an MCP server must be of type stdio, http or sse"
    ),
    BeforeValidator(_known_type),
]


class InitializeParams(Params):
    """`initialize`: what the editor offers is read by `ClientCapabilities.of`, which takes anything."""

    protocol_version: Annotated[int, Field(strict=True, ge=0)]


class AuthenticateParams(Params):
    """`authenticate`."""

    method_id: str


class EmptyParams(Params):
    """`logout`: nothing is said."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session lives: its working folder and its further folders, absolute."""

    cwd: Path
    roots: tuple[Path, ...] = ()

    @property
    def folders(self) -> tuple[Path, ...]:
        """All of them, the one that is worked in first."""
        return self.cwd, *self.roots


class _OpeningParams(Params):
    """What the ways into a session share: its folder, its further roots, its MCP servers."""

    cwd: AbsolutePath
    additional_directories: Annotated[list[AbsolutePath], BeforeValidator(_or_empty)] = Field(default_factory=list)
    mcp_servers: Annotated[list[Server], BeforeValidator(_or_empty)] = Field(default_factory=list)

    def place(self) -> Place:
        """The folders as they were given."""
        return Place(Path(self.cwd), tuple(map(Path, self.additional_directories)))


class NewSessionParams(_OpeningParams):
    """`session/new`."""


class LoadSessionParams(_OpeningParams):
    """`session/load`."""

    session_id: str


class ResumeSessionParams(_OpeningParams):
    """`session/resume`."""

    session_id: str


class ForkSessionParams(_OpeningParams):
    """`session/fork`: `session_id` is the session that is copied."""

    session_id: str


class ListSessionsParams(Params):
    """`session/list`: an optional folder that the sessions must be of, and where to go on."""

    cwd: AbsolutePath | None = None
    cursor: str | None = None


class SessionParams(Params):
    """`session/close`, `session/delete`, and the notification `session/cancel`."""

    session_id: str


class PromptParams(Params):
    """`session/prompt`."""

    session_id: str
    prompt: list[Block]


class SetModeParams(Params):
    """`session/set_mode`."""

    session_id: str
    mode_id: str


def _option_value(value: Any) -> Any:
    if not isinstance(value, str | bool):
        raise ValueError("must be the id of a value, or a boolean")
    return value


class SetConfigOptionParams(Params):
    """`session/set_config_option`: the value is an id, or true or false for a boolean option."""

    session_id: str
    config_id: str
    value: Annotated[Any, BeforeValidator(_option_value)]
