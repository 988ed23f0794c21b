"""`chat`: a conversation in the terminal, or one question for scripts."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes_acp.cli.main import settings_parser
from hermes_acp.errors import ConfigError
from hermes_acp.library.arguments import SETTINGS
from hermes_acp.library.once import ask_once, newest_session
from hermes_acp.settings import load_settings, start_speaking
from hermes_acp.talk.setup import Setup

_NEWEST = ""
_STDIN = "-"
_LONGEST = 1_000_000
"""Characters of a question that are read from standard input."""

_NO_TERMINAL = "chat needs a terminal; `chat -q TEXT` answers one question without one, `chat -q -` reads it"


def run(overrides: Mapping[str, str], arguments: Sequence[str]) -> int:
    """Chat, or answer one question; the exit status: 0 for success, 1 failed, 2 nothing could be asked, 130
    interrupted."""
    given = _parse(overrides, arguments)
    question = given.pop("query", None)
    if question == _STDIN:
        question = _read_stdin()
    if question is not None and not question.strip():
        raise ConfigError("-q: it is empty")
    save = given.pop("save_trajectories", None)
    session_id = given.pop("resume", None)
    settings = load_settings(given, os.environ)
    if question is None:
        _demand_terminal()
    start_speaking(settings)
    if session_id == _NEWEST:
        session_id = newest_session(settings, Path.cwd())
    if question is None:
        return _converse(given, session_id, save)
    from hermes_acp.run_agent import AIAgent

    asked = {name: given[key] for name, key in SETTINGS.items() if key in given}
    return ask_once(AIAgent, question, {**asked, "session_id": session_id, "save_trajectories": save})


def _read_stdin() -> str:
    return sys.stdin.read(_LONGEST) if sys.stdin is not None else ""


def _demand_terminal() -> None:
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        raise ConfigError(_NO_TERMINAL)


def _converse(given: Mapping[str, str], session_id: str | None, save: bool | None) -> int:
    from hermes_acp.chat.run import run as chat

    def read() -> Setup:
        return Setup(load_settings(given, os.environ), save_trajectories=save, given=frozenset(given))

    return chat(read, session_id)


def _parse(overrides: Mapping[str, str], arguments: Sequence[str]) -> dict[str, Any]:
    parser = settings_parser(
        "chat [-q TEXT] [--resume [ID]] [OPTIONS]",
        "Talks with the agent in this terminal and this folder, or answers one question: the answer goes to standard "
        "output, all else to standard error.",
    )
    parser.add_argument("-q", "--query", metavar="TEXT", help="answer this and end; - reads it from standard input")
    parser.add_argument("--save-trajectories", action="store_true", help="append each turn to a JSONL file here")
    parser.add_argument(
        "--resume", nargs="?", const=_NEWEST, metavar="ID", help="go on with a session; without ID the newest one here"
    )
    found, unknown = parser.parse_known_args(arguments)
    if unknown and not unknown[0].startswith("-"):
        raise ConfigError(f"{unknown[0]!r} is one word too many; `chat -q TEXT` asks a question")
    return {**overrides, **vars(parser.parse_args(arguments) if unknown else found)}
