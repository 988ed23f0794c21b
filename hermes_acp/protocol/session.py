"""A session that is open on this connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes_acp.agent.conversation import Conversation, utc_now
from hermes_acp.agent.loop import Agent, Stop, run_turn
from hermes_acp.agent.providers.base import new_id
from hermes_acp.agent.recording import RecordedHost
from hermes_acp.errors import HermesError
from hermes_acp.events import Notice, TextDelta, UserPrompted
from hermes_acp.messages import UserMessage, user
from hermes_acp.protocol.commands import Invocation, find_command
from hermes_acp.protocol.content import read_prompt, text_of
from hermes_acp.protocol.editor_host import EditorHost
from hermes_acp.protocol.errors import invalid_params
from hermes_acp.protocol.idleness import Idleness
from hermes_acp.protocol.inbound import Block
from hermes_acp.protocol.options import Options, config_options, mode_state
from hermes_acp.protocol.outbound import config_option_update, current_mode_update, session_info_update
from hermes_acp.protocol.turns import Turns
from hermes_acp.text import shorten

TITLE_CHARACTERS = 60


@dataclass(slots=True)
class Session:
    """One open session: what it talks about, how it is shown, what may be set in it.

    `agent` gives the agent for a model at the moment of asking: keys and models may change in between.
    `notices` are shown at the start of the next turn, when the editor is looking.
    """

    conversation: Conversation
    options: Options
    host: EditorHost
    agent: Callable[[str], Agent]
    idleness: Idleness
    title: str = ""
    turns: Turns = field(default_factory=Turns)
    notices: list[Notice] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.conversation.id

    async def close(self) -> None:
        """End the processes that the session's commands left running."""
        self.idleness.stop()
        await self.conversation.workspace.aclose()

    def state(self) -> dict[str, Any]:
        """What new, load, resume and fork answer with."""
        return {"modes": mode_state(self.options), "configOptions": config_options(self.options)}

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
        self.conversation.journal.update(options=self.options.values())
        await self.conversation.journal.commit()

    def announce_options(self) -> None:
        """Tell the editor the options as they are, in both forms."""
        self.host.update(current_mode_update(self.options.mode))
        self.host.update(config_option_update(config_options(self.options)))

    async def answer(self, blocks: Sequence[Block]) -> str:
        """Run one prompt to its end and return ACP's stop reason."""
        await self.idleness.end()
        try:
            return await self._answer(blocks)
        finally:
            self.idleness.begin()

    async def _answer(self, blocks: Sequence[Block]) -> str:
        self._show_notices()
        if invocation := find_command(text_of(blocks)):
            await self._run_command(invocation)
            return "end_turn"
        message = await read_prompt(blocks, self.conversation.workspace, self.host.emit)
        self._give_title(text_of(blocks))
        result = await run_turn(self.agent(self.options.model), self.conversation, message, self.host)
        return _stop_reason(result.stop)

    async def _run_command(self, invocation: Invocation) -> None:
        journal = self.conversation.journal
        stage = RecordedHost(self.host, journal)
        journal.begin_turn()
        stage.record(UserPrompted(_said(invocation), new_id("msg")))
        stage.emit(TextDelta(await invocation.command.run(self, invocation.argument), new_id("msg")))
        stage.flush()
        await journal.commit(durable=True)

    def _show_notices(self) -> None:
        for notice in self.notices:
            self.host.emit(notice)
        self.notices.clear()

    def _give_title(self, text: str) -> None:
        words = " ".join(text.split())
        if self.title or not words:
            return
        self.title = shorten(words, TITLE_CHARACTERS)
        self.conversation.journal.update(title=self.title)
        self.host.update(session_info_update(title=self.title, updated_at=utc_now()))


def _said(invocation: Invocation) -> UserMessage:
    return user(f"/{invocation.command.name} {invocation.argument}".strip())


def _stop_reason(stop: Stop) -> str:
    if stop == "partial":
        raise HermesError("The model gave no usable answer three times in a row.")
    return stop
