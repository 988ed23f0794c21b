"""The `clarify` tool: a question of the model to the person, in the middle of a turn."""

from __future__ import annotations

from pydantic import Field

from hermes_acp.agent.tools.desk import Desk
from hermes_acp.cards import ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.host import Question
from hermes_acp.text import shorten
from hermes_acp.tools.arguments import Params
from hermes_acp.tools.base import Action, Tool, ToolContext

MOST_CHOICES = 6
QUESTION_CHARACTERS = 2_000
CHOICE_CHARACTERS = 200

ASK_IN_ANSWER = (
    "The user has not answered here. If you cannot go on without knowing, put the question into your answer and end "
    "the turn: the next message will hold the reply."
)


class ClarifyParams(Params):
    """Ask the user when you cannot decide something yourself and a wrong guess would cost much. Never ask for
    passwords or keys."""

    question: str
    choices: list[str] = Field([], description=f"at most {MOST_CHOICES} short answers; the user may give another")


def make(desk: Desk) -> Tool:
    """The tool of one session."""
    return Tool("clarify", "agent", "other", "Question", ClarifyParams, "read", _prepare, interactive=True)


async def _prepare(args: ClarifyParams, context: ToolContext) -> Action:
    question = Question(context.call_id, args.question.strip(), _choices(args.choices))
    if not question.text:
        raise ToolError("The question is empty.")
    if len(question.text) > QUESTION_CHARACTERS:
        raise ToolError(f"The question is longer than {QUESTION_CHARACTERS} characters; ask a shorter one.")

    async def run() -> ToolResult:
        answer = await context.host.clarify(question)
        return ToolResult(answer if answer and answer.strip() else ASK_IN_ANSWER)

    return Action(shorten(" ".join(question.text.split()), 200), run, "read")


def _choices(written: list[str]) -> tuple[str, ...]:
    choices = tuple(dict.fromkeys(choice.strip() for choice in written if choice.strip()))
    if len(choices) > MOST_CHOICES:
        raise ToolError(f"{len(choices)} choices are too many: give at most {MOST_CHOICES}.")
    if any(len(choice) > CHOICE_CHARACTERS for choice in choices):
        raise ToolError(f"Each choice may have {CHOICE_CHARACTERS} characters; put the details into the question.")
    return choices
