"""The tools that work on the session itself, each made for one session: every module here that has a `make`."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from types import ModuleType

from hermes_acp.agent.tools.desk import Desk
from hermes_acp.tools.base import Tool


class AgentTools(Mapping[str, Tool]):
    """The agent-level tools of one session by name, in the order of their names.

    They are made when they are first asked for: a session begins without waiting for what they import.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def __getitem__(self, name: str) -> Tool:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    @cached_property
    def _made(self) -> dict[str, Tool]:
        tools = [module.make(self._desk) for module in load() if hasattr(module, "make")]
        return {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}


def load() -> list[ModuleType]:
    """The modules of this package, imported."""
    return [import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
