"""The tool that runs a shell command and shows its output while it runs."""

from __future__ import annotations

import asyncio
import math
import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Literal

from pydantic import Field

from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.local import paths
from hermes_acp.local.environment import search_path, startup_file
from hermes_acp.text import visible
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext
from hermes_acp.tools.safety.judged import Judged, Place, names_git
from hermes_acp.workspace import Access, Command, Completed, Workspace

_USUAL = 120
_LONGEST = 3_600
_TITLE = 200
"""What may be a command that is to write into the repository. Whoever is asked about it sees it."""

_AT_ONCE = 0.1
"""Seconds in which a background command that cannot work mostly ends."""


class Terminal(Params):
    """Run a shell command in the session's folder and return its output and exit code. There is no input: programs
    that ask questions get none. Each call is a new shell."""

    command: str
    timeout: float = Field(_USUAL, description="Seconds, at most 3600.")
    background: bool = Field(False, description="For servers and watchers: return at once; see process.")
    sandbox: Literal["inside", "network", "outside"] = Field(
        "inside",
        description="Where there is a sandbox, the disk outside the session's folders can only be read and there is no "
        "network. 'network' adds it, 'outside' runs without a sandbox; the user is asked.",
    )


async def prepare(args: Terminal, ctx: ToolContext) -> Action:
    """Make a command ready; it is run exactly as it was judged.

    Raises:
        ToolError: the command is blank, or holds a NUL.
    """
    if not args.command.strip():
        raise ToolError("The command is blank; give a shell command line.")
    if "\0" in args.command:
        raise ToolError("The command holds a NUL character; no program can be given one. Nothing was run.")
    enclosure = ctx.workspace.enclosure
    judged = await judge_here(args.command, ctx.workspace)
    if enclosure.standing:
        judged = await asyncio.to_thread(_behind_walls, args.command, judged, _place(ctx.workspace))
    if not judged.parts:
        judged = replace(judged, concern=f"{judged.concern} {await asyncio.to_thread(explained, args.command)}".strip())
    seconds = min(max(args.timeout, 1), _LONGEST) if math.isfinite(args.timeout) else _USUAL
    access = access_of(args, judged) if enclosure.standing else Access()
    limit = math.inf if args.background else seconds
    command = Command(judged.line, ctx.workspace.cwd, limit, not judged.concern, access)
    run = partial(_start if args.background else _run, command, ctx)
    return Action(
        f"In the background: {title(args.command)}" if args.background else title(args.command),
        partial(_unchanged, args.command, judged, ctx.workspace, run),
        "execute",
        command=judged.line,
        judged=judged,
        access=access,
        where=enclosure.where(access),
        contained=enclosure.standing and not (access.network or access.outside or enclosure.network),
    )


def access_of(args: Terminal, judged: Judged) -> Access:
    """What a command may reach that the person is to be asked about. One that only reads needs nothing."""
    if not judged.concern and args.sandbox == "inside":
        return Access()
    return Access(
        network=args.sandbox == "network",
        repository=bool(judged.walled) and names_git(judged.written),
        outside=args.sandbox == "outside",
    )


def explained(line: str) -> str:
    """In a sentence, what a line that could not be judged would run. Loaded only when there is one to explain."""
    from hermes_acp.tools.safety.explaining import explain

    return explain(line)


async def judge_here(line: str, workspace: Workspace) -> Judged:
    """What a command line would do in the session's folder."""
    return await asyncio.to_thread(_judge, line, _place(workspace))


def _place(workspace: Workspace) -> Place:
    return Place(workspace.cwd, workspace.roots, search_path(), startup_file())


def _behind_walls(line: str, judged: Judged, place: Place) -> Judged:
    from hermes_acp.tools.safety.contained import contain

    found = contain(line, judged, place)
    return replace(judged, line=found.line, walled=found.concern)


def _judge(line: str, place: Place) -> Judged:
    """The tables of programs are loaded with the first command, and not before a session is open."""
    from hermes_acp.tools.safety.judging import judge

    return judge(line, place)


async def _unchanged(
    line: str, judged: Judged, workspace: Workspace, run: Callable[[], Awaitable[ToolResult]]
) -> ToolResult:
    """Run a command if what was known to only read still does: links and programs may have changed meanwhile.

    Raises:
        ToolError: it does not, or the session's folder is another one.
    """
    now = await judge_here(line, workspace)
    if (
        not set(judged.reading) <= set(now.reading)
        or await asyncio.to_thread(paths.real, workspace.cwd) != workspace.cwd
    ):
        raise ToolError("What this command would read has changed since it was judged. Nothing was run.")
    return await run()


async def _start(command: Command, ctx: ToolContext) -> ToolResult:
    name = await ctx.workspace.start(command)
    started = ctx.workspace.background[name]
    await started.wait(_AT_ONCE)
    look = started.look()
    where = _placed(command, ctx)
    if look.exit_code is None:
        text = f"{name} runs in the background. process tells how it is and ends it."
        return ToolResult(text, raw={"id": name} | where)
    text = f"{look.output}\n[{name} has ended already: {ending(look.exit_code)}]".lstrip("\n")
    return ToolResult(text, is_error=look.exit_code != 0, raw={"id": name, "exit_code": look.exit_code} | where)


async def _run(command: Command, ctx: ToolContext) -> ToolResult:
    completed = await ctx.workspace.run(command, ctx.show)
    output = completed.output.rstrip("\n") or "(no output)"
    return ToolResult(
        f"{output}\n[{_ending(completed, command.timeout)}]",
        is_error=completed.timed_out or completed.exit_code != 0,
        terminal_id=completed.terminal_id,
        raw=_raw(completed) | _placed(command, ctx),
    )


def _placed(command: Command, ctx: ToolContext) -> dict[str, object]:
    where = ctx.workspace.enclosure.where(command.access)
    return {"sandbox": where} if where else {}


def _ending(completed: Completed, seconds: float) -> str:
    if completed.timed_out:
        return f"stopped after {seconds:g} seconds with all that it had started; a longer timeout may be set"
    return ending(completed.exit_code)


def ending(exit_code: int | None) -> str:
    """In words, how a command ended."""
    if exit_code is None:
        return "ended; its exit code is not known"
    if exit_code < 0:
        return f"killed by signal {-exit_code}{_signal_name(-exit_code)}"
    if name := _signal_name(exit_code - 128):
        return f"exit code {exit_code}, as after signal {exit_code - 128}{name}"
    return f"exit code {exit_code}"


def _signal_name(number: int) -> str:
    names = {member.value: f" ({member.name})" for member in signal.Signals}
    return names.get(number, "")


def _raw(completed: Completed) -> dict[str, object]:
    raw: dict[str, object] = {"exit_code": completed.exit_code}
    if completed.timed_out:
        raw["timed_out"] = True
    return raw


def title(command: str) -> str:
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
