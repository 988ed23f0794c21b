"""The `delegate_task` tool: tasks for agents of their own, whose last words are the result."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from pydantic import Field, WithJsonSchema

from hermes_acp.agent.recording import RecordedHost
from hermes_acp.agent.subagents import Delegation, Ending, Words
from hermes_acp.agent.tools.desk import Desk
from hermes_acp.agent.tools.todo import make_for_subagent
from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.host import Host
from hermes_acp.messages import UserMessage, user
from hermes_acp.text import head_and_tail, shorten, visible
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext

MOST_TASKS = 3
TASK_CHARACTERS = 20_000
ENDING_CHARACTERS = 12_000

_PROMPT = """\
You are given one task by another agent. Your last message goes back to it and is all that it reads: give the result \
there, with the paths and facts it needs. Nobody answers questions: decide, and say what you assumed.

# Task
{goal}"""


class Task(Params):
    goal: str = ""
    context: str = ""


_FIELDS = {"goal": {"type": "string"}, "context": {"type": "string"}}
_TASKS = {
    "type": "array",
    "maxItems": MOST_TASKS,
    "items": {"type": "object", "properties": _FIELDS, "required": ["goal"]},
}


class DelegateTask(Params):
    """Give a task to a subagent, or up to three that do not depend on each other to run at once (tasks). It starts
    afresh: it sees its goal and context and nothing of this conversation, has your tools except this one, clarify and
    memory, and answers with its last message. For searches through much text and for work that divides; not for what
    a few calls do."""

    goal: str = ""
    context: str = ""
    tasks: Annotated[list[Task], WithJsonSchema(_TASKS)] = Field([])


def make(desk: Desk) -> Tool:
    """The tool of one session. Its own effect is none: what subagents do is judged call by call."""
    return Tool(
        name="delegate_task",
        toolset="agent",
        kind="other",
        label="Delegate",
        params=DelegateTask,
        effect="read",
        prepare=partial(_prepare, desk),
        # Subagents ask and edit, so no other call of the reply may run beside this one.
        interactive=True,
    )


async def _prepare(desk: Desk, args: DelegateTask, context: ToolContext) -> Action:
    tasks = _tasks(args)
    first = shorten(visible(" ".join(tasks[0].goal.split())), 100)
    title = f"Delegate: {first}" if len(tasks) == 1 else f"Delegate {len(tasks)} tasks"
    return Action(title, partial(_run, desk, tasks, context), "read")


def _tasks(args: DelegateTask) -> list[Task]:
    if args.goal.strip() and args.tasks:
        raise ToolError("Give either goal or tasks, not both.")
    tasks = args.tasks or [Task(goal=args.goal, context=args.context)]
    if len(tasks) > MOST_TASKS:
        raise ToolError(f"{len(tasks)} tasks are too many: at most {MOST_TASKS} run at once.")
    for number, task in enumerate(tasks, 1):
        if not task.goal.strip():
            raise ToolError(f"Task {number} has no goal. Say what is to be done, and give what must be known for it.")
        if len(task.goal) + len(task.context) > TASK_CHARACTERS:
            raise ToolError(f"Task {number} is longer than {TASK_CHARACTERS} characters; name files instead.")
    return tasks


async def _run(desk: Desk, tasks: Sequence[Task], context: ToolContext) -> ToolResult:
    audience, words = _audience(context.host), Words(context.show)
    delegation = Delegation(desk.talk, desk.agent(), context.call_id, audience, words, _own_tools)
    endings = await delegation.run([_prompt(task) for task in tasks])
    return ToolResult(_described(tasks, endings), is_error=all(ending.failed for ending in endings))


def _own_tools() -> dict[str, Tool]:
    return {"todo": make_for_subagent()}


def _audience(host: Host) -> Host:
    """Who is shown the subagents' cards: what of them is recorded, their own record notes."""
    return host.audience if isinstance(host, RecordedHost) else host


def _prompt(task: Task) -> UserMessage:
    context = f"\n\n# Context\n{task.context.strip()}" if task.context.strip() else ""
    return user(_PROMPT.format(goal=task.goal.strip()) + context)


def _described(tasks: Sequence[Task], endings: Sequence[Ending]) -> str:
    texts = [head_and_tail(ending.text, ENDING_CHARACTERS) for ending in endings]
    if len(texts) == 1:
        return texts[0]
    goals = [shorten(" ".join(task.goal.split()), 100) for task in tasks]
    parts = zip(range(1, len(texts) + 1), goals, texts, strict=True)
    return "\n\n".join(f"## [{number}] {goal}\n{text}" for number, goal, text in parts)
