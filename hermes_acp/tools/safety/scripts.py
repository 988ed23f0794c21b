"""Programs that run what they are told: in the sandbox those may run unasked that are told by a file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from hermes_acp.local import paths
from hermes_acp.text import words

INTERPRETERS = re.compile(r"(?:python|pypy|perl|ruby|node|nodejs|php|lua|deno|bun|tclsh|Rscript)[0-9.]*")
DEVICES = frozenset(
    {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/stdin", "/dev/stdout", "/dev/stderr"}
)
_PYTHON_OPTION = re.compile(r"-[uBOsSEIbqvPd]+|-[WX].*")
_HARMLESS_OPTIONS = words(
    "--test --test-only --watch --enable-source-maps --no-warnings --trace-warnings --expose-gc -w -W -T"
)
_SUBCOMMANDS = words("run test fmt lint check bench build task")
_STEERING_MODULES = words("timeit code pdb pip ensurepip venv trace cProfile profile idlelib webbrowser runpy smtplib")
"""Modules of Python that run code of the line, or reach out."""
_AWK_DOES_MORE = re.compile(r"system|getline|[|>@]")
_SED_EDIT = re.compile(
    r"(?:[0-9$]+(?:,[0-9$+~]+)?|/(?:[^/\\\n]|\\.)*/I?)?!?"
    r"(?:[pdq=]|s([/|#,:@])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*)"
)
"""One command of sed that changes text and nothing else."""


_RUN_ANYTHING = words(
    "m4 bc dc gnuplot octave R julia guile racket erl elixir iex ghci runghc scala jshell groovy wish osascript gdb "
    "lldb tex latex pdftex pdflatex xelatex lualatex"
)
"""Further programs that run code of their own language, from an argument or their input."""

_OF_COMPILERS = re.compile(r"-wrapper.*|-B.*|-fplugin.*|@.*")
_OF_MAKE = re.compile(
    r"-[A-Za-z]*f-|-|--eval.*|-[A-Za-z]*E.*|[^=]*=.*[^\w./+:@%,\-].*|(?:SHELL|MAKEFLAGS|GNUMAKEFLAGS).*=.*"
)
_OF_PACKAGES = re.compile(r"--script-shell.*|--node-options.*|--shell.*|-c|--call.*")
_RUNNING_OPTIONS: Mapping[str, re.Pattern[str]] = {
    "tar": re.compile(r"--(?:to|checkpoint-a|use|rsh|info|new|rem).*|-[A-Za-z]*[IF].*|[a-zJ]*[IF][a-zJ]*"),
    "zip": re.compile(r"-T.*|--unz.*|-[A-Za-z]*m.*|--mov.*"),
    "split": re.compile(r"--f.*"),
    "sort": re.compile(r"--com.*"),
    "go": re.compile(r"--?(?:exec|toolexec|vettool).*"),
    "cargo": re.compile(r"--config.*"),
    "cmake": re.compile(r"-E|-P"),
    "ninja": re.compile(r"-t.*"),
    "rg": re.compile(r"--pre.*|--hostname-bin.*"),
    "man": re.compile(r"-P.*|--pager.*"),
    **dict.fromkeys(("make", "gmake"), _OF_MAKE),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), _OF_COMPILERS),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _OF_PACKAGES),
}
"""Options and words by which programs of every day run what the line says, or delete what they have packed."""


class Concern(Exception):
    """Why a command is asked about in the sandbox too."""


def check_words(written: Sequence[str]) -> None:
    """No program runs what it is told by its options or its input, whatever it is.

    Raises:
        Concern: this one may.
    """
    name = os.path.basename(written[0])
    if name in _RUN_ANYTHING:
        raise Concern(f"{name} can run anything")
    options = _RUNNING_OPTIONS.get(name)
    for word in written[1:]:
        if word == "/dev/stdin":
            raise Concern(f"{name} may do what its input says")
        if options is not None and options.fullmatch(word):
            raise Concern(f"{name} {word} can run anything")


def check_interpreter(name: str, arguments: Sequence[str], cwd: Path) -> None:
    """A program of the session's own files may run; code that stands in the line, or comes in by a pipe, is opaque."""
    if arguments in (("--version",), ("-V",), ("-v",)):
        return
    left = list(arguments)
    python = name.startswith(("python", "pypy"))
    while left and (left[0] in _HARMLESS_OPTIONS or (python and _PYTHON_OPTION.fullmatch(left[0]))):
        del left[: 2 if python and left[0] in ("-W", "-X") else 1]
    if python and left[:1] == ["-m"] and len(left) > 1:
        if left[1].split(".")[0] in _STEERING_MODULES:
            raise Concern(f"{name} -m {left[1]} runs code that is not in a file, or needs the network")
        return
    if name.rstrip("0123456789.") in ("deno", "bun") and left[:1] and left[0] in _SUBCOMMANDS:
        return
    _check_script(name, left, cwd)


def check_shell(written: Sequence[str], cwd: Path) -> None:
    """A shell that runs a file of the session's folders."""
    _check_script(written[0], written[1:], cwd)


def _check_script(name: str, arguments: Sequence[str], cwd: Path) -> None:
    """What an interpreter is given has to be a file, and no pipe. Where it lies is seen to as for every other word."""
    script = paths.encode(paths.real(cwd / arguments[0])) if arguments else b""
    if not script or arguments[0].startswith("-") or arguments[0] in DEVICES or not os.path.isfile(script):
        raise Concern(f"{name} runs code that is not in a file")


def check_sed(written: Sequence[str], cwd: Path) -> None:
    """Its scripts may run programs and write files; those that only edit are known."""
    scripts, rest, at = [], [], 0
    words = written[1:]
    while at < len(words):
        if words[at] in ("-e", "--expression") and at + 1 < len(words):
            scripts.append(words[at + 1])
            at += 1
        elif words[at].startswith("-"):
            if not re.fullmatch(r"-[nErsz]*i?(?:\.[a-z]+)?|--(?:quiet|silent|regexp-extended|null-data)", words[at]):
                raise Concern(f"sed {words[at]} may run a script")
        else:
            rest.append(words[at])
        at += 1
    scripts = scripts or rest[:1]
    if not scripts or not all(_SED_EDIT.fullmatch(one.strip()) for text in scripts for one in _sed_commands(text)):
        raise Concern("the script of sed may run programs and write files")


def _sed_commands(script: str) -> list[str]:
    """The commands of a script. One that cannot be told apart is none that is known."""
    whole = script.strip()
    return [whole] if _SED_EDIT.fullmatch(whole) else re.split(r"[;\n]", whole)


def check_awk(written: Sequence[str], cwd: Path) -> None:
    """A program of awk that only reads and prints."""
    if any(_AWK_DOES_MORE.search(text) for text in written[1:]):
        raise Concern("awk can write files and run programs")
