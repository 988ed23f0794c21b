"""A session that is open on this connection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.agent.abridging import for_replay
from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.custom_commands import CustomCommand, find_custom_commands
from hermes_acp.agent.store.journal import Journal
from hermes_acp.agent.titles import ask_title, title_question
from hermes_acp.agent.transcript import with_ended_cards, with_ended_past
from hermes_acp.agent.trust import Trust
from hermes_acp.agent.turns import Turns
from hermes_acp.commands.builtin import find_command, find_custom, run_command
from hermes_acp.commands.options import Options
from hermes_acp.errors import HermesError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.waiting import unless_whole
from hermes_acp.mcp.servers import Servers
from hermes_acp.messages import UserMessage
from hermes_acp.protocol.blocks import Block
from hermes_acp.protocol.content import read_prompt, text_of, with_text
from hermes_acp.protocol.editor_host import EditorHost
from hermes_acp.protocol.idleness import Idleness
from hermes_acp.protocol.preparation import Preparation
from hermes_acp.protocol.shown_options import ShownOptions
from hermes_acp.protocol.title import Title

if TYPE_CHECKING:
    from hermes_acp.agent.agent import Agent
    from hermes_acp.agent.loop import Stop, TurnResult


@dataclass(slots=True)
class Session:
    """One open session: what it talks about, how it is shown, and what a prompt goes through.

    `agent` gives the agent for a model at the moment of asking: keys and models may change in between.
    `trajectories` is the folder where each turn leaves one; None: nowhere. `impatient`: whether a prompt ends the turn
    that it meets. `home` is the person's own folder, where there is one, and `custom` its commands when the session
    was opened.
    """

    conversation: Conversation
    journal: Journal
    shown: ShownOptions
    host: EditorHost
    agent: Callable[[str], Agent]
    preparation: Preparation
    idleness: Idleness
    title: Title
    turns: Turns = field(default_factory=Turns)
    trajectories: Path | None = None
    impatient: bool = False
    home: Path | None = None
    custom: Sequence[CustomCommand] = ()

    @property
    def id(self) -> str:
        return self.conversation.id

    @property
    def options(self) -> Options:
        return self.shown.options

    @property
    def servers(self) -> Servers:
        return self.preparation.groundwork.servers

    @property
    def trust(self) -> Trust:
        return self.preparation.groundwork.trust

    async def close(self) -> None:
        """Stop what goes on without a prompt: the search for a title, processes that commands left running."""
        self.idleness.stop()
        self.title.leave()
        try:
            await self.preparation.groundwork.close()
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

    async def replay(self) -> None:
        """Show the editor everything that was shown in the session, in order; of very long cards both ends. What
        happens meanwhile is shown after it.

        Raises:
            StoreError: it cannot be read, or what is not stored yet be written, now.
        """
        async with self.host.replaying():
            with_ends = with_ended_past if self.turns.busy else with_ended_cards
            self.conversation.flush()
            for event in for_replay(list(with_ends(await self.journal.shown()))):
                await self.host.replay(event)

    async def choose(self, option: str, value: str) -> None:
        """Set an option to one of its allowed values by a command."""
        await self.shown.set(option, value, option)
        self.shown.announce()

    async def answer(self, blocks: Sequence[Block]) -> str:
        """Run one prompt to its end and return ACP's stop reason."""
        self.title.leave()
        await self.idleness.end()
        try:
            return await self._answer(blocks)
        finally:
            self.idleness.begin()

    async def _answer(self, blocks: Sequence[Block]) -> str:
        self.preparation.show_notices()
        if invocation := find_command(text_of(blocks)):
            await run_command(self, invocation)
            return "end_turn"
        custom = await asyncio.to_thread(find_custom, text_of(blocks), self.home)
        typed = await read_prompt(blocks, self.conversation.workspace, self.host.emit)
        message = with_text(typed, blocks, custom.text()) if custom else typed
        as_typed = typed if custom else None
        self.title.begin(text_of(blocks))
        async with unless_whole(partial(self._keep_prompt, message, as_typed)):
            await self.preparation.finish()
        agent = self.agent(self.options.model)
        run = _turn_runner(self.trajectories, self.options.model)
        result = await run(agent, self.conversation, message, self.host, as_typed)
        return _stop_reason(result.stop)

    async def _keep_prompt(self, message: UserMessage, typed: UserMessage | None) -> None:
        from hermes_acp.agent.loop import keep_prompt

        await keep_prompt(self.conversation, message, self.host, typed)

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
