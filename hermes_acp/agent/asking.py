"""Whether a call may take effect: by the rules of its conversation, or by the person's word."""

from __future__ import annotations

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.recording import RecordedHost
from hermes_acp.agent.segments import Resolved
from hermes_acp.errors import TurnCancelled
from hermes_acp.host import Answer, ApprovalRequest
from hermes_acp.tools.approval import describe_always
from hermes_acp.tools.base import Action

CANCELLED = "Cancelled by the user."


async def refusal_of(entry: Resolved, action: Action, talk: Conversation, host: RecordedHost) -> str:
    """Why the action may not take effect, "" when it may.

    Raises:
        TurnCancelled: the person answered the question by cancelling.
    """
    verdict = talk.approvals.judge(entry.tool.name, action, talk.workspace.roots)
    if verdict.decision == "allow":
        return ""
    if verdict.decision == "deny":
        return verdict.reason
    await host.stored()
    answer = await host.approve(_question(entry, action, verdict.reason, str(talk.workspace.cwd)))
    talk.approvals.remember(entry.tool.name, action, answer.decision, talk.workspace.cwd)
    return _told(answer)


def _question(entry: Resolved, action: Action, reason: str, cwd: str) -> ApprovalRequest:
    return ApprovalRequest(
        call_id=entry.call.id,
        tool=entry.tool.name,
        title=action.title,
        kind=entry.tool.kind,
        effect=action.effect,
        reason=" ".join(filter(None, (reason, action.where))),
        cwd=cwd,
        command=action.command,
        contained=action.contained,
        arguments=entry.call.arguments,
        diffs=action.diffs,
        locations=action.locations,
        always=describe_always(entry.tool.name, action),
    )


def _told(answer: Answer) -> str:
    match answer.decision:
        case "allow_once" | "allow_always":
            return ""
        case "cancelled":
            raise TurnCancelled(CANCELLED)
        case "unavailable":
            return f"Permission could not be asked for, so nothing was done. {answer.comment}".strip()
        case _:
            said = f' They said: "{answer.comment}".' if answer.comment else ""
            return f"The user rejected this.{said} It was not done; do not try it another way unless asked to."
