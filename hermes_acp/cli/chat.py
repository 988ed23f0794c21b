"""`chat -q`: one question for scripts."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes_acp.cli.main import USAGE_ERROR, settings_parser
from hermes_acp.errors import ConfigError
from hermes_acp.library.arguments import SETTINGS
from hermes_acp.library.once import ask_once, newest_session
from hermes_acp.run_agent import AIAgent
from hermes_acp.settings import load_settings, start_logging

_NEWEST = ""
_NOT_INTERACTIVE = "chat in the terminal is not there yet; `hermes-acp chat -q TEXT` answers one question"


def run(overrides: Mapping[str, str], arguments: Sequence[str]) -> int:
    """Answer one question; the exit status: 0 answered, 1 failed, 2 nothing was asked, 130 interrupted."""
    given = _parse(overrides, arguments)
    question = given.pop("query", None)
    if question is None:
        sys.stderr.write(f"hermes-acp: {_NOT_INTERACTIVE}\n")
        return USAGE_ERROR
    if not question.strip():
        raise ConfigError("-q: it is empty")
    save = given.pop("save_trajectories", False)
    session_id = given.pop("resume", None)
    settings = load_settings(given, os.environ)
    start_logging(settings)
    if session_id == _NEWEST:
        session_id = newest_session(settings, Path.cwd())
    names = {key: name for name, key in SETTINGS.items()}
    asked = {names[key]: value for key, value in given.items() if key in names}
    return ask_once(AIAgent, question, {**asked, "session_id": session_id, "save_trajectories": save})


def _parse(overrides: Mapping[str, str], arguments: Sequence[str]) -> dict[str, Any]:
    parser = settings_parser("chat -q TEXT [OPTIONS]")
    parser.add_argument("-q", "--query", metavar="TEXT", help="what is asked")
    parser.add_argument("--save-trajectories", action="store_true", help="append the turn to a JSONL file here")
    parser.add_argument(
        "--resume", nargs="?", const=_NEWEST, metavar="ID", help="go on with a session; without ID the newest one here"
    )
    return {**overrides, **vars(parser.parse_args(arguments))}
