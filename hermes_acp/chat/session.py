"""The session that is talked in: opened when it is needed, the same as in every other face."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path

from hermes_acp.agent.abridging import for_replay
from hermes_acp.agent.agent import Agent
from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.custom_commands import CustomCommand, find_custom_commands
from hermes_acp.agent.loop import TurnResult
from hermes_acp.agent.transcript import with_ended_cards
from hermes_acp.agent.trust import Trust
from hermes_acp.commands.options import Options, restore_options
from hermes_acp.config import Mode
from hermes_acp.errors import CredentialsMissing
from hermes_acp.events import Event, UserPrompted
from hermes_acp.host import Host
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.waiting import surely
from hermes_acp.mcp.servers import Servers
from hermes_acp.messages import UserMessage
from hermes_acp.talk.open_talk import OpenTalk
from hermes_acp.talk.setup import Setup
from hermes_acp.talk.talk import Talk

REPLAYED_PROMPTS = 5
"""So many prompts of a session that is gone on with are shown again, with what came after them."""


@dataclass(slots=True)
class ChatSession:
    """A session as slash commands and turns see it.

    `read` reads the settings anew when there was no model to talk to. `listed` are the chat's own commands, for lists
    of all. `changed` is called when an option has changed.
    """

    talk: Talk
    host: Host
    read: Callable[[], Setup]
    listed: Sequence[CustomCommand] = ()
    changed: Callable[[], None] = lambda: None
    _options: Options | None = None
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def opened(self) -> OpenTalk:
        """The session, which is open."""
        assert self.talk.opened is not None
        return self.talk.opened

    @property
    def conversation(self) -> Conversation:
        return self.opened.conversation

    @property
    def options(self) -> Options:
        assert self._options is not None
        return self._options

    @property
    def servers(self) -> Servers:
        return self.opened.groundwork.servers

    @property
    def trust(self) -> Trust:
        return self.opened.groundwork.trust

    @property
    def home(self) -> Path | None:
        return self.talk.setup.settings.home.config

    @property
    def agent(self) -> Callable[[str], Agent]:
        return lambda model: self.opened.answering.agent()

    @property
    def folder(self) -> Path:
        """Where the session works."""
        return Path(self.talk.record.cwd) if self.talk.record else Path.cwd()

    @property
    def model(self) -> str:
        """The model that answers, as far as it is known."""
        return self._options.shown if self._options else self.talk.setup.settings.config.model.name

    @property
    def mode(self) -> str:
        """The session's mode."""
        return self._options.mode if self._options else self.talk.setup.settings.config.approvals.mode

    async def open(self) -> None:
        """Open it, unless it is open. Raises what `Talk.open` raises; the next call tries again."""
        async with self._opening:
            try:
                opened = await self.talk.open()
            except CredentialsMissing:
                self.talk.setup = await asyncio.to_thread(self.read)
                raise
            if self._options is None:
                self._options = self._restored(opened)
                opened.answering.models.warm(self._offer)

    async def answer(self, message: UserMessage, typed: UserMessage) -> TurnResult:
        """Run one turn in the open session. Raises what `run_turn` raises."""
        await self.opened.prepare(message, self.host, typed)
        agent = self.opened.answering.agent()
        run = self.opened.runner(agent.provider.model)
        return await run(agent, self.conversation, message, self.host, typed)

    async def choose(self, option: str, value: str) -> None:
        self.options.set(option, value)
        self.opened.answering.model = self.options.model
        try:
            await surely(self.options.keep_in(self.conversation))
        finally:
            self.changed()

    async def custom_commands(self) -> Sequence[CustomCommand]:
        return [*self.listed, *await asyncio.to_thread(find_custom_commands, self.home)]

    async def shown_before(self) -> tuple[list[Event], int]:
        """What is to be shown again of an earlier session, and how many prompts before that are not."""
        events = list(with_ended_cards(await self.talk.store.events(self.talk.session_id)))
        prompts = [at for at, event in enumerate(events) if isinstance(event, UserPrompted)]
        first = prompts[-REPLAYED_PROMPTS] if len(prompts) > REPLAYED_PROMPTS else 0
        return list(for_replay(events[first:])), max(len(prompts) - REPLAYED_PROMPTS, 0)

    def switch(self, model: str) -> None:
        """Another model answers from here on, in the place of the chosen one."""
        if self._options is not None:
            self._options.switch(model)

    def _restored(self, opened: OpenTalk) -> Options:
        mode, answering = opened.conversation.approvals.mode, opened.answering
        stored = {**opened.stored_options, "mode": mode}
        options = restore_options(answering.models, stored, mode, answering.terms.modes)
        self._apply(options)
        return options

    def _mode_entered(self, mode: Mode) -> None:
        self.options.mode = mode
        self.conversation.journal.update(options=self.options.values())
        self.changed()

    def _apply(self, options: Options) -> None:
        self.opened.answering.model = options.model
        self.conversation.mode_entered = self._mode_entered
        options.hold_in(self.conversation)

    def _offer(self) -> None:
        models = self.opened.answering.models
        self.options.offer(models.names, models.endpoint.base_url, models.levels)
        self._apply(self.options)
