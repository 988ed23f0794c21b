"""Slash commands: answered by the agent itself, without the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_acp.protocol import outbound
from hermes_acp.protocol.reports import memory_report

if TYPE_CHECKING:
    from hermes_acp.protocol.session import Session


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name without the slash, what it does, what may follow it, and its answer in Markdown."""

    name: str
    description: str
    run: Callable[[Session, str], Awaitable[str]]
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command as it was typed."""

    command: Command
    argument: str


def find_command(text: str) -> Invocation | None:
    """The command that the text of a prompt begins with; an unknown /word is text for the model."""
    if not text.startswith("/"):
        return None
    name, _, argument = text[1:].partition(" ")
    command = COMMANDS.get(name.strip())
    return Invocation(command, argument.strip()) if command else None


def is_stop(text: str) -> bool:
    """Whether the prompt is /stop, which is never queued behind what it is to stop."""
    invocation = find_command(text)
    return invocation is not None and invocation.command.name == "stop"


def available_commands() -> list[dict[str, Any]]:
    """ACP's list of AvailableCommand."""
    return [
        outbound.command(command.name, command.description, hint=command.hint or None) for command in COMMANDS.values()
    ]


async def _help(session: Session, argument: str) -> str:
    lines = [
        f"- `/{command.name}{' ' + command.hint if command.hint else ''}`: {command.description}"
        for command in COMMANDS.values()
    ]
    return "\n".join(["The commands:", "", *lines])


async def _model(session: Session, argument: str) -> str:
    return await _choose(session, "model", argument)


async def _mode(session: Session, argument: str) -> str:
    return await _choose(session, "mode", argument)


async def _choose(session: Session, option: str, value: str) -> str:
    allowed = session.options.allowed(option)
    if not value:
        choices = ", ".join(f"`{choice}`" for choice in allowed)
        return f"The {option} is `{session.options.values()[option]}`. To choose: {choices}."
    if value not in allowed:
        return f"There is no {option} `{value}`. To choose: {', '.join(f'`{choice}`' for choice in allowed)}."
    await session.set_option(option, value, option)
    session.announce_options()
    return f"The {option} is now `{value}`."


async def _tools(session: Session, argument: str) -> str:
    toolbox = session.agent(session.options.model).tools(session.conversation)
    lines = [f"- `{tool.name}`: {(tool.params.__doc__ or '').strip().splitlines()[0]}" for tool in toolbox.values()]
    return "\n".join([f"The tools in the mode `{session.options.mode}`:", "", *lines])


async def _memory(session: Session, argument: str) -> str:
    return await memory_report(session.home)


async def _stop(session: Session, argument: str) -> str:
    return "Stopped."


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("help", "Show the commands", _help),
        Command("model", "Show or choose the model", _model, "name"),
        Command("mode", "Show or choose what runs without asking", _mode, "ask | accept_edits | plan"),
        Command("tools", "List the tools the model has", _tools),
        Command("memory", "Show what is kept across sessions", _memory),
        Command("stop", "Stop what is running", _stop),
    )
}
