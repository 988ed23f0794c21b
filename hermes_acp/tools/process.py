"""The tool that looks at background commands, waits for them and ends them."""

from __future__ import annotations

import time
from functools import partial
from typing import Literal

from pydantic import Field

from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.text import head_and_tail, shorten, visible
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext
from hermes_acp.tools.terminal import ending, title
from hermes_acp.workspace import Background, Look, Workspace

_LONGEST = 3_600
_SHOWN_EVERY = 0.5
_CHARACTERS = 8_000


class Process(Params):
    """Commands that terminal started in the background: list them, poll one for its output, wait for its end, or kill
    it with all that it started."""

    action: Literal["poll", "wait", "kill", "list"] = "poll"
    id: str = Field("", description="As terminal told it.")
    timeout: float = Field(30, description="Seconds to wait.")


async def prepare(args: Process, ctx: ToolContext) -> Action:
    """Make a look at a background command, or its end, ready. Ending what this session started asks nobody."""
    if args.action == "list" or (args.action == "poll" and not args.id):
        return Action("List background commands", partial(_list, ctx.workspace), "read")
    name = _title(args.id, ctx.workspace)
    match args.action:
        case "poll":
            return Action(f"Look at {name}", partial(_poll, args.id, ctx), "read")
        case "wait":
            seconds = min(max(args.timeout, 0), _LONGEST)
            return Action(f"Wait for {name}", partial(_wait, args.id, seconds, ctx), "read")
        case "kill":
            return Action(f"End {name}", partial(_kill, args.id, ctx), "stop")


async def _list(workspace: Workspace) -> ToolResult:
    rows = [
        f"{name}: {title(command.line)} ({_state(command.look())})" for name, command in workspace.background.items()
    ]
    return ToolResult("\n".join(rows) or "No background command was started in this session.")


async def _poll(name: str, ctx: ToolContext) -> ToolResult:
    return _told(name, _find(name, ctx.workspace).look())


async def _wait(name: str, seconds: float, ctx: ToolContext) -> ToolResult:
    command = _find(name, ctx.workspace)
    deadline = time.monotonic() + seconds
    look = command.look()
    while look.exit_code is None and (left := deadline - time.monotonic()) > 0:
        before = look
        await command.wait(min(left, _SHOWN_EVERY))
        look = command.look()
        if look.output != before.output:
            ctx.show(head_and_tail(look.output, _CHARACTERS))
    return _told(name, look)


async def _kill(name: str, ctx: ToolContext) -> ToolResult:
    command = _find(name, ctx.workspace)
    await command.kill()
    return _told(name, command.look())


def _find(name: str, workspace: Workspace) -> Background:
    commands = workspace.background
    if name in commands:
        return commands[name]
    known = ", ".join(f"{known} ({shorten(title(command.line), 60)})" for known, command in commands.items())
    if not known:
        raise ToolError("No background command was started in this session; terminal does that with background=true.")
    raise ToolError(f"There is no background command {name!r}. There are: {known}.")


def _told(name: str, look: Look) -> ToolResult:
    output = head_and_tail(look.output, _CHARACTERS).rstrip("\n") or "(no output)"
    raw: dict[str, object] = {"id": name, "seconds": round(look.seconds, 1), "exit_code": look.exit_code}
    return ToolResult(f"{output}\n[{name}: {_state(look)}]", raw=raw)


def _state(look: Look) -> str:
    if look.exit_code is None:
        return f"running for {look.seconds:.0f} s"
    return f"ended after {look.seconds:.1f} s, {ending(look.exit_code)}"


def _title(name: str, workspace: Workspace) -> str:
    written = shorten(visible(name).replace("\n", "\\n"), 40) or "?"
    command = workspace.background.get(name)
    return f"{written} ({title(command.line)})" if command else written


TOOL = Tool(
    name="process",
    toolset="terminal",
    kind="execute",
    label="Background commands",
    params=Process,
    effect="read",
    prepare=prepare,
)
