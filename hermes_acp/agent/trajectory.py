"""Conversations as training data: ShareGPT-compatible lines in JSONL files."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from hermes_acp.agent.sharegpt.thinking import convert_scratchpad_to_think, has_thoughts
from hermes_acp.agent.sharegpt.turns import Reply, gpt_value, system_value, tool_value, turns_of
from hermes_acp.text import clean

__all__ = ["convert_scratchpad_to_think", "has_reasoning", "save_trajectory", "to_sharegpt"]

COMPLETED_FILE = "trajectory_samples.jsonl"
FAILED_FILE = "failed_trajectories.jsonl"


def to_sharegpt(
    messages: Iterable[Mapping[str, Any]], tools: Iterable[Any] | None, query: str | None = None
) -> list[dict[str, str]]:
    """The conversations of a trajectory entry: `from` (system, human, gpt, tool) and `value` of each turn.

    Args:
        messages: OpenAI-style dicts, as a host has them or as `hermes_acp.messages.to_dict` makes them.
        tools: the definitions of the tools that the model had, in the form of Chat Completions.
        query: the person's own words, when a host has put more around them in the newest message.
    """
    conversation = [_entry("system", system_value(tools))]
    for turn in _unwrapped(turns_of(messages), query):
        if not isinstance(turn, Reply):
            conversation.append(_entry("human", clean(turn)))
            continue
        conversation.append(_entry("gpt", gpt_value(turn)))
        if turn.results:
            conversation.append(_entry("tool", tool_value(turn)))
    return conversation


def has_reasoning(conversations: Iterable[Mapping[str, str]]) -> bool:
    """Whether any gpt turn says what the model thought."""
    return any(has_thoughts(turn["value"]) for turn in conversations if turn["from"] == "gpt")


def save_trajectory(
    conversations: Sequence[Mapping[str, Any]],
    model: str,
    completed: bool,
    filename: str | os.PathLike[str] | None = None,
    *,
    now: Callable[[], datetime] = datetime.now,
) -> Path:
    """Append an entry to a file of trajectories and return its path.

    Args:
        conversations: as `to_sharegpt` gives them.
        model: the name of the model that answered.
        completed: whether the turn ended by itself, with an answer.
        filename: the file, in place of the one in the working folder that `completed` chooses.
        now: the local time.

    Raises:
        OSError: it could not be written.
        ValueError: the conversations have no strict JSON.
    """
    path = Path(filename or (COMPLETED_FILE if completed else FAILED_FILE))
    entry = {
        "conversations": list(conversations),
        "timestamp": now().isoformat(timespec="microseconds"),
        "model": model,
        "completed": completed,
    }
    _append(path, clean(json.dumps(entry, ensure_ascii=False, allow_nan=False)).encode("utf-8"))
    return path


def _entry(speaker: str, value: str) -> dict[str, str]:
    return {"from": speaker, "value": value}


def _unwrapped(turns: Sequence[str | Reply], query: str | None) -> list[str | Reply]:
    """The turns with `query` in place of the newest message of the person's that holds it as lines of its own."""
    found = list(turns)
    for index in range(len(found) - 1, -1, -1):
        said = found[index]
        if query and isinstance(said, str) and f"\n{query}\n" in f"\n{said}\n":
            found[index] = query
            break
    return found


def _append(path: Path, line: bytes) -> None:
    """Add a line with one write; what a crash left unfinished is ended first, so that it harms itself alone."""
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with open(handle, "r+b", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        size = os.fstat(handle).st_size
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        rest = memoryview(b"\n" * torn + line + b"\n")
        while rest:
            rest = rest[file.write(rest) :]
