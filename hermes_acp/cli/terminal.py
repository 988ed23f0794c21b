"""Asking a person in a terminal."""

from __future__ import annotations

import getpass
import shutil
import sys
import textwrap
from collections.abc import Callable
from typing import Literal

from hermes_acp.errors import HermesError


class Abandoned(HermesError):
    """The input ended before every question was answered."""


def say(text: str = "", hang: int = 0) -> None:
    """Write a line for the person; on a terminal that is narrower it goes on below, so many blanks further in."""
    sys.stdout.write(fitted(text, hang) + "\n")


def columns() -> int:
    """How wide the terminal is now; 0 where none shows what is written."""
    return shutil.get_terminal_size().columns if sys.stdout and sys.stdout.isatty() else 0


def fitted(text: str, hang: int = 0) -> str:
    """A line in whole words for the terminal as wide as it is now; as it is where no terminal shows it.

    Paths and addresses stay whole: people copy them.
    """
    width = columns()
    if not width:
        return text
    inner = " " * (hang if hang * 2 < width else 2 if hang else 0)
    lines = textwrap.wrap(
        text,
        max(width, 20),
        subsequent_indent=inner,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)


def ask(question: str, default: str, check: Callable[[str], str]) -> str:
    """The answer to a question, asked again until `check` takes it; empty input means the default.

    Args:
        question: the text shown.
        default: the answer of a person who only presses return.
        check: returns the answer in its proper form, or raises `ValueError` with the reason.

    Raises:
        Abandoned: the input ended.
    """
    prompt = f"{question} [{default}]: " if default else f"{question}: "
    return _until_good(lambda: _read_line(prompt) or default, check)


def agreed(question: str, default: Literal["yes", "no"]) -> bool:
    """Whether the person says yes; input that has ended says no."""
    try:
        return ask(question, default, _yes_or_no) == "yes"
    except Abandoned:
        say()
        return False


def _yes_or_no(answer: str) -> str:
    found = {"y": "yes", "yes": "yes", "n": "no", "no": "no"}.get(answer.lower())
    if found is None:
        raise ValueError("Please answer yes or no.")
    return found


def ask_secret(question: str, check: Callable[[str], str]) -> str:
    """As `ask`, without a default and without showing what is typed."""
    return _until_good(lambda: _read_secret(f"{question}: "), check)


def _until_good(read: Callable[[], str], check: Callable[[str], str]) -> str:
    while True:
        try:
            return check(read())
        except ValueError as error:
            say(f"  {error}", 2)


def _read_line(prompt: str) -> str:
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline() if sys.stdin else ""
    if not line:
        raise Abandoned("nothing was stored: the input ended")
    return line.strip()


def _read_secret(prompt: str) -> str:
    if not (sys.stdin and sys.stdin.isatty()):
        return _read_line(prompt)
    sys.stdout.flush()
    try:
        return getpass.getpass(prompt).strip()
    except EOFError:
        raise Abandoned("nothing was stored: the input ended") from None
