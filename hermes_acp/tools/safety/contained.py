"""What may run unasked in the mode `auto`, behind the walls of the sandbox, and what is asked about all the same."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from hermes_acp.approval_rules import SHELLS, WRAPPERS
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import paths
from hermes_acp.local.paths import inside
from hermes_acp.text import words
from hermes_acp.tools.safety.grammar import Opaque
from hermes_acp.tools.safety.judged import Judged, Place
from hermes_acp.tools.safety.judging import judge_command
from hermes_acp.tools.safety.losing import lost
from hermes_acp.tools.safety.paths import is_secret, steers_tools
from hermes_acp.tools.safety.reach import Reach
from hermes_acp.tools.safety.readers import READERS
from hermes_acp.tools.safety.scripts import (
    DEVICES,
    INTERPRETERS,
    Concern,
    check_awk,
    check_interpreter,
    check_sed,
    check_shell,
    check_words,
)
from hermes_acp.tools.safety.wide import Line, WideCommand, Word, read_wide

_NETWORK = words(
    "curl wget ssh scp sftp rsync ftp telnet nc ncat socat ping dig nslookup host traceroute aws gcloud az gh glab "
    "docker podman kubectl helm terraform npx bunx pnpx uvx pipx apt apt-get yum dnf pacman apk brew snap flatpak"
)
_FETCHING: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), words("install i ci add update up publish dlx exec create init")),
    **dict.fromkeys(("pip", "pip3"), words("install download wheel index")),
    "uv": words("add sync lock pip tool publish"),
    "poetry": words("install add update lock publish"),
    "cargo": words("install add update publish fetch login search"),
    "go": words("get install mod"),
    "gem": words("install update push fetch"),
    "bundle": words("install update add"),
    "composer": words("install update require"),
}
_DATABASES = words("sqlite3 mysql mariadb psql mongo mongosh redis-cli dropdb dropuser influx cqlsh")
_SYSTEM = words(
    "kill pkill killall systemctl service crontab at batch mount umount mkfs parted fdisk wipefs iptables ip6tables "
    "nft ufw useradd usermod userdel groupadd passwd chown chgrp setfacl reboot shutdown halt poweroff sysctl modprobe "
    "insmod powershell pwsh shred chroot"
)
_STEERING_SHELL = words(
    ". source eval exec alias unalias set trap export declare typeset readonly read unset hash enable"
)
_EDITORS = words("vi vim nvim view ex ed emacs nano less more")
_REMOVERS = ("rm", "rmdir", "unlink", "truncate")
_TOO_MANY = 2_000


@dataclass(frozen=True, slots=True)
class Contained:
    """A line as it runs in the sandbox, and why it is asked about there ("": it is not)."""

    line: str
    concern: str = ""


def contain(line: str, judged: Judged, place: Place) -> Contained:
    """What is to be thought of a line that would run in the sandbox. Looks at the disk, and belongs in a thread."""
    if not judged.concern:
        return Contained(judged.line)
    try:
        wide = read_wide(line)
    except Opaque as reason:
        return Contained(judged.line, f"This could not be judged as a whole, because {reason}.")
    try:
        return Contained(_checked(wide, place).text())
    except Concern as reason:
        return Contained(wide.text(), f"{reason}.")


def _checked(line: Line, place: Place) -> Line:
    """The line as it runs unasked: what only reads in it does so as it would alone, without secrets and hooks."""
    cwd, changed = place.cwd, False
    commands: list[WideCommand] = []
    for at, command in enumerate(line.commands):
        for redirection in command.redirections:
            if redirection.target is not None:
                _check_path(redirection.target.text, cwd, place)
        if command.texts[0] == "cd":
            cwd = _folder(command, cwd, place, at, line)
        elif reading := _reading(command, cwd, place):
            command = reading
        else:
            _check_command(command, cwd, place)
            if changed and os.path.basename(command.texts[0]) in _REMOVERS:
                _check_is_there(command, cwd)
            changed = True
        commands.append(command)
    return Line(commands, line.joints, line.document)


def _reading(command: WideCommand, cwd: Path, place: Place) -> WideCommand | None:
    """The command as it is known to only read, apart from where its output goes; None where it is not."""
    if not command.is_plain:
        return None
    part = judge_command(command.texts, Reach(cwd, place.roots), place.path)
    return command.with_words(part.hardened) if part.standing == "reads" else None


def _check_is_there(command: WideCommand, cwd: Path) -> None:
    """What is moved or linked to a name within a line, and deleted by that name, cannot be looked at before."""
    for word in _operands(command):
        if word.is_glob or not os.path.lexists(paths.encode(cwd / word.text)):
            raise Concern(f"{word.text} may be made in the same line that deletes it")


def _folder(command: WideCommand, cwd: Path, place: Place, at: int, line: Line) -> Path:
    """Where a `cd` at the beginning of a line leads. Elsewhere it may not come to run."""
    if "&" in line.joints or any(joint != "&&" for joint in line.joints[: at + 1]) or len(command.words) != 2:
        raise Concern("it is not clear where cd leads")
    if any(earlier.texts[0] != "cd" for earlier in line.commands[:at]) or command.words[1].is_glob:
        raise Concern("it is not clear where cd leads")
    _check_path(command.texts[1], cwd, place)
    return paths.real(cwd / command.texts[1])


def _check_command(command: WideCommand, cwd: Path, place: Place) -> None:
    written = command.texts
    if os.path.basename(written[0]) == "nohup" and len(written) > 1:
        command = WideCommand(command.words[1:], command.redirections)
        written = command.texts
    name = os.path.basename(written[0])
    _check_name(name, written)
    check_words(written)
    if written[0] != name:
        _check_program(written[0], cwd, place)
    for word in command.words[1:]:
        for text in _expanded(word, cwd):
            if word.is_glob and text.startswith("-"):
                raise Concern(f"a file is called {text}, like an option")
            _check_word(text, cwd, place)
    if check := _CHECKS.get(name):
        check(command, cwd, place)
    elif INTERPRETERS.fullmatch(name):
        check_interpreter(name, written[1:], cwd)


def _check_name(name: str, written: tuple[str, ...]) -> None:
    if name == "git":
        raise Concern("git writes into the repository, or reaches the network")
    if name in _NETWORK or (written[1:2] and written[1] in _FETCHING.get(name, ())):
        raise Concern(f"{name} needs the network")
    if name in _DATABASES:
        raise Concern(f"{name} can delete data")
    if name in _SYSTEM or name.startswith("mkfs."):
        raise Concern(f"{name} changes the system")
    if name in _STEERING_SHELL or name in _EDITORS:
        raise Concern(f"{name} can run anything")
    if name in WRAPPERS - {"find", "env"} or (name == "env" and len(written) > 1):
        raise Concern(f"{name} runs another program")


def _check_program(written: str, cwd: Path, place: Place) -> None:
    """A program named by its path: one of the session's folders, or where programs are."""
    folder = os.path.dirname(written)
    if os.path.isabs(written) and folder in (*place.path.split(":"), "/bin", "/usr/bin", "/usr/local/bin"):
        return
    _check_path(written, cwd, place)


def _expanded(word: Word, cwd: Path) -> Iterator[str]:
    """A word, and what its globs stand for now."""
    yield word.text
    if not word.is_glob:
        return
    found = glob.glob("".join(text if is_glob else glob.escape(text) for text, is_glob in word.pieces), root_dir=cwd)
    if len(found) > _TOO_MANY:
        raise Concern(f"{word.text} stands for more than {_TOO_MANY} files")
    yield from found


def _check_word(text: str, cwd: Path, place: Place) -> None:
    """A word may be a path, also behind an equals sign or an option's letter."""
    for candidate in {text, text.rpartition("=")[2], text.lstrip("@"), *_attached(text)}:
        if candidate and not candidate.startswith("-") and "://" not in candidate:
            _check_path(candidate, cwd, place)


def _attached(text: str) -> tuple[str, ...]:
    if not text.startswith("-"):
        return ()
    return (text[2:], *(text[at:] for at in range(2, len(text)) if text[at] in "/."))[:8]


def _check_path(text: str, cwd: Path, place: Place) -> None:
    if text in DEVICES:
        return
    path = paths.real(cwd / text)
    if not inside(path, place.roots):
        raise Concern(f"{text} is outside the session's folders")
    if is_secret(path) or is_secret(cwd / text):
        raise Concern(f"{path.name} looks like it holds secrets")
    if steers_tools(path) or steers_tools(Path(text)):
        raise Concern(f"{text} decides what other programs run")


def _check_find(command: WideCommand, cwd: Path, place: Place) -> None:
    arguments = command.texts[1:]
    for at, text in enumerate(arguments):
        if text in ("-delete", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls"):
            raise Concern(f"find {text} changes what it finds")
        if text in ("-exec", "-execdir") and not (at + 1 < len(arguments) and arguments[at + 1] in READERS):
            raise Concern(f"find {text} runs another program")


def _check_mode(command: WideCommand, cwd: Path, place: Place) -> None:
    modes = [text for text in command.texts[1:] if not text.startswith("--")]
    if any(re.fullmatch(r"[ugoa]*[+=][rwxXt]*s[rwxXst]*|[0-9]?[2467][0-7]{3}", text) for text in modes[:2]):
        raise Concern("chmod gives a program its owner's powers")


def _operands(command: WideCommand) -> list[Word]:
    """The words that are no options: all behind `--` are none."""
    texts = list(command.texts)
    end = texts.index("--") if "--" in texts else len(texts)
    return [word for at, word in enumerate(command.words[1:], 1) if at > end or not word.text.startswith("-")]


def _check_removal(command: WideCommand, cwd: Path, place: Place) -> None:
    """Deleting is not undone by walls: only what git has, or what an ignore rule names, goes unasked."""
    for word in _operands(command):
        if re.fullmatch(r"(?:\./)?[*?.]+(?:/[*?.]*)*", word.text):
            raise Concern(f"{word.text} may stand for all that there is")
        for text in list(_expanded(word, cwd)):
            target = cwd / text
            if paths.real(target) in (cwd, *place.roots, *cwd.parents):
                raise Concern(f"{text} is the whole folder")
            if os.path.lexists(paths.encode(target)) and (name := lost(target)):
                raise Concern(f"{name} is not in git and would be lost")


def _by_words(check: Callable[[tuple[str, ...], Path], None]) -> Callable[[WideCommand, Path, Place], None]:
    return lambda command, cwd, place: check(command.texts, cwd)


_CHECKS: Mapping[str, Callable[[WideCommand, Path, Place], None]] = {
    **dict.fromkeys(SHELLS, _by_words(check_shell)),
    **dict.fromkeys(_REMOVERS, _check_removal),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _by_words(check_awk)),
    "find": _check_find,
    "chmod": _check_mode,
    **dict.fromkeys(("sed", "gsed"), _by_words(check_sed)),
}
