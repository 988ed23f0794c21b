"""The one gate: what may take effect unasked, what is asked about, what is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hermes_acp.cards import Effect
from hermes_acp.config import Mode
from hermes_acp.host import Decision
from hermes_acp.tools.base import Action
from hermes_acp.tools.safety.paths import is_inside, is_secret, steers_tools

Subject = tuple[Effect, str, str]
"""What a remembered answer covers: (effect, command or path, folder)."""


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
    _granted: set[Subject] = field(default_factory=set)
    _refused: set[Subject] = field(default_factory=set)
    _refused_this_turn: set[Subject] = field(default_factory=set)

    def begin_turn(self) -> None:
        """Forget what was refused for one turn only."""
        self._refused_this_turn.clear()

    def offers(self, effect: Effect) -> bool:
        """Whether tools of this effect are shown to the model in the present mode."""
        return self.mode != "plan" or effect == "read"

    def judge(self, action: Action, roots: tuple[Path, ...]) -> Verdict:
        """Decide about one action; `roots` are the session's folders, its working folder first."""
        subjects = subjects_of(action, roots[0])
        if not self.offers(action.effect):
            return Verdict("deny", "The session is in plan mode: nothing may be changed or run.")
        if subjects & (self._refused | self._refused_this_turn):
            return Verdict("deny", "The user has rejected this already.")
        reason = self._concern(action, roots)
        if not reason:
            return Verdict("allow")
        if subjects and subjects <= self._granted:
            return Verdict("allow", "The user allowed this for the session.")
        return Verdict("ask", reason)

    def remember(self, action: Action, decision: Decision, cwd: Path) -> None:
        """Keep what an answer says about later actions."""
        subjects = subjects_of(action, cwd)
        match decision:
            case "allow_always":
                self._granted |= subjects
            case "reject_once":
                self._refused_this_turn |= subjects
            case "reject_always":
                self._refused |= subjects

    def _concern(self, action: Action, roots: tuple[Path, ...]) -> str:
        match action.effect:
            case "execute":
                return "This runs a command."
            case "edit":
                return self._edit_concern(action, roots)
            case "read":
                return _read_concern(action, roots)
            case "stop":
                return ""

    def _edit_concern(self, action: Action, roots: tuple[Path, ...]) -> str:
        if concern := _path_concern(action, roots):
            return concern
        if any(steers_tools(path) for path in action.paths):
            return "This changes a file that decides what other programs run."
        return "" if self.mode == "accept_edits" else "This changes files."


def subjects_of(action: Action, cwd: Path) -> frozenset[Subject]:
    """What an "always" answer about the action would cover: this exact command in this folder, or its files."""
    if action.effect == "execute":
        return frozenset({("execute", action.command, str(cwd))})
    return frozenset((action.effect, str(path), "") for path in action.paths)


def describe_always(action: Action) -> str:
    """In words, what an "always" answer would cover."""
    if action.effect == "execute":
        return "this exact command in this folder"
    return "this file" if len(action.paths) == 1 else "these files"


def _read_concern(action: Action, roots: tuple[Path, ...]) -> str:
    return _path_concern(action, roots)


def _path_concern(action: Action, roots: tuple[Path, ...]) -> str:
    for path in action.paths:
        if not is_inside(path, roots):
            return f"{path} is outside the session's folders."
        if is_secret(path):
            return f"{path.name} looks like it holds secrets."
    return ""
