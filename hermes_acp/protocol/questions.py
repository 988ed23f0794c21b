"""The model's questions over ACP: a form, else a choice among permission options, else none."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from hermes_acp.errors import TurnCancelled
from hermes_acp.host import Question
from hermes_acp.protocol import outbound
from hermes_acp.protocol.errors import Disconnected, RemoteError
from hermes_acp.protocol.peer import Peer
from hermes_acp.text import clean, plain

DECLINED = "The user declined to answer."

IN_CHAT = "chat"
"""The option that answers nothing: an editor that takes the first one by itself has decided nothing."""

_log = logging.getLogger(__name__)


async def ask_by_form(peer: Peer, session_id: str, question: Question, timeout: float) -> str | None:
    """Ask with an `elicitation/create` form, which takes an answer in the person's own words as well.

    Args:
        peer: the editor's connection.
        session_id: the session that asks.
        question: what is asked.
        timeout: seconds to wait for the answer; 0 waits for ever.

    Returns:
        The answer, or that it was declined. None when the form was closed or the editor has no usable answer.
    """
    return read_form(question, await _ask(peer, "elicitation/create", form_params(session_id, question), timeout))


async def ask_by_choice(peer: Peer, session_id: str, question: Question, timeout: float) -> str | None:
    """Ask for one of the question's choices with a `session/request_permission`; arguments as `ask_by_form`.

    Returns:
        The choice; None when the person will answer in the chat, or the editor has no usable answer.

    Raises:
        TurnCancelled: the editor says that the turn was cancelled (ACP, RequestPermissionOutcome).
    """
    params = choice_params(session_id, question)
    return read_choice(question, await _ask(peer, "session/request_permission", params, timeout))


def form_params(session_id: str, question: Question) -> dict[str, Any]:
    """The params of `elicitation/create`."""
    if not question.choices:
        fields: dict[str, Any] = {"answer": {"type": "string", "title": "Answer"}}
        return _form(session_id, question, fields, ["answer"])
    offered = [{"const": choice, "title": plain(choice)} for choice in question.choices]
    fields = {
        "choice": {"type": "string", "title": "Answer", "oneOf": offered},
        "answer": {"type": "string", "title": "Another answer", "description": "In your own words"},
    }
    return _form(session_id, question, fields, [])


def read_form(question: Question, result: Any) -> str | None:
    """What the editor's result means. What it holds is checked again: a form need not have been filled rightly."""
    action, content = _member(result, "action"), _member(result, "content")
    if action == "decline":
        return DECLINED
    if action != "accept":
        return None
    choice, own = _member(content, "choice"), _member(content, "answer")
    given = [choice] if choice in question.choices else []
    if isinstance(own, str) and own.strip():
        given.append(clean(own.strip()))
    return "\n".join(given) or None


def choice_params(session_id: str, question: Question) -> dict[str, Any]:
    """The params of `session/request_permission`: none of the options is an "always"."""
    card = outbound.permission_card(question.call_id, title=plain(question.text), kind="other")
    options = [outbound.permission_option(IN_CHAT, "I'll answer in chat", "allow_once")]
    options += [
        outbound.permission_option(_option(number), plain(choice), "allow_once")
        for number, choice in enumerate(question.choices)
    ]
    return outbound.request_permission(session_id, card, options)


def read_choice(question: Question, result: Any) -> str | None:
    """What the editor's result means.

    Raises:
        TurnCancelled: it says that the turn was cancelled.
    """
    outcome = _member(result, "outcome")
    if _member(outcome, "outcome") == "cancelled":
        raise TurnCancelled("Cancelled by the user.")
    chosen = _member(outcome, "optionId") if _member(outcome, "outcome") == "selected" else None
    return next((choice for number, choice in enumerate(question.choices) if _option(number) == chosen), None)


async def _ask(peer: Peer, method: str, params: dict[str, Any], timeout: float) -> Any:
    """The editor's result; None when it has none in time."""
    try:
        async with asyncio.timeout(timeout or None):
            return await peer.request(method, params)
    except (TimeoutError, RemoteError, Disconnected) as error:
        _log.info("%s was not answered: %s", method, error)
        return None


def _form(session_id: str, question: Question, fields: dict[str, Any], required: list[str]) -> dict[str, Any]:
    message = plain(question.text)
    return outbound.elicitation_form(session_id, message, fields, required=required, call_id=question.call_id)


def _option(number: int) -> str:
    return f"choice_{number + 1}"


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
