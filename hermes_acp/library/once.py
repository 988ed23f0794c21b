"""One question from the command line: the answer on standard output, everything else on standard error."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Protocol

from hermes_acp.agent.store.store import Store
from hermes_acp.errors import ConfigError, HermesError
from hermes_acp.local.environment import be_private, mask_own
from hermes_acp.settings import Settings, load_settings, start_speaking
from hermes_acp.text import plain, shorten

ANSWERED, FAILED, USAGE_ERROR, INTERRUPTED = 0, 1, 2, 130
"""Exit statuses."""

_LINE = 160


class Answering(Protocol):
    """What is asked: an `AIAgent`."""

    def run_conversation(self, user_message: str) -> dict[str, Any]: ...

    def interrupt(self) -> None: ...

    def close(self) -> None: ...


def ask_once(make: Callable[..., Answering], question: str, arguments: Mapping[str, Any]) -> int:
    """Ask an agent that `make` makes of these arguments one question; the exit status.

    Nobody is present: what would be asked is denied.

    Raises:
        ConfigError: an argument or a setting is of no use.
    """
    mask_own()
    be_private()
    _speak_utf8()
    agent = make(**arguments, tool_progress_callback=_show_progress)
    try:
        with _ended_by_signals(agent):
            result = agent.run_conversation(question)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        agent.close()
    if result["final_response"]:
        sys.stdout.write(f"{result['final_response']}\n")
        sys.stdout.flush()
    return _status(result)


def newest_session(settings: Settings, folder: Path) -> str:
    """The id of the session in a folder that was used last.

    Raises:
        ConfigError: there is none.
    """
    session_id = asyncio.run(_newest(settings, folder))
    if session_id is None:
        raise ConfigError(f"there is no session in {folder} to go on with")
    return session_id


def main(make: Callable[..., Answering], argv: Sequence[str] | None = None) -> int:
    """`python -m hermes_acp.run_agent`; the exit status."""
    given = vars(_parser().parse_args(argv))
    question = given.pop("query")
    try:
        start_speaking(load_settings({}, os.environ))
        if not question.strip():
            raise ConfigError("--query: it is empty")
        return ask_once(make, question, given)
    except HermesError as error:
        sys.stderr.write(f"hermes-acp: {error}\n")
        return USAGE_ERROR if isinstance(error, ConfigError) else FAILED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m hermes_acp.run_agent",
        description="Ask the agent one question. The answer goes to standard output, all else to standard error.",
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    parser.add_argument("--query", required=True, help="what is asked")
    parser.add_argument(
        "--save_trajectories", "--save-trajectories", action="store_true", help="append the turn to a JSONL file here"
    )
    parser.add_argument("--model", help="the model's name")
    parser.add_argument("--provider", help="who answers")
    parser.add_argument("--base_url", "--base-url", help="the address of the model's API")
    parser.add_argument("--api_mode", "--api-mode", help="how that API is spoken to")
    parser.add_argument("--mode", help="ask, accept_edits, auto or plan; what is asked about is denied")
    parser.add_argument("--max_turns", "--max-turns", type=int, help="model calls")
    parser.add_argument("--cwd", help="the folder that the agent works in")
    parser.add_argument("--session_id", "--session-id", "--resume", help="the session to go on with")
    return parser


async def _newest(settings: Settings, folder: Path) -> str | None:
    store = Store(settings.home.database)
    try:
        found = await store.list(str(folder), None, 1)
    finally:
        await store.aclose()
    return found[0].id if found else None


@contextmanager
def _ended_by_signals(agent: Answering) -> Iterator[None]:
    """SIGTERM and SIGHUP interrupt the turn, as Ctrl-C does."""
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, lambda *_: agent.interrupt()) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _status(result: dict[str, Any]) -> int:
    if result["interrupted"]:
        return INTERRUPTED
    if result["completed"]:
        return ANSWERED
    reason = result["error"] or f"the answer is not complete ({result['stop_reason']})"
    sys.stderr.write(f"hermes-acp: {reason}\n")
    return FAILED


def _show_progress(
    phase: str, name: str, call_id: str, args: dict[str, Any], text: str, is_error: bool, duration_s: float
) -> None:
    """A line for each call that begins, and for each that fails."""
    if phase == "started":
        words = ", ".join(f"{key}={value!r}" for key, value in args.items())
        sys.stderr.write(f"{shorten(plain(f'{name} {words}'), _LINE)}\n")
    elif phase == "finished" and is_error:
        first = next(iter(text.strip().splitlines()), "it failed")
        sys.stderr.write(f"{shorten(plain(f'{name}: {first}'), _LINE)}\n")


def _speak_utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
