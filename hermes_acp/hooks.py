"""What others may say of a tool call before it runs, and are told of it afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol

from hermes_acp.cards import ToolResult
from hermes_acp.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HookedCall:
    """A call whose tool exists and whose arguments fit it, and the session it is made in."""

    tool: str
    arguments: Mapping[str, Any] = field(repr=False)
    session_id: str
    cwd: str


class Hooks(Protocol):
    """Whoever has a say in tool calls."""

    async def before(self, call: HookedCall) -> str:
        """Why the call must not be made; "" when nobody objects. Never raises."""

    async def after(self, call: HookedCall, result: ToolResult, seconds: float) -> None:
        """Tell how a call that ran has ended, and how long it took. Never raises."""


class NoHooks:
    """Nobody has a say."""

    async def before(self, call: HookedCall) -> str:
        return ""

    async def after(self, call: HookedCall, result: ToolResult, seconds: float) -> None:
        """Nobody is told."""
