"""Skills: folders with a `SKILL.md`, the person's and a project's, whose instructions are loaded when they are
needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from hermes_acp.agent.front_matter import Document, read_document
from hermes_acp.agent.prompt.reading import beginning
from hermes_acp.agent.prompt.screening import screen
from hermes_acp.errors import ToolError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import paths
from hermes_acp.local.paths import inside
from hermes_acp.text import shorten
from hermes_acp.tools.safety.paths import is_secret

SKILL_FILE = "SKILL.md"
PROJECT_SKILLS = Path(".hermes", "skills")
INDEX_CHARACTERS = 6_000

_CHARACTERS = 50_000
_NAME, _DESCRIPTION = 64, 300
_MOST_SKILLS = 500
_MOST_FILES = 100
_MOST_LEVELS = 4


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill as the index names it; `folder` is where its files are, links resolved."""

    name: str
    description: str
    folder: Path

    def instructions(self) -> str:
        """The text of its `SKILL.md`, without the head."""
        return _document(self.folder).body

    def files(self) -> list[str]:
        """Its other files, relative to its folder; hidden ones and those behind links to folders are not named."""
        return [name for name in _files(self.folder, "", _MOST_LEVELS) if name != SKILL_FILE][:_MOST_FILES]

    def read(self, name: str) -> str:
        """The text of one of its files.

        Raises:
            ToolError: there is no such file in its folder, or it is none that can be read as text.
        """
        path = _within(self.folder, name)
        if path is None or not path.is_file():
            raise ToolError(f"The skill {self.name} has no file {name!r}. Its files: {_either(self.files())}.")
        text = beginning(path, _CHARACTERS)
        if "\0" in text:
            raise ToolError(f"{name} is a binary file.")
        return text


def find_skills(home: Path | None) -> list[Skill]:
    """The skills of the person whose folder is `home`, by name; of two with one name the first folder's."""
    found: dict[str, Skill] = {}
    for skill in _skills_in(home / "skills") if home else ():
        found.setdefault(skill.name, skill)
    return [found[name] for name in sorted(found)]


def find_project_skills(roots: Sequence[Path]) -> list[Skill]:
    """The skills that a project brings, and that really lie in it. They are instructions of others: nothing uses one
    before the person has agreed to its content."""
    return [
        skill
        for root in roots
        for skill in _skills_in(root / PROJECT_SKILLS)
        if inside(skill.folder, (paths.real(root),))
    ]


def usable_skills(home: Path | None, roots: Sequence[Path], admits: Callable[[Path], bool]) -> list[Skill]:
    """The person's own skills, and of the project's those that `admits` says the person has agreed to as they are. Of
    two with one name the person's own."""
    found = {skill.name: skill for skill in find_skills(home)}
    for skill in find_project_skills(roots):
        if skill.name not in found and admits(skill.folder):
            found[skill.name] = skill
    return [found[name] for name in sorted(found)]


def pick(skills: Sequence[Skill], name: str) -> Skill:
    """The skill of this name.

    Raises:
        ToolError: there is none.
    """
    wanted = name.strip().casefold()
    for skill in skills:
        if skill.name.casefold() == wanted:
            return skill
    raise ToolError(f"There is no skill {name!r}. There are: {_either([skill.name for skill in skills])}.")


def index(skills: Sequence[Skill], characters: int = INDEX_CHARACTERS) -> str:
    """A line for each skill, as many as fit, and how many more there are."""
    lines: list[str] = []
    for skill in skills:
        line = f"- {skill.name}: {skill.description}"
        characters -= len(line) + 1
        if characters < 0:
            return "\n".join([*lines, f"- and {len(skills) - len(lines)} more; skill without a name lists all"])
        lines.append(line)
    return "\n".join(lines)


def _skills_in(folder: Path) -> list[Skill]:
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return []
    skills = (_skill(Path(os.path.realpath(folder / name)), name) for name in names[:_MOST_SKILLS])
    return [skill for skill in skills if skill]


def _skill(folder: Path, name: str) -> Skill | None:
    document = _document(folder)
    if not document.body and not document.fields:
        return None
    said = _line(document.fields.get("name", ""))
    return Skill(shorten(said or _line(name), _NAME), shorten(_description(document), _DESCRIPTION), folder)


def _document(folder: Path) -> Document:
    path = _within(folder, SKILL_FILE)
    return read_document(beginning(path, _CHARACTERS)) if path else Document()


def _within(folder: Path, name: str) -> Path | None:
    """A file that really lies in a skill's folder: a link in it must not lead to the person's files. The folder may
    be among our own, which are secret as a whole; what lies in it is judged by its names there."""
    try:
        path = Path(os.path.realpath(folder / name))
    except ValueError:
        return None
    if not inside(path, (folder,)) or is_secret(path.relative_to(folder)):
        return None
    return path


def _description(document: Document) -> str:
    lines = document.body.split("\n")
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return _line(document.fields.get("description", "")) or _line(first) or "(no description)"


def _line(text: str) -> str:
    return " ".join(screen(text).text.split())


def _files(folder: Path, prefix: str, levels: int) -> list[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    found: list[str] = []
    for entry in entries[: _MOST_FILES + 1]:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            found += _files(folder / entry.name, f"{prefix}{entry.name}/", levels - 1) if levels else []
        else:
            found.append(prefix + entry.name)
    return found


def _either(names: Sequence[str]) -> str:
    return ", ".join(names[:50]) or "none"
