"""Programs that only read, but whose arguments have a form of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from hermes_acp.text import words
from hermes_acp.tools.safety.reach import Reach, Unproven

Arguments: TypeAlias = tuple[str, ...]

_FIND_ALONE = words(
    "-empty -readable -writable -executable -true -false -not ! -a -and -o -or ( ) , -print -print0 -prune -quit -ls "
    "-depth -d -mount -xdev -daystart -noleaf -ignore_readdir_race -noignore_readdir_race -nouser -nogroup"
)
_FIND_VALUE = words(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin -atime "
    "-amin -ctime -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -lname -ilname -printf "
    "-newermt -newerat -newerct"
)
_FIND_PATH = words("-newer -anewer -cnewer -samefile")

_TEST_WORDS = words(
    "-e -f -d -r -w -x -s -L -h -b -c -g -k -O -G -p -S -u -n -z = == != -eq -ne -lt -le -gt -ge -nt -ot -ef ! -a -o "
    "( )"
)
_DATE = re.compile(
    r"-u|--utc|--universal|-R|--rfc-email|-I[a-z]*|--iso-8601(=[a-z]+)?|--rfc-3339=[a-z]+|--date=.*|\+.*"
)
_SED_PRINT = re.compile(r"(?:[0-9]+|\$)(?:,(?:[0-9]+|\$))?p(?:;(?:[0-9]+|\$)(?:,(?:[0-9]+|\$))?p)*")
_PROGRAM_NAME = re.compile(r"[A-Za-z0-9_.+][A-Za-z0-9_.+\-]*")


def find(arguments: Arguments, reach: Reach) -> None:
    """`find` with tests and printing alone.

    Raises:
        Unproven: it may do more, or look elsewhere.
    """
    left = list(reversed(arguments))
    while left and (left[-1] in ("-P", "--") or not left[-1].startswith(("-", "(", "!", ","))):
        if (word := left.pop()) not in ("-P", "--"):
            reach.check(word)
    while left:
        word = left.pop()
        if word in _FIND_ALONE:
            continue
        if word not in _FIND_VALUE | _FIND_PATH or not left:
            raise Unproven(f"find {word} is not known to be harmless")
        value = left.pop()
        if word in _FIND_PATH:
            reach.check(value)


def test(arguments: Arguments, reach: Reach) -> None:
    """`test` of files in reach and of texts; no word that the shell's own `test` would evaluate."""
    for word in arguments:
        if word in _TEST_WORDS:
            continue
        if word.startswith("-") and not word[1:].isdigit():
            raise Unproven(f"test {word} is not known to be harmless")
        reach.check(word)


def date(arguments: Arguments, reach: Reach) -> None:
    """`date` that tells the time; an operand without a plus would set it."""
    left = list(reversed(arguments))
    while left:
        word = left.pop()
        if word in ("-d", "--date") and left:
            left.pop()
        elif word == "-r" and left:
            reach.check(left.pop())
        elif not _DATE.fullmatch(word):
            raise Unproven(f"date {word} is not known to be harmless")


def sed(arguments: Arguments, reach: Reach) -> None:
    """`sed -n` with line numbers to print, and nothing else that its language can do."""
    if len(arguments) < 2 or arguments[0] != "-n" or not _SED_PRINT.fullmatch(arguments[1]):
        raise Unproven("a sed script can write files and run programs")
    for path in arguments[2:]:
        if path.startswith("-"):
            raise Unproven(f"sed {path} is not known to be harmless")
        reach.check(path)


def echo(arguments: Arguments, reach: Reach) -> None:
    """`echo`, `true`, `false`: whatever they are given is a text."""


def pwd(arguments: Arguments, reach: Reach) -> None:
    """`pwd` with its own two options."""
    if any(word not in ("-L", "-P") for word in arguments):
        raise Unproven("pwd takes no such argument")


def lookup(arguments: Arguments, reach: Reach) -> None:
    """`command -v` and `type` with the names of programs."""
    names = arguments[1:] if arguments[:1] == ("-v",) else arguments
    if not names or not all(map(_PROGRAM_NAME.fullmatch, names)):
        raise Unproven("it can run any program")


def command(arguments: Arguments, reach: Reach) -> None:
    """`command -v NAME`; without -v it runs the program."""
    if arguments[:1] != ("-v",):
        raise Unproven("it runs another program")
    lookup(arguments, reach)


Check: TypeAlias = Callable[[Arguments, Reach], None]

PROGRAMS: Mapping[str, Check] = {"find": find, "test": test, "date": date, "sed": sed}
"""Programs by name."""

BUILTINS: Mapping[str, Check] = {
    "echo": echo,
    "true": echo,
    "false": echo,
    "pwd": pwd,
    "type": lookup,
    "command": command,
}
"""What every shell does itself, whatever PATH says."""

VERSIONED = frozenset({"python", "python3", "node", "gcc", "g++", "clang", "clang++", "make", "cmake", "perl", "ruby"})
"""Programs that tell their version and otherwise do anything. Not those that a file of the project can replace by
other versions of themselves (cargo, npm, go)."""

SYSTEM_FOLDERS = ("/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin")
"""Where such a program is itself, and no switch between versions."""
