"""What the editor may send: the params of every method, checked where it matters and tolerant elsewhere.

Fields that are not known are kept; optional ones may be null. `_meta` stays by itself and means nothing here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.protocol.blocks import Block
from hermes_acp.protocol.mcp import Server
from hermes_acp.protocol.params import AbsolutePath, Params, or_empty


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
    additional_directories: Annotated[list[AbsolutePath], BeforeValidator(or_empty)] = Field(default_factory=list)
    mcp_servers: Annotated[list[Server], BeforeValidator(or_empty)] = Field(default_factory=list)

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
