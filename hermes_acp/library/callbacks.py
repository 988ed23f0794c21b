"""The nine callbacks: turns what the agent tells and asks into calls of a program's functions."""

from __future__ import annotations

import asyncio
import difflib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from hermes_acp.agent.trust import TRUST
from hermes_acp.approval_rules import Rule
from hermes_acp.cards import Diff
from hermes_acp.errors import HermesError
from hermes_acp.events import (
    Event,
    ModelSwitched,
    Notice,
    ReasoningDelta,
    StatusChanged,
    StepFinished,
    TextDelta,
    ToolDrafted,
    ToolFinished,
    ToolOutput,
    ToolPrepared,
    ToolStarted,
)
from hermes_acp.host import Answer, ApprovalRequest, Decision, Question
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.library.calling import Calls, ask
from hermes_acp.tools.approval import lasting_rules

THINKING = "Thinking…"
"""What `thinking_callback` is told while the model is waited for."""

_SETTLED_SECONDS = 0.2
"""So long a question waits for the calls before it, so that it comes after the text that leads to it."""

_NOBODY = Answer("unavailable", "Nobody is present to be asked.")
_NOT_OFFERED = Answer("reject_once", "The answer was none of those that were offered.")

_DECISIONS: Mapping[str, Decision] = {
    "once": "allow_once",
    "session": "allow_always",
    "always": "allow_always",
    "deny": "reject_once",
}

_OF_TRUST: Mapping[str, Decision] = {**_DECISIONS, "session": "allow_once"}
"""What the answers mean for what a project brings: that is for the session, or for good."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Callbacks:
    """A program's functions, sync or async; see docs/library.md for what each is told and when."""

    tool_progress_callback: Callable[..., Any] | None = None
    thinking_callback: Callable[[str], Any] | None = None
    reasoning_callback: Callable[[str], Any] | None = None
    clarify_callback: Callable[[str, list[str] | None], str | Awaitable[str]] | None = None
    step_callback: Callable[[int, list[dict[str, Any]]], Any] | None = None
    stream_delta_callback: Callable[[str | None], Any] | None = None
    tool_gen_callback: Callable[[str], Any] | None = None
    status_callback: Callable[[str, str], Any] | None = None
    approval_callback: Callable[[Permission], str | Awaitable[str]] | None = None


@dataclass(frozen=True, slots=True)
class Permission:
    """What `approval_callback` is asked for: exactly what would be done, and why it is asked.

    `command` is the text to be run in `cwd` ("" when nothing is run), `diffs` the edits to be made, `arguments`
    what the model wrote.
    """

    tool: str
    title: str
    reason: str
    cwd: str
    command: str = ""
    diffs: tuple[Diff, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def diff(self) -> str:
        """The edits as a unified diff; "" when no file is changed."""
        return "".join(map(_unified, self.diffs))


@dataclass(slots=True)
class _Running:
    """A call of a tool, from the moment it is complete."""

    name: str
    arguments: Mapping[str, Any]
    began: float = 0.0


class CallbackHost:
    """Shows turns to the callbacks and asks them the questions.

    Nothing that a callback does delays a turn, except that an answer is waited for: `timeout` seconds at most, 0 for
    ever. `owner` is the loop of the turns (see `ASKING`). `loop` is where async callbacks run. `keep` writes rules that
    are to hold for good. `allow_contained`: whether, where nobody can be asked, what runs in a sandbox without the
    network is allowed.
    """

    def __init__(self, callbacks: Callbacks, owner: object, timeout: float = 0.0) -> None:
        self._callbacks = callbacks
        self._owner = owner
        self.timeout = timeout
        self.allow_contained = False
        self.loop: asyncio.AbstractEventLoop | None = None
        self.keep: Callable[[Sequence[Rule]], None] = lambda rules: None
        self._calls = Calls()
        self._message = ""
        self._thinking = False
        self._running: dict[str, _Running] = {}

    def emit(self, event: Event) -> None:
        match event:
            case TextDelta(text, message_id):
                self._begin_message(message_id)
                self._tell(self._callbacks.stream_delta_callback, text)
            case ReasoningDelta(text):
                self._tell(self._callbacks.reasoning_callback, text)
            case ToolDrafted(name=name):
                self._stop_thinking()
                self._tell(self._callbacks.tool_gen_callback, name)
            case ToolPrepared(call_id, name, arguments=arguments):
                self._end_message()
                self._running[call_id] = _Running(name, dict(arguments))
            case ToolStarted() | ToolOutput() | ToolFinished():
                self._progress(event)
            case StatusChanged(kind, text):
                self._change_status(kind, text)
            case StepFinished(api_calls, tools=tools):
                self._end_message()
                outcomes = [{"name": tool.name, "is_error": tool.is_error} for tool in tools]
                self._tell(self._callbacks.step_callback, api_calls, outcomes)
            case ModelSwitched(model, reason):
                log.warning("%s answers from here on: %s", model, reason)
            case Notice(severity, title, text):
                log.log(logging.INFO if severity == "info" else logging.WARNING, "%s: %s", title, text)

    async def ready(self) -> None:
        """A slow callback is not waited for; what it is to be told waits in memory."""

    async def approve(self, request: ApprovalRequest) -> Answer:
        callback = self._callbacks.approval_callback
        if callback is None:
            return Answer("allow_once") if self.allow_contained and request.contained else _NOBODY
        try:
            async with asyncio.timeout(self.timeout or None):
                said = await self._ask(callback, _permission(request))
        except TimeoutError:
            return Answer("unavailable", "No answer came in time.")
        except Exception:
            log.warning("The approval_callback failed, so %s is denied", request.tool, exc_info=True)
            return Answer("unavailable", "The question could not be put.")
        if said == "always" and request.tool != TRUST:
            await self._keep_for_good(request)
        return _read_answer(said, _OF_TRUST if request.tool == TRUST else _DECISIONS)

    async def _keep_for_good(self, request: ApprovalRequest) -> None:
        try:
            await asyncio.to_thread(self.keep, lasting_rules(request))
        except (HermesError, OSError) as error:
            log.warning("The answer holds for this session only, since the rule could not be written: %s", error)

    async def clarify(self, question: Question) -> str | None:
        callback = self._callbacks.clarify_callback
        if callback is None:
            return None
        try:
            async with asyncio.timeout(self.timeout or None):
                said = await self._ask(callback, question.text, list(question.choices) or None)
        except TimeoutError:
            log.warning("The clarify_callback gave no answer in time")
            return None
        except Exception:
            log.warning("The clarify_callback failed, so the question is not answered", exc_info=True)
            return None
        return said if isinstance(said, str) else None

    async def settle(self, seconds: float) -> None:
        """The turn has ended: wait until the callbacks have been told of it, but no longer than that."""
        self._end_message()
        self._stop_thinking()
        self._running.clear()
        await self._calls.drained(seconds)

    def close(self) -> None:
        """Let the thread of the callbacks end once it has told everything."""
        self._calls.close()

    def _begin_message(self, message_id: str) -> None:
        if self._message != message_id:
            self._end_message()
            self._stop_thinking()
            self._message = message_id

    def _end_message(self) -> None:
        if self._message:
            self._message = ""
            self._tell(self._callbacks.stream_delta_callback, None)

    def _change_status(self, kind: str, text: str) -> None:
        if kind in ("thinking", "executing", "budget", "idle"):
            self._end_message()
        if kind in ("executing", "idle"):
            self._stop_thinking()
        if kind == "thinking" and not self._thinking:
            self._thinking = True
            self._tell(self._callbacks.thinking_callback, THINKING)
        self._tell(self._callbacks.status_callback, kind, text)

    def _stop_thinking(self) -> None:
        if self._thinking:
            self._thinking = False
            self._tell(self._callbacks.thinking_callback, "")

    def _progress(self, event: ToolStarted | ToolOutput | ToolFinished) -> None:
        call = self._running.get(event.call_id)
        function = self._callbacks.tool_progress_callback
        if call is None or function is None:
            return
        known = (call.name, event.call_id, dict(call.arguments))
        match event:
            case ToolStarted():
                call.began = time.monotonic()
                self._tell(function, "started", *known, "", False, 0.0)
            case ToolOutput(call_id, text):
                told = ("output", *known, text, False, time.monotonic() - call.began)
                self._calls.put_latest(call_id, self._home(), function, *told)
            case ToolFinished(result=result, duration_s=duration):
                self._running.pop(event.call_id)
                self._tell(function, "finished", *known, result.text, result.is_error, duration)

    def _tell(self, function: Callable[..., Any] | None, *args: Any) -> None:
        if function is not None:
            self._calls.put(self._home(), function, *args)

    async def _ask(self, function: Callable[..., Any], *args: Any) -> Any:
        await self._calls.drained(_SETTLED_SECONDS)
        return await ask(self._owner, self._home(), function, *args)

    def _home(self) -> asyncio.AbstractEventLoop:
        return self.loop or asyncio.get_running_loop()


def _permission(request: ApprovalRequest) -> Permission:
    return Permission(
        tool=request.tool,
        title=request.title,
        reason=request.reason,
        cwd=request.cwd,
        command=request.command,
        diffs=request.diffs,
        arguments=dict(request.arguments),
    )


def _read_answer(said: Any, decisions: Mapping[str, Decision]) -> Answer:
    """What an answer means; everything but the words that were offered is a denial."""
    decision = decisions.get(said) if isinstance(said, str) else None
    if decision is None:
        log.warning("The approval_callback answered neither of %s, so nothing is done", ", ".join(_DECISIONS))
        return _NOT_OFFERED
    return Answer(decision)


def _unified(diff: Diff) -> str:
    old, new = (diff.old_text or "").splitlines(keepends=True), diff.new_text.splitlines(keepends=True)
    before = "/dev/null" if diff.old_text is None else diff.path
    lines = difflib.unified_diff(old, new, before, diff.path)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
