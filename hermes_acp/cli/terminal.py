"""Asking a person in a terminal."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable

from hermes_acp.errors import HermesError


class Abandoned(HermesError):
    """The input ended before every question was answered."""


def say(text: str = "") -> None:
    """Write a line for the person."""
    sys.stdout.write(text + "\n")


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


def ask_secret(question: str, check: Callable[[str], str]) -> str:
    """As `ask`, without a default and without showing what is typed."""
    return _until_good(lambda: _read_secret(f"{question}: "), check)


def _until_good(read: Callable[[], str], check: Callable[[str], str]) -> str:
    while True:
        try:
            return check(read())
        except ValueError as error:
            say(f"  {error}")


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
