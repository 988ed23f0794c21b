"""Slash commands: answered by the agent itself, without the model.

What a command alone needs is imported when it is given: every session names the commands as it begins.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.custom_commands import CustomCommand, find_custom_command
from hermes_acp.agent.providers.base import new_id
from hermes_acp.agent.record import Record
from hermes_acp.agent.recording import RecordedHost
from hermes_acp.agent.trust import Trust
from hermes_acp.commands.options import Options
from hermes_acp.errors import HermesError, StoreError
from hermes_acp.events import TextDelta, UserPrompted
from hermes_acp.host import Host
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.waiting import finishing
from hermes_acp.mcp.servers import Servers
from hermes_acp.messages import user
from hermes_acp.text import first_sentence, visible

if TYPE_CHECKING:
    from hermes_acp.agent.agent import Agent

_SENTENCE = 240
"""Characters of a tool's description that a list of tools shows."""


class Session(Protocol):
    """What commands act on: a session that is open in a face. `home` is the person's own folder."""

    @property
    def conversation(self) -> Conversation: ...

    @property
    def options(self) -> Options: ...

    @property
    def host(self) -> Host: ...

    @property
    def servers(self) -> Servers: ...

    @property
    def home(self) -> Path | None: ...

    @property
    def trust(self) -> Trust: ...

    @property
    def agent(self) -> Callable[[str], Agent]:
        """Gives the agent that answers through a model."""

    async def choose(self, option: str, value: str) -> None:
        """Set an option to one of its allowed values, store it and show it."""

    async def custom_commands(self) -> Sequence[CustomCommand]:
        """The person's own commands as they are now."""


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


@dataclass(frozen=True, slots=True)
class CustomInvocation:
    """A command of the person's own as it was typed."""

    command: CustomCommand
    argument: str

    def text(self) -> str:
        """What the model is told."""
        return self.command.text(self.argument)


def find_command(text: str) -> Invocation | None:
    """The command that the text of a prompt begins with; an unknown /word is text for the model."""
    if not text.startswith("/"):
        return None
    name, *argument = text[1:].split(maxsplit=1) or [""]
    command = COMMANDS.get(name) if text.startswith(f"/{name}") else None
    return Invocation(command, "".join(argument).strip()) if command else None


def is_stop(text: str) -> bool:
    """Whether the prompt is /stop, which is never queued behind what it is to stop."""
    invocation = find_command(text)
    return invocation is not None and invocation.command.name == "stop"


def find_custom(text: str, home: Path | None) -> CustomInvocation | None:
    """The person's own command that the text of a prompt begins with; the built-in ones go first."""
    name, *rest = text.removeprefix("/").split(maxsplit=1) or [""]
    if not text.startswith(f"/{name}") or name in COMMANDS:
        return None
    command = find_custom_command(home, name)
    return CustomInvocation(command, "".join(rest)) if command else None


async def run_command(session: Session, invocation: Invocation) -> None:
    """Answer a command; command and answer belong to what the person was shown, and the model sees neither.

    Raises:
        StoreError: it could not be stored.
    """
    journal = session.conversation.journal
    stage = RecordedHost(session.host, journal)
    journal.begin_turn()
    said = f"/{invocation.command.name} {invocation.argument}".strip()
    stage.record(UserPrompted(user(said), new_id("msg")))
    session.conversation.flush = stage.flush
    async with finishing(partial(_keep, stage, journal)):
        stage.emit(TextDelta(await invocation.command.run(session, invocation.argument), new_id("msg")))


async def _keep(stage: RecordedHost, journal: Record) -> None:
    stage.flush()
    await journal.commit(durable=True)


def every_command(custom: Sequence[CustomCommand] = ()) -> list[Command | CustomCommand]:
    """The built-in commands, then the person's own; a built-in one hides another of its name."""
    return [*COMMANDS.values(), *(command for command in custom if command.name not in COMMANDS)]


async def _help(session: Session, argument: str) -> str:
    lines = [
        f"- `/{command.name}{' ' + command.hint if command.hint else ''}`: {command.description}"
        for command in every_command(await session.custom_commands())
    ]
    return "\n".join(["The commands:", "", *lines])


async def _model(session: Session, argument: str) -> str:
    return await _choose(session, "model", argument)


async def _mode(session: Session, argument: str) -> str:
    return await _choose(session, "mode", argument)


async def _think(session: Session, argument: str) -> str:
    if not session.options.allowed("thought_level"):
        return f"How much `{session.options.shown}` thinks cannot be chosen."
    return await _choose(session, "thought_level", argument)


async def _choose(session: Session, option: str, value: str) -> str:
    allowed, name = session.options.allowed(option), option.replace("_", " ")
    choices = ", ".join(f"`{choice}`" for choice in allowed)
    if not value:
        return f"The {name} is `{session.options.current(option)}`{_stand_in(session, option)}. To choose: {choices}."
    if value not in allowed:
        return f"There is no {name} `{value}`. To choose: {choices}."
    await session.choose(option, value)
    return f"The {name} is now `{value}`."


def _stand_in(session: Session, option: str) -> str:
    standing_in = session.options.answering if option == "model" else ""
    return f" (`{standing_in}` answers in its place)" if standing_in else ""


async def _tools(session: Session, argument: str) -> str:
    toolbox = session.agent(session.options.model).tools(session.conversation)
    lines = [f"- `{tool.name}`: {visible(first_sentence(tool.description, _SENTENCE))}" for tool in toolbox.values()]
    return "\n".join([f"The tools in the mode `{session.options.mode}`:", "", *lines])


async def _memory(session: Session, argument: str) -> str:
    from hermes_acp.commands.reports import memory_report

    return await memory_report(session.home)


async def _skills(session: Session, argument: str) -> str:
    from hermes_acp.commands.reports import skills_report

    return await skills_report(session.home, session.conversation.workspace.roots, session.trust)


async def _compact(session: Session, argument: str) -> str:
    from hermes_acp.agent.loop import compact

    agent = session.agent(session.options.model)
    before = len(session.conversation.messages)
    try:
        smaller = await compact(agent, session.conversation, session.host, argument)
    except HermesError as error:
        return f"The context could not be compacted, and nothing was changed. {error}"
    if not smaller:
        return "There is nothing to leave out: the conversation is short."
    return f"The context was compacted: {before} messages became {len(session.conversation.messages)}."


async def _mcp(session: Session, argument: str) -> str:
    from hermes_acp.commands.reports import describe_servers

    await session.servers.refresh()
    return describe_servers(session.servers)


async def _context(session: Session, argument: str) -> str:
    from hermes_acp.commands.reports import context_report

    return await context_report(session.agent(session.options.model), session.conversation, session.home, session.trust)


async def _reset(session: Session, argument: str) -> str:
    session.conversation.reset()
    return "The model begins anew: it sees nothing of what was said above, and reads your files for it again."


async def _undo(session: Session, argument: str) -> str:
    from hermes_acp.commands.undo import undo_in

    undo = undo_in(session.conversation)
    if undo is None:
        return "Nothing is kept here that could be undone."
    try:
        return await undo.run(session.host)
    except StoreError as error:
        return f"Nothing was undone. {error}"


async def _permissions(session: Session, argument: str) -> str:
    approvals = session.conversation.approvals
    if argument == "forget":
        approvals.forget()
        return "Every answer that held for this session is forgotten. Rules stay."
    granted = [f"- {each}" for each in approvals.granted()] or ["- nothing"]
    rules = [f"- {rule.text}" for rule in approvals.rules] or ["- none"]
    lines = ["Allowed for this session (`/permissions forget` takes it back, but no rule):", "", *granted, ""]
    return "\n".join([*lines, "Rules (in your `config.toml` and the project's `.hermes-acp.toml`):", "", *rules])


async def _stop(session: Session, argument: str) -> str:
    return "Stopped."


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("help", "Show the commands", _help),
        Command("model", "Show or choose the model", _model, "name"),
        Command("think", "Show or choose how much the model thinks", _think, "default | low | medium | high"),
        Command("mode", "Show or choose what runs without asking", _mode, "ask | accept_edits | auto | plan"),
        Command(
            "permissions",
            "Show what runs without asking, or forget the answers of this session",
            _permissions,
            "forget",
        ),
        Command("tools", "List the tools the model has", _tools),
        Command("memory", "Show what is kept across sessions", _memory),
        Command("skills", "List the skills the model can load", _skills),
        Command("compact", "Put a summary in place of the older part of the conversation", _compact, "what to keep"),
        Command("mcp", "Show the MCP servers and their tools", _mcp),
        Command("context", "Show what fills the model's context", _context),
        Command("undo", "Take back the last turn: its files and its part of the conversation", _undo),
        Command("reset", "Let the model begin anew in this conversation", _reset),
        Command("stop", "Stop what is running", _stop),
    )
}
