"""The conversation of a person and the agent: what is typed becomes turns, one after the other."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import field
from typing import Any

from hermes_acp import __version__
from hermes_acp.agent.custom_commands import CustomCommand
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.turns import Ticket, Turns
from hermes_acp.chat.completion import Offer
from hermes_acp.chat.drawing import Pen, printable
from hermes_acp.chat.host import TerminalHost, chosen
from hermes_acp.chat.mentions import with_files
from hermes_acp.chat.session import REPLAYED_PROMPTS, ChatSession
from hermes_acp.chat.surface import Surface
from hermes_acp.commands.builtin import every_command, find_command, find_custom, is_stop, run_command
from hermes_acp.commands.unknown import unknown_command
from hermes_acp.errors import HermesError, TurnCancelled
from hermes_acp.events import UsageChanged
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.confidential import blotted
from hermes_acp.local.waiting import surely
from hermes_acp.messages import user
from hermes_acp.text import local_time

_GOODBYES = ("exit", "quit")
"""What people type who want to leave a program; alone in a line it is nothing else."""

TWICE_SECONDS = 2.0
"""A second Ctrl-C within so many seconds leaves."""

LEAVE_SECONDS = 5.0
"""So long the end waits for a turn to be closed."""

LISTED_SESSIONS = 15

OWN = (
    CustomCommand("resume", "Go on with an earlier session of this folder", "id", ""),
    CustomCommand("show", "Show the last call of a tool whole, or an earlier one (Ctrl-O: the last)", "number", ""),
    CustomCommand("quit", "Leave", "", ""),
)
"""The commands that only the chat has."""

_WAITS = "{} … comes after this turn; /stop ends it."

_STOPS = {
    "max_tokens": "The answer was cut: it is as long as the model may answer.",
    "max_turn_requests": "The turn has used up its model calls.",
    "refusal": "The model refused; your message is not part of the conversation.",
    "partial": "The model gave no usable answer three times in a row.",
}

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Bar:
    """The line at the bottom: the model, the mode, how full the context is. A hint stands in its place for a moment."""

    usage: UsageChanged | None = None
    hint: str = ""
    until: float = 0.0

    def text(self, model: str, mode: str) -> str:
        if self.hint and time.monotonic() < self.until:
            return self.hint
        words = [printable(model) or "no model yet", mode]
        if self.usage and self.usage.size:
            words.append(f"{100 * self.usage.used // self.usage.size} % of the context")
        if self.usage and self.usage.cost:
            words.append(f"${self.usage.cost:.2f}")
        return " · ".join(words)


@dataclass(slots=True)
class Chat:
    """One chat. `begin_session` makes the session of an id, or a new one for None."""

    host: TerminalHost
    begin_session: Callable[[str | None], ChatSession]
    impatient: bool = True
    session: ChatSession = field(init=False)
    bar: Bar = field(default_factory=Bar)
    _turns: Turns = field(default_factory=Turns)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _custom: Sequence[CustomCommand] = ()
    _serving: bool = False
    _interrupted: float = float("-inf")

    @property
    def screen(self) -> Surface:
        return self.host.screen

    @property
    def busy(self) -> bool:
        """Whether something runs or waits."""
        return self._turns.busy

    def begin(self, session_id: str | None) -> None:
        """Open the session while the person types already."""
        self.session = self.begin_session(session_id)
        folder = printable(str(self.session.folder))
        self.host.say(self.screen.pen.quiet(f"hermes-acp {__version__} · /help · Ctrl-D leaves\n{folder}"))
        self._enqueue(lambda: self._open(replaying=session_id is not None))

    def submit(self, text: str) -> None:
        """Take what the person has typed: it runs now, or after what runs."""
        name = text.split(maxsplit=1)[0].removeprefix("/") if text.startswith("/") else ""
        if name == "quit" or text.strip() in _GOODBYES:
            self.leave()
        elif name == "show":
            self._show(text.removeprefix("/show").strip())
        elif is_stop(text):
            self._stop()
        else:
            if self._serving and self.impatient and not self._is_command(text):
                self._turns.cancel_all()
            elif self._serving:
                self.host.say(self.screen.pen.quiet(_WAITS.format(text.split(maxsplit=1)[0][:40])))
            self._enqueue(lambda: self._serve(text))

    def interrupt(self) -> None:
        """Ctrl-C: once stops the turn, also at its question, or empties the line; twice leaves."""
        if self.screen.give_up():
            return
        again = time.monotonic() - self._interrupted < TWICE_SECONDS
        self._interrupted = time.monotonic()
        if again:
            self.leave()
            return
        if self._turns.busy:
            self._turns.cancel_all()
        else:
            self.screen.clear_input()
        self._hint("Ctrl-C again leaves")

    def leave(self) -> None:
        """End the chat."""
        self.screen.close()

    async def aclose(self) -> None:
        """Stop what runs, keep everything."""
        self._turns.cancel_all()
        try:
            async with asyncio.timeout(LEAVE_SECONDS):
                await asyncio.gather(*self._tasks, return_exceptions=True)
        except TimeoutError:
            log.warning("What ran could not be ended in time")
        await self.session.talk.aclose()

    def offers(self) -> list[Offer]:
        """The commands that can be typed."""
        return [Offer(each.name, each.description) for each in every_command([*OWN, *self._custom])]

    def live(self, pen: Pen, rows: int) -> str:
        """What moves now."""
        return self.host.live.draw(pen, rows) if self.host.live else ""

    def bar_text(self) -> str:
        """The line at the bottom."""
        return self.bar.text(self.session.model, self.session.mode)

    def _repeat(self, text: str) -> None:
        """Let it stand in the conversation what the person has said."""
        if not self.screen.keeps_typing:
            self.host.say(self.screen.pen.said(text))

    def _show(self, number: str) -> None:
        self._repeat(f"/show {number}".strip())
        known = number.isascii() and number.isdigit() and len(number) < 4
        self.host.show_call(int(number) if known else 0 if number else 1)

    def _stop(self) -> None:
        if not self._turns.busy:
            self.host.say(self.screen.pen.quiet("Nothing is running."))
        self._turns.cancel_all()

    def _is_command(self, text: str) -> bool:
        """Whether a text is for the chat itself, which then waits for the turn; so is a slip of the finger."""
        known = find_command(text) is not None or text.split(maxsplit=1)[0] in {f"/{own.name}" for own in OWN}
        return known or bool(unknown_command(text, self._names(), self.session.folder))

    def _names(self) -> list[str]:
        return [each.name for each in every_command([*OWN, *self._custom])]

    def _enqueue(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        task = asyncio.get_running_loop().create_task(self._run(self._turns.register(), work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, ticket: Ticket, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await self._turns.run(ticket, work)
        except (asyncio.CancelledError, TurnCancelled):
            if self._serving:
                self._close_turn()
                self.host.say(self.screen.pen.quiet("Interrupted."))
        except HermesError as error:
            self._fail(str(error))
        except Exception as error:
            log.exception("The turn failed in an unforeseen way")
            self._fail(f"An internal error ({type(error).__name__}); the log has more.")
        finally:
            self._close_turn()
            self._serving = False
            self.screen.refresh()

    def _fail(self, reason: str) -> None:
        self._close_turn()
        self.host.say(self.screen.pen.notice("error", " ".join(blotted(reason).split())))

    def _close_turn(self) -> None:
        if self.host.live is not None:
            self.host.end()

    async def _serve(self, text: str) -> None:
        self._serving = True
        self.host.begin()
        self._repeat(text)
        if text.split(maxsplit=1)[0] == "/resume":
            await self._resume(text.removeprefix("/resume").strip())
            return
        custom = await asyncio.to_thread(find_custom, text, self.session.home)
        if custom is None and (reason := unknown_command(text, self._names(), self.session.folder)):
            self.host.say(self.screen.pen.markdown(reason))
            return
        await self._open()
        if invocation := find_command(text):
            await run_command(self.session, invocation)
            return
        conversation = self.session.conversation
        said = text.lstrip() if text.lstrip().startswith("/") else text
        message = await with_files(custom.text() if custom else said, conversation.workspace)
        result = await self.session.answer(message, user(said))
        if remark := _STOPS.get(result.stop):
            self._close_turn()
            self.host.say(self.screen.pen.notice("warning", remark))

    async def _open(self, replaying: bool = False) -> None:
        await self.session.open()
        self.host.root = str(self.session.conversation.workspace.cwd)
        self.host.timeout = self.session.opened.approval_timeout
        self.host.switched = self.session.switch
        if told := self.session.opened.groundwork.where_commands_run():
            self.host.say(self.screen.pen.quiet(told))
        self._custom = (await self.session.custom_commands())[len(OWN) :]
        if replaying:
            await self._replay()
        self.screen.refresh()

    async def _replay(self) -> None:
        events, earlier = await self.session.shown_before()
        if earlier:
            self.host.say(self.screen.pen.quiet(f"{earlier} earlier prompts, then the last {REPLAYED_PROMPTS}:"))
        self.host.replay(events)
        self.host.say(self.screen.pen.quiet("You go on from here."))

    async def _resume(self, session_id: str) -> None:
        session_id = session_id or await self._choose_session()
        if not session_id:
            return
        store = self.session.talk.store
        record = await store.find(session_id)
        if record is None:
            raise HermesError(f"There is no session {session_id!r}.")
        before, self.session = self.session, self.begin_session(record.id)
        await surely(before.talk.aclose())
        self.bar.usage = None
        await self._open(replaying=True)

    async def _choose_session(self) -> str:
        folder = str(self.session.folder)
        found = await self.session.talk.store.list(folder, None, LISTED_SESSIONS)
        if not found:
            raise HermesError(f"There is no earlier session in {folder}.")
        self.host.say(self.screen.pen.question("Which session?", [_row(record) for record in found]))
        said = await self.screen.ask_line("a number, or Ctrl-C › ")
        ids = [record.id for record in found]
        return "" if said is None else chosen(said, ids)

    def _hint(self, text: str) -> None:
        if self.screen.keeps_typing:
            self.host.say(self.screen.pen.quiet(text))
            return
        self.bar.hint, self.bar.until = text, time.monotonic() + TWICE_SECONDS
        self.screen.refresh()
        asyncio.get_running_loop().call_later(TWICE_SECONDS, self.screen.refresh)


def _row(record: SessionRecord) -> str:
    return f"{local_time(record.updated_at)}  {printable(record.title) or record.id}"
