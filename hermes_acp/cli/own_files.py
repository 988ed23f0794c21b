"""What the doctor sees in the person's own files for the agent: skills, commands, memory; what is passed over, and
why."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from hermes_acp.agent.custom_commands import find_custom_commands
from hermes_acp.agent.memory import memory_of, profile_of
from hermes_acp.agent.skills import SKILL_FILE, find_skills
from hermes_acp.cli.finding import Finding
from hermes_acp.commands.builtin import COMMANDS
from hermes_acp.errors import ToolError
from hermes_acp.settings.files import read_small
from hermes_acp.text import counted, visible


def check_own_files(home: Path) -> Iterator[Finding]:
    """A finding for each kind of file in the folder `home`, and one for each file that is not used as it is."""
    yield from _skills(home)
    yield from _commands(home)
    yield from _memory(home)


def _skills(home: Path) -> Iterator[Finding]:
    folder = home / "skills"
    found = {os.path.realpath(skill.folder) for skill in find_skills(home)}
    if found:
        yield Finding("ok", "skills", f"{counted(len(found), 'skill')} in {folder}")
    for name in _names(folder):
        place = folder / name
        if os.path.realpath(place) not in found:
            yield Finding("warning", "skills", f"{visible(str(place))} is not used: {_why_no_skill(place)}")
        elif fault := _fault_of_head(place / SKILL_FILE):
            yield Finding("warning", "skills", f"{visible(str(place / SKILL_FILE))}: {fault}")


def _why_no_skill(place: Path) -> str:
    file = place / SKILL_FILE
    if not place.is_dir():
        return f"a skill is a folder with a {SKILL_FILE}"
    if not os.path.lexists(file):
        return f"it has no {SKILL_FILE}"
    if not os.path.realpath(file).startswith(os.path.realpath(place) + os.sep):
        return f"its {SKILL_FILE} is a link that leads out of it"
    try:
        empty = not read_small(file).strip()
    except OSError as error:
        return f"its {SKILL_FILE} cannot be read: {error.strerror}"
    return f"its {SKILL_FILE} is empty" if empty else "another skill has its name, in a folder that comes before it"


def _fault_of_head(file: Path) -> str:
    """What is wrong with the head of a file that is used all the same; "" when nothing is."""
    try:
        text = read_small(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        return "it is not UTF-8; what could not be read is replaced"
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    lines = [line.rstrip() for line in text.splitlines()]
    if lines[:1] != ["---"]:
        return "" if lines[:1] else "it is empty"
    if not {"---", "..."} & {*lines[1:]}:
        return "its head begins with --- and has no end, so all of it is taken as text: put --- below the head"
    return ""


def _commands(home: Path) -> Iterator[Finding]:
    folder = home / "commands"
    usable = [command.name for command in find_custom_commands(home) if command.name not in COMMANDS]
    if usable:
        yield Finding("ok", "commands", f"{', '.join(f'/{name}' for name in usable)} in {folder}")
    for name in _names(folder):
        place, command = visible(str(folder / name)), name.removesuffix(".md")
        if not name.endswith(".md"):
            yield Finding("warning", "commands", f"{place} is not used: a command is a file NAME.md")
        elif command in COMMANDS:
            yield Finding("warning", "commands", f"{place} is not used: /{command} is a command of the agent")
        elif command not in usable:
            reason = "its name is no word" if _has_text(folder / name) else "it is empty"
            yield Finding("warning", "commands", f"{place} is not used: {reason}")
        elif fault := _fault_of_head(folder / name):
            yield Finding("warning", "commands", f"{place}: {fault}")


def _has_text(file: Path) -> bool:
    try:
        return bool(read_small(file).strip())
    except OSError:
        return False


def _memory(home: Path) -> Iterator[Finding]:
    for notebook in (memory_of(home), profile_of(home)):
        try:
            notebook.entries()
        except ToolError as error:
            yield Finding("warning", "memory", f"{notebook.path}: {' '.join(visible(str(error)).split())}")


def _names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return []
