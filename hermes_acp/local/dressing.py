"""What a command is started with: its arguments and its environment, in a sandbox or in none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import environment
from hermes_acp.local.sandbox.walls import Sandbox
from hermes_acp.workspace import Command


@dataclass(frozen=True, slots=True)
class Dressed:
    """A command ready to be started. `walled`: whether its first process is the sandbox's own, which ends everything
    inside when it ends."""

    argv: tuple[bytes, ...]
    environment: Mapping[bytes, bytes]
    walled: bool = False


@dataclass(frozen=True, slots=True)
class Dressing:
    """How a session's commands are started; `roots` are its folders at the moment."""

    sandbox: Sandbox | None = None
    roots: Callable[[], tuple[Path, ...]] = tuple

    async def of(self, command: Command, tag: str) -> Dressed:
        """A command, ready to be started; its processes will carry `tag`.

        Raises:
            ToolError: there is no shell.
        """
        if self.sandbox is None or command.access.outside:
            return Dressed(environment.shell(command.line), environment.for_command(tag))
        argv = await self.sandbox.argv(command, self.roots())
        return Dressed(argv, self.sandbox.environment(tag), walled=True)

    def all_ended(self) -> None:
        """No command is running any more."""
        if self.sandbox is not None:
            self.sandbox.tidy()

    async def aclose(self) -> None:
        """The session has ended."""
        if self.sandbox is not None:
            await self.sandbox.aclose()
