"""A chat from its first line to the end of the terminal."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import sys
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from prompt_toolkit.input import Input, create_input
from prompt_toolkit.output import Output
from prompt_toolkit.output.vt100 import Vt100_Output

from hermes_acp.chat.chat import OWN, Chat
from hermes_acp.chat.completion import Typing
from hermes_acp.chat.history import TypedHistory
from hermes_acp.chat.host import TerminalHost
from hermes_acp.chat.plain import PlainScreen
from hermes_acp.chat.screen import Screen, Shown
from hermes_acp.chat.session import ChatSession
from hermes_acp.chat.surface import Doings, Surface
from hermes_acp.events import Severity
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.environment import be_private, mask_own
from hermes_acp.local.threads import DaemonThreads
from hermes_acp.settings.edit import store_rules
from hermes_acp.settings.logs import log_to
from hermes_acp.talk.setup import Setup
from hermes_acp.talk.talk import Talk

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where a chat takes place. `dumb`: it cannot move the cursor."""

    input: Input
    output: Output
    colour: bool
    dumb: bool = False


def run(read: Callable[[], Setup], session_id: str | None) -> int:
    """Chat until the person leaves or the terminal goes; the exit status.

    Args:
        read: reads the settings, also anew later.
        session_id: the session to go on with; None begins one.

    Raises:
        HermesError: the chat could not begin.
    """
    mask_own()
    be_private()
    return asyncio.run(converse(read, session_id, _this_terminal(os.environ)))


async def converse(read: Callable[[], Setup], session_id: str | None, terminal: Terminal) -> int:
    """As `run`, in a terminal that is given."""
    asyncio.get_running_loop().set_default_executor(DaemonThreads())
    setup = read()
    talk = _chat(read, setup, terminal)
    log_to(setup.settings, _Shown(talk))
    _heed_signals(talk)
    talk.begin(session_id)
    try:
        await talk.screen.run(terminal.input, terminal.output)
    except (EOFError, OSError) as error:
        log.info("The terminal has gone: %s", error)
    finally:
        await talk.aclose()
    _say_how_to_go_on(talk)
    return 0


def _chat(read: Callable[[], Setup], setup: Setup, terminal: Terminal) -> Chat:
    home = setup.settings.home
    doings = Doings(
        lambda text: chat.submit(text), lambda: chat.interrupt(), lambda: chat.leave(), lambda: host.show_call(1)
    )
    screen: Surface = (
        PlainScreen(doings, lambda: chat.busy)
        if terminal.dumb
        else Screen(
            doings,
            Shown(lambda: host.live is not None, lambda pen, rows: chat.live(pen, rows), lambda: chat.bar_text()),
            Typing(lambda: chat.offers(), lambda: chat.session.folder),
            TypedHistory(home.state and home.state / "chat-history.jsonl"),
            terminal.colour,
        )
    )
    host = TerminalHost(screen)
    if home.config_file:
        host.keep = partial(store_rules, home.config_file)
    chat = Chat(
        host,
        begin_session=partial(_session, read, host),
        impatient=setup.settings.config.agent.busy_prompt != "queue",
    )
    host.used = partial(setattr, chat.bar, "usage")
    return chat


def _session(read: Callable[[], Setup], host: TerminalHost, session_id: str | None) -> ChatSession:
    setup = replace(read(), session_id=session_id)
    talk = Talk(setup, session_id or str(uuid.uuid4()), host.emit)
    return ChatSession(talk, host, lambda: replace(read(), session_id=session_id), OWN, changed=host.screen.refresh)


def _this_terminal(environ: Mapping[str, str]) -> Terminal:
    dumb = environ.get("TERM", "dumb").lower() in ("dumb", "unknown")
    output = Vt100_Output.from_pty(sys.stdout, term=environ.get("TERM"))
    # Where the cursor is need not be known, and asking leaves an answer behind when the program has ended.
    output.enable_cpr = False
    return Terminal(create_input(sys.stdin), output, colour=not environ.get("NO_COLOR"), dumb=dumb)


def _heed_signals(talk: Chat) -> None:
    """SIGTERM and SIGHUP are like the end of input, SIGINT like Ctrl-C."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, talk.leave)
    loop.add_signal_handler(signal.SIGINT, talk.interrupt)
    loop.set_exception_handler(partial(_note_or_leave, talk))


def _note_or_leave(talk: Chat, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in (errno.EIO, errno.EPIPE, errno.ENXIO, errno.EBADF):
        talk.leave()
    else:
        log.error("%s", context.get("message"), exc_info=error)


def _say_how_to_go_on(talk: Chat) -> None:
    opened = talk.session.talk.opened
    if opened is None or not opened.conversation.messages:
        return
    try:
        sys.stdout.write(f"To go on: hermes-acp-agent chat --resume {opened.conversation.id}\n")
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


class _Shown(logging.Handler):
    """Shows what would go to standard error as lines of the chat."""

    def __init__(self, talk: Chat) -> None:
        super().__init__()
        self._talk = talk
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        try:
            self._loop.call_soon_threadsafe(self._write, _severity(record.levelno), line)
        except RuntimeError:
            sys.stderr.write(f"{line}\n")

    def _write(self, severity: Severity, line: str) -> None:
        self._talk.host.say(self._talk.screen.pen.notice(severity, line))


def _severity(level: int) -> Severity:
    if level >= logging.ERROR:
        return "error"
    return "warning" if level >= logging.WARNING else "info"
