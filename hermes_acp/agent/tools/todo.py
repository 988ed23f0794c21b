"""The `todo` tool: the model's own list of tasks, which the person sees as the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Annotated, get_args

from pydantic import WithJsonSchema

from hermes_acp.agent.tools.desk import Desk
from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.events import PlanChanged, PlanEntry, PlanStatus
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import counted, shorten
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext

MOST_TASKS = 100
TASK_CHARACTERS = 500

Plan = tuple[PlanEntry, ...]


class Task(Params):
    id: str = ""
    content: str = ""
    status: PlanStatus | None = None


_TASKS = {
    "type": "array",
    "description": "pending at first; merge needs only id and what changes",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "content": {"type": "string"},
            "status": {"type": "string", "enum": list(get_args(PlanStatus))},
        },
        "required": ["id"],
    },
}
"""What the model is shown in place of pydantic's references and nulls, which small servers do not all read."""


class TodoParams(Params):
    """Keep a task list for work of several steps; the user sees it as the plan. Writes the whole list, or with
    merge=true changes and adds the tasks given, by id. Keep one task in_progress, and mark each completed as soon
    as it is. Without todos it shows the list. The result is the whole list."""

    todos: Annotated[list[Task] | None, WithJsonSchema(_TASKS)] = None
    merge: bool = False


@dataclass(slots=True)
class _Tasks:
    """One list; `stored` gives what was shown last, before this program began."""

    stored: Callable[[], Awaitable[Plan]]
    _plan: Plan | None = None

    async def read(self) -> Plan:
        """The list as it is now."""
        if self._plan is None:
            stored = await self.stored()
            # Another call of the same step may have written meanwhile.
            self._plan = stored if self._plan is None else self._plan
        return self._plan

    def write(self, plan: Plan, context: ToolContext) -> None:
        """Show the list, which also keeps it."""
        self._plan = plan
        context.host.emit(PlanChanged(plan))


def make(desk: Desk) -> Tool:
    """The tool of one session. The transcript keeps the list: it is the plan that was shown last."""
    return _tool(_Tasks(lambda: desk.store.plan(desk.talk.id)))


def make_for_subagent() -> Tool:
    """The tool of a subagent, whose list ends with its task and is shown nowhere."""

    async def nothing() -> Plan:
        return ()

    return _tool(_Tasks(nothing))


def _tool(tasks: _Tasks) -> Tool:
    async def prepare(args: TodoParams, context: ToolContext) -> Action:
        async def run() -> ToolResult:
            plan = await tasks.read()
            if args.todos is not None:
                plan = merged(plan, args.todos) if args.merge else whole(args.todos)
                tasks.write(plan, context)
            return ToolResult(described(plan))

        return Action("Look at the task list" if args.todos is None else "Update the task list", run, "read")

    return Tool("todo", "agent", "think", "Task list", TodoParams, "read", prepare)


def whole(tasks: Sequence[Task]) -> Plan:
    """The list that the tasks are; those without an id are called by their number.

    Raises:
        ToolError: two have one id, one says nothing, or there are too many.
    """
    named = [task if task.id.strip() else task.model_copy(update={"id": str(at)}) for at, task in enumerate(tasks, 1)]
    return _checked([_added(task) for task in named])


def merged(plan: Plan, tasks: Sequence[Task]) -> Plan:
    """The list with the tasks of known ids changed, in their places, and the others added at its end.

    Raises:
        ToolError: as `whole`, or a task has no id.
    """
    if any(not task.id.strip() for task in tasks):
        raise ToolError(f"To merge, give every task its id. {_known(plan)} Nothing was changed.")
    _refuse_twins(task.id.strip() for task in tasks)
    changes = {task.id.strip(): task for task in tasks}
    kept = [_changed(entry, changes.pop(entry.id, None)) for entry in plan]
    for task in changes.values():
        if not task.content.strip():
            raise ToolError(f"There is no task {task.id!r}, and a new one needs content. {_known(plan)}")
    return _checked([*kept, *map(_added, changes.values())])


def described(plan: Plan) -> str:
    """The whole list as the model reads it, with counts."""
    counts = Counter(entry.status for entry in plan)
    told = ", ".join(f"{counts[status]} {status}" for status in get_args(PlanStatus) if counts[status])
    lines = [f"- [{entry.status}] {entry.id}: {entry.content}" for entry in plan]
    return "\n".join([f"{counted(len(plan), 'task')}: {told}" if plan else "The list is empty.", *lines])


def _added(task: Task) -> PlanEntry:
    return PlanEntry(task.content.strip(), task.status or "pending", id=task.id.strip())


def _changed(entry: PlanEntry, task: Task | None) -> PlanEntry:
    if task is None:
        return entry
    return replace(entry, content=task.content.strip() or entry.content, status=task.status or entry.status)


def _checked(entries: Sequence[PlanEntry]) -> Plan:
    if len(entries) > MOST_TASKS:
        raise ToolError(f"A list of {len(entries)} tasks is too long: at most {MOST_TASKS}. Nothing was changed.")
    _refuse_twins(entry.id for entry in entries)
    for entry in entries:
        if not entry.content:
            raise ToolError(f"Task {entry.id!r} has no content. Say what is to be done. Nothing was changed.")
        if len(entry.content) > TASK_CHARACTERS:
            raise ToolError(f"Task {entry.id!r} is longer than {TASK_CHARACTERS} characters. Nothing was changed.")
    return tuple(entries)


def _refuse_twins(ids: Iterable[str]) -> None:
    twins = sorted(id_ for id_, count in Counter(ids).items() if count > 1)
    if twins:
        raise ToolError(f"More than one task has the id {twins[0]!r}. Give each its own. Nothing was changed.")


def _known(plan: Plan) -> str:
    if not plan:
        return "The list is empty."
    return f"The ids are: {', '.join(shorten(entry.id, 40) for entry in plan)}."
