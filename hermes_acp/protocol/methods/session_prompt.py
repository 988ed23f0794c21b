"""session/prompt: one turn, answered when it has ended and all its updates are out."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from hermes_acp.agent.turns import Ticket
from hermes_acp.commands.builtin import find_command, is_stop
from hermes_acp.errors import HermesError, SessionNotFound, TurnCancelled
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.protocol.app import App
from hermes_acp.protocol.content import is_blank, text_of
from hermes_acp.protocol.errors import invalid_params
from hermes_acp.protocol.inbound import PromptParams
from hermes_acp.protocol.routes import Call, Route
from hermes_acp.protocol.session import Session

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A prompt that has its place in a session's queue."""

    session: Session
    ticket: Ticket


def register(call: Call[App], params: PromptParams) -> None:
    """Take a place in the session's queue the moment the line is read, so that a cancel after it counts."""
    app = call.app
    session = app.sessions.find(params.session_id)
    if session is None:
        return
    if is_blank(params.prompt):
        raise invalid_params("prompt: it is empty")
    if _ends_others(session, text_of(params.prompt)):
        session.turns.cancel_all()
    ticket = session.turns.register()
    call.state = _Entry(session, ticket)
    call.on_cancel = ticket.cancel


def _ends_others(session: Session, text: str) -> bool:
    """Whether a prompt ends the turn that it meets: commands wait for it, but for /stop."""
    return is_stop(text) or (session.impatient and find_command(text) is None)


async def prompt(call: Call[App], params: PromptParams) -> dict[str, Any]:
    """Run the turn; a cancelled one is answered, never an error."""
    entry: _Entry | None = call.state
    if entry is None:
        raise SessionNotFound(params.session_id)
    session = entry.session
    try:
        stop = await session.turns.run(entry.ticket, lambda: session.answer(params.prompt))
    except (asyncio.CancelledError, TurnCancelled):
        stop = "cancelled"
    except HermesError as error:
        if not entry.ticket.cancelled:
            raise
        log.warning("a cancelled prompt failed: %s", error)
        stop = "cancelled"
    else:
        call.after(session.settle)
    finally:
        await session.host.caught_up()
    return {"stopReason": stop}


ROUTE = Route("session/prompt", PromptParams, prompt, received=register, cancels_itself=True)
