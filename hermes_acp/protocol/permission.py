"""Approval over ACP: the question with its four choices, and what an answer means."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from hermes_acp.agent.trust import TRUST
from hermes_acp.host import Answer, ApprovalRequest, Decision
from hermes_acp.protocol import outbound
from hermes_acp.protocol.errors import Disconnected, RemoteError
from hermes_acp.protocol.peer import Peer
from hermes_acp.protocol.updates import diff_content, locations, text_content
from hermes_acp.text import visible

_DECISIONS: tuple[Decision, ...] = ("allow_once", "allow_always", "reject_once", "reject_always")
_ONCE: tuple[Decision, ...] = ("allow_once", "reject_once")


async def ask_permission(peer: Peer, session_id: str, request: ApprovalRequest, timeout: float) -> Answer:
    """Ask the person through the editor.

    Args:
        peer: the editor's connection.
        session_id: the session that asks.
        request: exactly what is asked for.
        timeout: seconds to wait for the answer; 0 waits for ever.

    Returns:
        The answer. An option that was not offered is a rejection; an editor that cannot ask, fails or
        stays silent for `timeout` makes it "unavailable" (ACP: permission; spec: fails closed).
    """
    params = permission_params(session_id, request)
    try:
        async with asyncio.timeout(timeout or None):
            result = await peer.request("session/request_permission", params)
    except TimeoutError:
        return Answer("unavailable", f"No answer came within {timeout:g} seconds.")
    except RemoteError as error:
        return Answer("unavailable", f"The editor answered with an error: {error}")
    except Disconnected:
        return Answer("unavailable", "The editor has gone.")
    return read_answer(result, _offered(request))


def permission_params(session_id: str, request: ApprovalRequest) -> dict[str, Any]:
    """The params of `session/request_permission`; the card shows the exact bytes that will take effect."""
    options = [
        outbound.permission_option(decision, _label(decision, request), decision) for decision in _offered(request)
    ]
    card = outbound.permission_card(
        request.call_id,
        title=visible(request.title),
        kind=request.kind,
        status="pending",
        content=_shown(request),
        locations=locations(request.locations),
        raw_input=_raw(request),
    )
    return outbound.request_permission(session_id, card, options)


def _offered(request: ApprovalRequest) -> tuple[Decision, ...]:
    return _DECISIONS if request.always else _ONCE


def read_answer(result: Any, offered: tuple[Decision, ...] = _DECISIONS) -> Answer:
    """What the editor's result means."""
    outcome = result.get("outcome") if isinstance(result, dict) else None
    if not isinstance(outcome, dict):
        return Answer("unavailable", "The editor's answer could not be read.")
    if outcome.get("outcome") == "cancelled":
        return Answer("cancelled")
    chosen = outcome.get("optionId")
    decision = next((decision for decision in offered if decision == chosen), None)
    if outcome.get("outcome") != "selected" or decision is None:
        return Answer("reject_once", "The editor chose an option that was not offered.")
    return Answer(decision)


_OF_TRUST: Mapping[Decision, str] = {
    "allow_once": "Use them in this session",
    "allow_always": "Trust them as they are",
    "reject_once": "Not now",
    "reject_always": "Never, and do not ask again",
}


def _label(decision: Decision, request: ApprovalRequest) -> str:
    if request.tool == TRUST:
        return _OF_TRUST[decision]
    if request.effect == "switch_mode":
        return "Yes, carry it out" if decision == "allow_once" else "No, keep planning"
    match decision:
        case "allow_once":
            return "Allow once"
        case "allow_always":
            return f"Allow {request.always} for this session"
        case "reject_once":
            return "Reject"
        case _:
            return f"Reject {request.always} for this session"


def _shown(request: ApprovalRequest) -> list[dict[str, Any]]:
    """The edits or the command, and why it is asked; no character can hide another."""
    reason = outbound.text_content(visible(request.reason))
    if request.diffs:
        return [*diff_content(request.diffs), reason]
    if request.effect == "switch_mode":
        return [outbound.text_content(visible(str(request.arguments.get("plan", "")))), reason]
    if request.effect in ("call", "query"):
        return [*text_content(visible(_written(request.arguments))), reason]
    if request.command:
        where = outbound.text_content(visible(f"{request.reason} In `{request.cwd}`."))
        return [*text_content(visible(request.command)), where]
    return [reason]


def _written(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False, indent=2, default=str)


def _raw(request: ApprovalRequest) -> dict[str, Any]:
    """What the card was told already, and for a command what would run, with nothing hidden, and where."""
    if request.command:
        return {**request.arguments, "command": visible(request.command), "cwd": visible(request.cwd)}
    return dict(request.arguments)
