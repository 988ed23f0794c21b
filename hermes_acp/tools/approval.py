"""The one gate: what may take effect unasked, what is asked about, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import Literal

from hermes_acp.approval_rules import Rule
from hermes_acp.cards import Effect
from hermes_acp.config import Mode
from hermes_acp.host import ApprovalRequest, Decision
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.paths import inside
from hermes_acp.text import visible
from hermes_acp.tools.base import Action
from hermes_acp.tools.safety.paths import is_secret, steers_tools
from hermes_acp.tools.safety.rules import allowing, forbidding, literal, reaches

Subject = tuple[str, str, str]
"""What a remembered answer covers: (effect or tool, command or path, folder)."""


PLAN_MODE = "The session is in plan mode: nothing may be changed or run."
NO_PLAN_MODE = "The session is not in plan mode, so there is none to leave: what is allowed can be done."


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of an action, and why."""

    decision: Literal["allow", "ask", "deny"]
    reason: str = ""


@dataclass(slots=True)
class Approvals:
    """What one session has been told: its mode, and the answers that hold for the session or the turn.

    Never shared between sessions.
    """

    mode: Mode = "ask"
    rules: tuple[Rule, ...] = ()
    _granted: set[Subject] = field(default_factory=set)
    _refused: set[Subject] = field(default_factory=set)
    _refused_this_turn: set[Subject] = field(default_factory=set)
    _within: int = 0

    def begin_turn(self) -> None:
        """Forget what was refused for one turn only."""
        if not self._within:
            self._refused_this_turn.clear()

    @contextmanager
    def within_turn(self) -> Iterator[None]:
        """Turns of subagents are part of the turn that gave them their tasks: what was refused in it stays so."""
        self._within += 1
        try:
            yield
        finally:
            self._within -= 1

    def offers(self, effect: Effect) -> bool:
        """Whether tools of this effect are shown to the model in the present mode."""
        return not self.withheld(effect)

    def withheld(self, effect: Effect) -> str:
        """Why nothing of this effect may be done in the present mode, "" when it may."""
        if effect == "switch_mode":
            return "" if self.mode == "plan" else NO_PLAN_MODE
        return PLAN_MODE if self.mode == "plan" and effect not in ("read", "query") else ""

    def judge(self, tool: str, action: Action, roots: tuple[Path, ...]) -> Verdict:
        """Decide about one action of a tool; `roots` are the session's folders, its working folder first."""
        if withheld := self.withheld(action.effect):
            return Verdict("deny", withheld)
        if rule := forbidding(self.rules, "deny", tool, action, roots):
            return Verdict("deny", f"A rule forbids this: {rule.text}. Do not try it another way.")
        if _refusable(tool, action, roots[0]) & (self._refused | self._refused_this_turn):
            return Verdict("deny", "The user has rejected this already.")
        asking = forbidding(self.rules, "ask", tool, action, roots)
        reason = f"A rule says so: {asking.text}." if asking else self._unless_allowed(tool, action, roots)
        if not reason:
            return Verdict("allow")
        subjects = _grantable(tool, action, roots[0])
        if subjects and subjects <= self._granted:
            return Verdict("allow", "The user allowed this for the session.")
        return Verdict("ask", reason)

    def remember(self, tool: str, action: Action, decision: Decision, cwd: Path) -> None:
        """Keep what an answer says about later actions."""
        match decision:
            case "allow_always":
                self._granted |= _grantable(tool, action, cwd)
            case "reject_once":
                self._refused_this_turn |= _refusable(tool, action, cwd)
            case "reject_always":
                self._refused |= _refusable(tool, action, cwd)

    def granted(self) -> tuple[str, ...]:
        """In words, what the person has allowed for the session."""
        return tuple(sorted(map(_in_words, self._granted)))

    def forget(self) -> None:
        """Take back every answer that holds for the session."""
        self._granted.clear()
        self._refused.clear()
        self._refused_this_turn.clear()

    def _unless_allowed(self, tool: str, action: Action, roots: tuple[Path, ...]) -> str:
        """What is to be asked about: nothing where a rule allows it. No rule lets a file that looks secret, or that
        steers other programs, be touched unasked."""
        reason = self._concern(action, roots)
        if not reason or action.access.outside or not allowing(self.rules, tool, action, roots):
            return reason
        return _lasting_concern(action, roots, self.rules) if action.effect == "edit" else ""

    def _concern(self, action: Action, roots: tuple[Path, ...]) -> str:
        match action.effect:
            case "execute":
                return self._command_concern(action)
            case "edit":
                return self._edit_concern(action, roots)
            case "read":
                return _read_concern(action, roots)
            case "call":
                return "This calls a tool of an MCP server."
            case "query":
                return "This asks an MCP server, whose tool is said to change nothing."
            case "switch_mode":
                return "This leaves plan mode, for mode ask: what the plan changes is asked about step by step."
            case "stop" | "note":
                return ""

    def _command_concern(self, action: Action) -> str:
        concern = action.judged.concern if action.judged else "This runs a command."
        if action.access.outside:
            return f"It asks to run outside the sandbox. {concern}".strip()
        if action.access.network:
            return f"It asks for the network. {concern}".strip()
        walled = action.judged.walled if action.judged else None
        return concern if self.mode != "auto" or walled is None else walled

    def _edit_concern(self, action: Action, roots: tuple[Path, ...]) -> str:
        if concern := _lasting_concern(action, roots):
            return concern
        return "" if self.mode in ("accept_edits", "auto") else "This changes files."


def describe_always(tool: str, action: Action) -> str:
    """In words, what an "always" answer would cover."""
    match action.effect:
        case "execute":
            return "this exact command in this folder"
        case "read":
            return f"{tool} on this path"
        case "call" | "query":
            return f"{tool} with any arguments"
        case "switch_mode":
            return ""
        case _:
            return "this file" if len(action.paths) == 1 else "these files"


def lasting_rules(request: ApprovalRequest) -> tuple[Rule, ...]:
    """The rules that allow for good what was asked for, and no more: this command in this folder, these files, this
    tool. None for a read outside the session's folders: that is allowed for a session at most."""
    match request.effect:
        case "execute":
            return (Rule("allow", command=request.command, cwd=request.cwd),)
        case "edit":
            return tuple(Rule("allow", path=literal(diff.path)) for diff in request.diffs)
        case "read" | "stop" | "note" | "switch_mode":
            return ()
        case _:
            return (Rule("allow", tool=request.tool),)


def _in_words(subject: Subject) -> str:
    what, name, folder = subject
    match what:
        case "execute" | "execute outside" | "execute with the network":
            beyond = what.removeprefix("execute").replace(" outside", " outside the sandbox")
            return f"run `{visible(name)}` in {visible(folder)}{beyond}"
        case "edit":
            return f"edit {visible(name)}"
        case _:
            return f"{what}: {visible(name)}"


def _refusable(tool: str, action: Action, cwd: Path) -> frozenset[Subject]:
    """What stays rejected: the exact command in its folder, or each path, whatever tool tries it; of an MCP server
    the very tool."""
    if action.effect in ("call", "query"):
        return frozenset({("call", tool, "")})
    if action.effect == "switch_mode":
        return frozenset({(action.effect, "", "")})
    if action.effect == "execute":
        return frozenset({("execute", action.command, str(cwd))})
    return frozenset((action.effect, str(path), "") for path in action.paths)


def _grantable(tool: str, action: Action, cwd: Path) -> frozenset[Subject]:
    """What stays allowed: the same, but a read only by the tool that asked. Who let a folder be listed has
    not let everything in it be read; who agreed to one plan has not agreed to the next."""
    if action.effect == "switch_mode":
        return frozenset()
    if action.effect in ("call", "query"):
        return frozenset({(action.effect, tool, "")})
    if action.effect == "execute" and (action.access.network or action.access.outside):
        beyond = "execute outside" if action.access.outside else "execute with the network"
        return frozenset({(beyond, action.command, str(cwd))})
    if action.effect != "read":
        return _refusable(tool, action, cwd)
    return frozenset((tool, str(path), "") for path in action.paths)


def _read_concern(action: Action, roots: tuple[Path, ...]) -> str:
    return _path_concern(action, roots)


def _lasting_concern(action: Action, roots: tuple[Path, ...], rules: tuple[Rule, ...] = ()) -> str:
    """What is asked about whatever the mode; a rule that names a path outside lets it be edited."""
    inside = replace(action, paths=tuple(path for path in action.paths if not reaches(rules, path) or is_secret(path)))
    if concern := _path_concern(inside, roots):
        return concern
    if any(steers_tools(path) for path in action.paths):
        return "This changes a file that decides what other programs run."
    return ""


def _path_concern(action: Action, roots: tuple[Path, ...]) -> str:
    for path in action.paths:
        if not inside(path, roots):
            return f"{path} is outside the session's folders."
        if is_secret(path):
            return f"{path.name} looks like it holds secrets."
    return ""
