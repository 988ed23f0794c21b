"""A session that is open on this connection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.custom_commands import CustomCommand, find_custom_commands
from hermes_acp.agent.titles import ask_title, title_question
from hermes_acp.agent.trust import Trust
from hermes_acp.agent.turns import Turns
from hermes_acp.commands.builtin import find_command, find_custom, run_command
from hermes_acp.commands.options import Options
from hermes_acp.errors import HermesError
from hermes_acp.events import Notice, StatusChanged
from hermes_acp.mcp.servers import Servers
from hermes_acp.mcp_servers import McpServer
from hermes_acp.protocol.content import read_prompt, text_of, with_text
from hermes_acp.protocol.editor_host import EditorHost
from hermes_acp.protocol.errors import invalid_params
from hermes_acp.protocol.idleness import Idleness
from hermes_acp.protocol.inbound import Block
from hermes_acp.protocol.options import config_options, mode_state
from hermes_acp.protocol.outbound import config_option_update, current_mode_update
from hermes_acp.protocol.title import Title

if TYPE_CHECKING:
    from hermes_acp.agent.loop import Agent, Stop, TurnResult


async def _at_once() -> None:
    """Nothing is waited for."""


@dataclass(slots=True)
class Session:
    """One open session: what it talks about, how it is shown, what may be set in it.

    `agent` gives the agent for a model at the moment of asking: keys and models may change in between.
    `notices` are shown at the start of the next turn, when the editor is looking. `trajectories` is the
    folder where each turn leaves one; None: nowhere. `impatient`: whether a prompt ends the turn that it meets.
    `home` is the person's own folder, where there is one, and `custom` its commands when the session was opened.
    `ready` waits until the model can be asked. `servers` are its MCP servers. `plugins_told`: whether the person
    has been told of broken plugins. `trust` is what the person has said of what projects bring.
    """

    conversation: Conversation
    options: Options
    host: EditorHost
    agent: Callable[[str], Agent]
    idleness: Idleness
    title: Title
    servers: Servers
    turns: Turns = field(default_factory=Turns)
    notices: list[Notice] = field(default_factory=list)
    trajectories: Path | None = None
    impatient: bool = False
    home: Path | None = None
    custom: Sequence[CustomCommand] = ()
    ready: Callable[[], Awaitable[None]] = _at_once
    plugins_told: bool = False
    trust: Trust = field(default_factory=Trust)
    _known: bool = False
    _placed: bool = False
    _adopting: asyncio.Task[None] | None = None
    _models_told: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.host.switched = self._switched

    @property
    def id(self) -> str:
        return self.conversation.id

    async def close(self) -> None:
        """Stop what goes on without a prompt: the search for a title, processes that commands left running."""
        self.idleness.stop()
        self.title.leave()
        if self._adopting is not None:
            self._adopting.cancel()
        try:
            await self.servers.close()
        finally:
            await self.conversation.workspace.aclose()

    async def set_further_roots(self, folders: tuple[Path, ...]) -> None:
        """Let the session reach into these folders and no other ones (ACP: additional directories)."""
        self.conversation.workspace.set_further_roots(folders)
        self.servers.tell_roots()
        self.conversation.journal.update(roots=tuple(map(str, folders)))
        await self.conversation.journal.commit()

    async def store_what_was_shown(self) -> None:
        """Bring the store up to this moment, also in the middle of a turn.

        Raises:
            StoreError: it cannot be written now.
        """
        self.conversation.flush()
        await self.conversation.journal.commit()

    def state(self) -> dict[str, Any]:
        """What new, load, resume and fork answer with."""
        self._models_told = self.options.models
        return {"modes": mode_state(self.options), "configOptions": config_options(self.options)}

    def use_servers(self, named: Iterable[McpServer]) -> None:
        """Start these MCP servers of the editor and the person's own, and those of the project that were agreed to
        before. Waits for none of it."""
        self.servers.use(named)
        self._adopting = asyncio.get_running_loop().create_task(self._adopt_servers())

    def appear(self) -> None:
        """The editor has been told of the session: only from here on it may be sent changes."""
        self._known = True
        self._tell_models()

    def offer_models(self, models: tuple[str, ...], address: str) -> None:
        """Let these models of this address be chosen."""
        self.options.offer(models, address)
        self.conversation.answering = self.options.answering
        self._tell_models()

    def _tell_models(self) -> None:
        if self._known and self._models_told != self.options.models:
            self._models_told = self.options.models
            self.host.update(config_option_update(config_options(self.options)))

    async def set_option(self, option: str, value: str, field_name: str) -> None:
        """Set an option and store it.

        Raises:
            RpcError: the option cannot take the value; `field_name` is the parameter to name.
        """
        try:
            self.options.set(option, value)
        except ValueError as error:
            raise invalid_params(f"{field_name}: {error}") from None
        self.conversation.approvals.mode = self.options.mode
        self.conversation.answering = self.options.answering
        self.conversation.journal.update(options=self.options.values())
        await self.conversation.journal.commit()

    async def choose(self, option: str, value: str) -> None:
        """Set an option to one of its allowed values by a command."""
        await self.set_option(option, value, option)
        self.announce_options()

    def announce_options(self) -> None:
        """Tell the editor the options as they are, in both forms."""
        self.host.update(current_mode_update(self.options.mode))
        self.host.update(config_option_update(config_options(self.options)))

    def _switched(self, model: str) -> None:
        """Show which model answers from here on."""
        self.options.switch(model)
        self.host.update(config_option_update(config_options(self.options)))

    async def answer(self, blocks: Sequence[Block]) -> str:
        """Run one prompt to its end and return ACP's stop reason."""
        self.title.leave()
        await self.idleness.end()
        try:
            return await self._answer(blocks)
        finally:
            self.idleness.begin()

    async def _answer(self, blocks: Sequence[Block]) -> str:
        self._show_notices()
        if invocation := find_command(text_of(blocks)):
            await run_command(self, invocation)
            return "end_turn"
        custom = await asyncio.to_thread(find_custom, text_of(blocks), self.home)
        typed = await read_prompt(blocks, self.conversation.workspace, self.host.emit)
        message = with_text(typed, blocks, custom.text()) if custom else typed
        self._tell_where_commands_run()
        await self.ready()
        await self._settle_project()
        self._show_notices()
        self.title.begin(text_of(blocks))
        agent = self.agent(self.options.model)
        run = _turn_runner(self.trajectories, self.options.model)
        result = await run(agent, self.conversation, message, self.host, typed if custom else None)
        return _stop_reason(result.stop)

    def _tell_where_commands_run(self) -> None:
        """Once in a session: its first status."""
        if not self._placed:
            self._placed = True
            self.host.emit(StatusChanged("sandbox", self.conversation.workspace.enclosure.told))

    async def _settle_project(self) -> None:
        """Ask about what the project brings. Then the servers' tools are those of the turn to come: within a turn they
        stay the same."""
        from hermes_acp.agent.trusting import settle_project

        if self._adopting is not None:
            await asyncio.wait([self._adopting])
        self.notices += await settle_project(self.trust, self.conversation, self.servers, self.host)

    async def _adopt_servers(self) -> None:
        from hermes_acp.agent.trusting import adopt_agreed

        await adopt_agreed(self.trust, self.conversation.workspace.cwd, self.servers)

    async def custom_commands(self) -> list[CustomCommand]:
        """The person's own commands as they are now."""
        return await asyncio.to_thread(find_custom_commands, self.home)

    def settle(self) -> None:
        """A prompt has been answered: when no other waits, there is time to find a title."""
        question = title_question(self.conversation.messages)
        if question and not self.turns.busy:
            self.title.seek(lambda: self._ask_title(question))

    async def _ask_title(self, question: str) -> str:
        agent = self.agent(self.options.model)
        if not agent.titles:
            return ""
        return await ask_title(agent.side("title").provider, question, self.conversation.pay)

    def _show_notices(self) -> None:
        for notice in self.notices:
            self.host.emit(notice)
        self.notices.clear()


def _turn_runner(folder: Path | None, model: str) -> Callable[..., Awaitable[TurnResult]]:
    """What runs a turn and, where there is a folder for them, keeps its trajectory."""
    if folder is None:
        from hermes_acp.agent.loop import run_turn

        return run_turn
    from hermes_acp.agent.saved_turns import SavedTurns

    return SavedTurns(folder, model).run


def _stop_reason(stop: Stop) -> str:
    if stop == "partial":
        raise HermesError("The model gave no usable answer three times in a row.")
    return stop
