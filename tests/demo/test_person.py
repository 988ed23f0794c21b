"""The answers of whoever sits at the terminal."""

from __future__ import annotations

import os
import pty
import sys
from collections.abc import Iterator

import pytest

from hermes_acp.demo.person import AtTerminal, Nobody

OPTIONS = [
    {"optionId": "a", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "b", "name": "Always", "kind": "allow_always"},
    {"optionId": "c", "name": "Reject", "kind": "reject_once"},
]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The keyboard's end of a terminal that is standard input."""
    keyboard, end = pty.openpty()
    with os.fdopen(end, "r", closefd=True) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield keyboard
    os.close(keyboard)


@pytest.mark.parametrize(("typed", "chosen"), [("2\n", "b"), ("\n", "a"), ("9\nx\n3\n", "c"), ("\x04", "c")])
async def test_a_number_is_asked_for_until_it_is_one_of_the_choices(terminal: int, typed: str, chosen: str) -> None:
    said: list[str] = []
    os.write(terminal, typed.encode())
    option = await AtTerminal(said.append).choose(OPTIONS)
    assert option is not None
    assert option["optionId"] == chosen
    assert said[0] == "  → 1–3, Enter for 1: "


async def test_nobody_allows_once_and_says_so() -> None:
    said: list[str] = []
    option = await Nobody(said.append).choose(OPTIONS)
    assert option == OPTIONS[0]
    assert "answered by the demo" in said[0]
    assert await Nobody(said.append).choose([OPTIONS[2]]) is None
