"""The tool that runs a shell command and shows its output while it runs."""

from __future__ import annotations

import signal
from functools import partial

from pydantic import Field

from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.text import visible
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext
from hermes_acp.workspace import Command, Completed

_LONGEST = 3_600
_TITLE = 200


class Terminal(Params):
    """Run a shell command in the session's folder and return its output and exit code. There is no input: programs
    that ask questions get none. Each call is a new shell. Start servers with & in the background."""

    command: str
    timeout: float = Field(120, description="Seconds, at most 3600.")


async def prepare(args: Terminal, ctx: ToolContext) -> Action:
    """Make a command ready; it is run exactly as it was judged.

    Raises:
        ToolError: the command is blank, or holds a NUL.
    """
    if not args.command.strip():
        raise ToolError("The command is blank; give a shell command line.")
    if "\0" in args.command:
        raise ToolError("The command holds a NUL character; no program can be given one. Nothing was run.")
    seconds = min(max(args.timeout, 1), _LONGEST)
    command = Command(args.command, ctx.workspace.cwd, seconds)
    return Action(_title(args.command), partial(_run, command, ctx), "execute", command=args.command)


async def _run(command: Command, ctx: ToolContext) -> ToolResult:
    completed = await ctx.workspace.run(command, ctx.show)
    output = completed.output.rstrip("\n") or "(no output)"
    return ToolResult(
        f"{output}\n[{_ending(completed, command.timeout)}]",
        is_error=completed.timed_out or completed.exit_code != 0,
        terminal_id=completed.terminal_id,
        raw=_raw(completed),
    )


def _ending(completed: Completed, seconds: float) -> str:
    if completed.timed_out:
        return f"stopped after {seconds:g} seconds with all that it had started; a longer timeout may be set"
    if completed.exit_code is None:
        return "ended; its exit code is not known"
    if completed.exit_code < 0:
        return f"killed by signal {-completed.exit_code}{_signal_name(-completed.exit_code)}"
    return f"exit code {completed.exit_code}"


def _signal_name(number: int) -> str:
    names = {member.value: f" ({member.name})" for member in signal.Signals}
    return names.get(number, "")


def _raw(completed: Completed) -> dict[str, object]:
    raw: dict[str, object] = {"exit_code": completed.exit_code}
    if completed.timed_out:
        raw["timed_out"] = True
    return raw


def _title(command: str) -> str:
    """The command in one line; of a long one both ends, so that nothing can be pushed out of sight."""
    line = " ⏎ ".join(visible(command.strip()).splitlines())
    if len(line) <= _TITLE:
        return line
    return f"{line[:120]} … {line[-60:]}"


TOOL = Tool(
    name="terminal",
    toolset="terminal",
    kind="execute",
    label="Run a command",
    params=Terminal,
    effect="execute",
    prepare=prepare,
)
