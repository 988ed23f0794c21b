"""What the person has agreed to, in words: what it is, what has changed since, and whether it has any effect."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal

from hermes_acp.agent.prompt.guidance import GUIDANCE_FILES
from hermes_acp.agent.skills import PROJECT_SKILLS, SKILL_FILE, Skill, find_project_skills, find_skills
from hermes_acp.agent.trust import digest_at
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.mcp.project import PROJECT_SERVERS, read_project
from hermes_acp.text import counted, local_time, visible

BRINGS = "AGENTS.md, CLAUDE.md or .hermes.md, skills in .hermes/skills, and .mcp.json"
"""What a project can bring."""

_NAMED = 5

State = Literal["trusted", "changed", "gone"]


@dataclass(frozen=True, slots=True)
class Trusted:
    """Something that was agreed to: the hash that it had, and when that was ("" when it was not noted)."""

    path: Path
    digest: str
    since: str = ""

    @property
    def state(self) -> State:
        """How it is now. Reads files."""
        if not os.path.lexists(self.path):
            return "gone"
        return "trusted" if digest_at(self.path) == self.digest else "changed"


def describe(trusted: Trusted, home: Path | None) -> Iterator[str]:
    """Lines about it: what it is and since when; what has changed; why it has no effect, if it has none.

    Args:
        trusted: what was agreed to.
        home: the person's own folder, whose skills go before those of projects.
    """
    when = f", since {local_time(trusted.since)}" if trusted.since else ""
    yield f"{_kind(trusted.path)}{when}"
    if trusted.path.name == PROJECT_SERVERS:
        yield from map(visible, read_project(trusted.path.parent).words)
    match trusted.state:
        case "changed":
            changed = _changed_since(trusted)
            names = f" ({', '.join(changed)})" if changed else ""
            yield f"changed since{names}: not used until you agree to it again"
        case "gone":
            yield "not there any more, so it has no effect; `trust remove` forgets it"
    if trusted.state != "gone" and (reason := why_no_effect(trusted.path, home)):
        yield f"without effect: {reason}"


def _kind(path: Path) -> str:
    """In a few words, what there is at a path, with the names of the files in it."""
    if path.name == PROJECT_SERVERS:
        return "MCP servers"
    if path.is_dir() or path.parent.name == PROJECT_SKILLS.name:
        files = Skill("", "", path).files()
        beside = f" and {counted(len(files), 'file')} ({_some(files)})" if files else ""
        return f"skill: {SKILL_FILE}{beside}"
    return "file for agents" if _is_guidance(path) else "file"


def why_no_effect(path: Path, home: Path | None) -> str:
    """Why nothing would read or start what is at a path, "" when something would."""
    if path.name == PROJECT_SERVERS:
        found = read_project(path.parent)
        return found.problem or ("" if found.servers else "it names no server that is not disabled")
    if path.is_dir():
        return _why_no_skill(path, home)
    if not _is_guidance(path):
        return f"no agent reads it; a project brings {BRINGS}"
    for group in GUIDANCE_FILES:
        for name in group[: group.index(path.name)] if path.name in group else ():
            if (path.parent / name).is_file():
                return f"{name} beside it is read in its place"
    return ""


def _why_no_skill(folder: Path, home: Path | None) -> str:
    if folder.parent.parts[-2:] != PROJECT_SKILLS.parts:
        return f"a project's skills are in {PROJECT_SKILLS}"
    root = folder.parents[2]
    here = [skill for skill in find_project_skills((root,)) if skill.folder == folder]
    if not here:
        return f"it has no {SKILL_FILE} with anything in it"
    own = {skill.name for skill in find_skills(home)}
    return f"you have a skill of your own with the name {here[0].name}" if here[0].name in own else ""


def _is_guidance(path: Path) -> bool:
    return any(path.name in group for group in GUIDANCE_FILES)


def _changed_since(trusted: Trusted) -> list[str]:
    """The names of files that were written after it was agreed to, as far as their dates tell."""
    if not trusted.since:
        return []
    begun = datetime.fromisoformat(trusted.since).timestamp()
    names = [SKILL_FILE, *Skill("", "", trusted.path).files()] if trusted.path.is_dir() else [trusted.path.name]
    folder = trusted.path if trusted.path.is_dir() else trusted.path.parent
    return [visible(name) for name in names if _written(folder / name) > begun][:_NAMED]


def _written(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return visible(", ".join(names[:_NAMED])) + more
