"""The `leave_plan_mode` tool: the plan is shown, and the person says whether it is to be carried out."""

from __future__ import annotations

from functools import partial

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.tools.desk import Desk
from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext

PLAN_CHARACTERS = 20_000


class LeavePlanMode(Params):
    """The session is in plan mode: nothing may be changed or run. Once you know what is to be done, and it needs
    changes or commands, show the plan with this; the user is asked whether to carry it out."""

    plan: str


def make(desk: Desk) -> Tool:
    """The tool of one session, offered in plan mode alone."""
    return Tool(
        name="leave_plan_mode",
        toolset="agent",
        kind="switch_mode",
        label="Leave plan mode",
        params=LeavePlanMode,
        effect="switch_mode",
        prepare=partial(_prepare, desk.talk),
        interactive=True,
    )


async def _prepare(talk: Conversation, args: LeavePlanMode, context: ToolContext) -> Action:
    if not args.plan.strip():
        raise ToolError("The plan is empty: say what you will do.")
    if len(args.plan) > PLAN_CHARACTERS:
        raise ToolError(f"The plan is longer than {PLAN_CHARACTERS} characters; show a shorter one.")
    return Action("Leave plan mode", partial(_leave, talk), "switch_mode")


async def _leave(talk: Conversation) -> ToolResult:
    """In mode ask every change is asked about: who agrees to a plan has not agreed to each step."""
    talk.enter_mode("ask")
    return ToolResult("The user agrees. The session is in mode ask now: carry out the plan; what changes things asks.")
