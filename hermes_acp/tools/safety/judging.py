"""Judges a command line: what it would run, whether all of it only reads, and how it runs then."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace

from hermes_acp.errors import ToolError
from hermes_acp.local import paths, ripgrep
from hermes_acp.local.paths import inside
from hermes_acp.tools.safety import git, special
from hermes_acp.tools.safety.grammar import CommandList, Opaque, quoted, read
from hermes_acp.tools.safety.judged import Judged, Part, Place, Standing, Words
from hermes_acp.tools.safety.reach import Reach, ReachesOut, Unproven
from hermes_acp.tools.safety.readers import READERS

_STARTUP = "BASH_ENV names a file in the session's folders, which the shell would run first."
_VERSIONED = re.compile(r"python3\.[0-9]+")


def judge(line: str, place: Place) -> Judged:
    """Judge a command line. Looks at the disk, and belongs in a thread."""
    try:
        commands = read(line)
    except Opaque as reason:
        return Judged(line, line, concern=f"This could not be judged as a whole, because {reason}.")
    written = commands.text()
    parts = tuple(_parts(commands, place))
    if place.startup and inside(paths.real(place.cwd / place.startup), place.roots):
        parts = tuple(replace(part, standing="unproven", concern=_STARTUP) for part in parts)
    concern = next((part.concern for part in parts if part.standing != "reads"), "")
    if concern:
        return Judged(written, written, parts, concern)
    return Judged(replace(commands, commands=tuple(part.hardened for part in parts)).text(), written, parts)


def _parts(commands: CommandList, place: Place) -> Iterator[Part]:
    """Each command, judged where it will stand. `cd` is known only at the very beginning: anywhere else it may or may
    not come to run, and what follows would stand in a folder that nobody can tell."""
    reach = Reach(place.cwd, place.roots)
    joints = (*commands.joints, "&&")
    beginning = True
    for words, joint in zip(commands.commands, joints, strict=True):
        beginning = beginning and words[0] == "cd" and joint == "&&"
        if beginning:
            part, reach = _change_folder(words, reach)
        else:
            part = judge_command(words, reach, place.path)
        yield part


def _change_folder(words: Words, reach: Reach) -> tuple[Part, Reach]:
    try:
        if len(words) != 2 or words[1].startswith("-"):
            raise Unproven("it is not clear where cd leads")
        folder = reach.check(words[1])
        if not (os.path.isdir(paths.encode(folder)) and os.access(paths.encode(folder), os.X_OK)):
            raise Unproven(f"{words[1]} is no folder")
    except Unproven as reason:
        return _unproven(words, reason), reach
    return Part(words, "reads", hardened=("cd", str(folder))), replace(reach, cwd=folder)


def judge_command(words: Words, reach: Reach, path: str) -> Part:
    """Judge one simple command. `path` is the value of PATH."""
    try:
        hardened = _hardened(words, reach, path)
    except Unproven as reason:
        return _unproven(words, reason)
    if not hardened:
        return Part(words, "unknown", f"{_named(words)} is not among the programs that only read.")
    return Part(words, "reads", hardened=hardened)


def _unproven(words: Words, reason: Unproven) -> Part:
    standing: Standing = "reaches_out" if isinstance(reason, ReachesOut) else "unproven"
    return Part(words, standing, f"{_named(words)}: {reason}.")


def _named(words: Words) -> str:
    text = quoted(words[:1])
    return text if len(text) <= 60 else f"{text[:59]}…"


def _hardened(words: Words, reach: Reach, path: str) -> Words:
    """The words that a command which only reads runs with; none for a program that is not known.

    Raises:
        Unproven: the program is known, but this use of it is not known to be harmless.
    """
    name, arguments = os.path.basename(words[0]), words[1:]
    if words[0] in special.BUILTINS:
        special.BUILTINS[name](arguments, reach)
        return words
    if name == "git":
        return git.hardened(arguments, reach, _program(words[0], reach, path), _program("env", reach, path))
    if check := special.PROGRAMS.get(name):
        check(arguments, reach)
        return _program(words[0], reach, path), *arguments
    if reader := READERS.get(name):
        return _program(words[0], reach, path), *reader.check(arguments, reach)
    if (name in special.VERSIONED or _VERSIONED.fullmatch(name)) and arguments in (("--version",), ("-V",)):
        return _of_the_system(_program(words[0], reach, path)), *arguments
    return ()


def _of_the_system(program: str) -> str:
    if os.path.dirname(program) not in special.SYSTEM_FOLDERS:
        raise Unproven(f"{program} may be a switch between versions")
    return program


def _program(written: str, reach: Reach, path: str) -> str:
    """The absolute path of a program that may be started.

    Raises:
        Unproven: it is none of the system's, or the session could have put it there.
    """
    folder, name = os.path.split(written)
    if not folder:
        return reach.program(name, f"{path}:{_beside_us()}" if name == "rg" else path)
    if folder not in (*path.split(":"), *special.SYSTEM_FOLDERS) or not os.path.isabs(folder):
        raise Unproven(f"{written} is not where programs are")
    return reach.program(name, folder)


def _beside_us() -> str:
    """The folder of the ripgrep that came with the package, for a machine that has no other."""
    try:
        return os.path.dirname(os.fsdecode(ripgrep.program()))
    except ToolError:
        return "/nowhere"
