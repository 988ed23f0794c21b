"""The check of a file of trajectories: every entry by itself, and all of them as one table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hermes_acp.agent.sharegpt.blocks import json_blocks, outside_blocks, think_problem
from hermes_acp.agent.sharegpt.columns import Columns
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.nesting import is_deep

INTERACTIVE: Mapping[str, type] = {"conversations": list, "timestamp": str, "model": str, "completed": bool}
BATCH: Mapping[str, type] = {
    "prompt_index": int,
    "conversations": list,
    "metadata": dict,
    "completed": bool,
    "partial": bool,
    "api_calls": int,
    "toolsets_used": list,
    "tool_stats": dict,
    "tool_error_counts": dict,
}
_KINDS = {list: "a list", str: "a text", bool: "true or false", int: "a whole number", dict: "an object"}
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}")
_SPEAKERS = ("system", "human", "gpt", "tool")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with an entry; `line` counts from 1."""

    line: int
    text: str


def find_faults(lines: Iterable[bytes]) -> Iterator[Fault]:
    """Everything that is wrong with a file, in the order of its lines (as iterating over a binary file gives them)."""
    columns = Columns()
    for number, line in enumerate(lines, 1):
        try:
            entry = _entry(line)
        except ValueError as error:
            yield Fault(number, str(error))
            continue
        for text in (*_entry_faults(entry), *columns.add(entry, number)):
            yield Fault(number, text)


def _entry(line: bytes) -> dict[str, Any]:
    if not line.endswith(b"\n"):
        raise ValueError("the line is not ended: the file was cut off here")
    if line.endswith(b"\r\n"):
        raise ValueError("the line ends in CR LF, not LF")
    try:
        entry = json.loads(line[:-1].decode("utf-8"), parse_constant=_refuse, object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: byte {error.start + 1} of the line") from None
    except RecursionError:
        raise ValueError("not usable: nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"not strict JSON: {error}") from None
    if not isinstance(entry, dict):
        raise ValueError("not an object")
    if is_deep(entry):
        raise ValueError("not usable: nested too deeply")
    return entry


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("an object has a key twice")
    return made


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _entry_faults(entry: Mapping[str, Any]) -> Iterator[str]:
    form = BATCH if "prompt_index" in entry else INTERACTIVE
    if tuple(entry) != tuple(form):
        yield f"the keys must be {', '.join(form)} in this order, not {', '.join(entry) or 'none'}"
    for key, kind in form.items():
        if key in entry and type(entry[key]) is not kind:
            yield f"{key}: must be {_KINDS[kind]}"
    stamp = entry.get("timestamp")
    if isinstance(stamp, str) and not _TIMESTAMP.fullmatch(stamp):
        yield "timestamp: must be local time with microseconds, such as 2026-03-30T14:22:31.456789"
    if isinstance(entry.get("conversations"), list):
        yield from _conversation_faults(entry["conversations"])


def _conversation_faults(turns: Sequence[Any]) -> Iterator[str]:
    shapes = [(index, problem) for index, turn in enumerate(turns) if (problem := _shape_problem(turn))]
    if shapes:
        yield from (_at(index, problem) for index, problem in shapes)
        return
    yield from _order_faults([turn["from"] for turn in turns])
    for index, turn in enumerate(turns):
        yield from (_at(index, problem) for problem in _value_problems(turn))
        if turn["from"] == "tool" and index and not list(json_blocks(turns[index - 1]["value"], "tool_call")):
            yield _at(index, "results stand after a turn that called nothing")


def _at(index: int, problem: str) -> str:
    return f"conversations[{index}]: {problem}"


def _shape_problem(turn: Any) -> str:
    if not isinstance(turn, dict) or tuple(turn) != ("from", "value"):
        return "must be an object of from and value, in this order"
    if turn["from"] not in _SPEAKERS:
        return f"from must be one of {', '.join(_SPEAKERS)}"
    return "" if isinstance(turn["value"], str) else "value must be a text"


def _order_faults(speakers: Sequence[str]) -> Iterator[str]:
    """The system speaks first and once, the person next; results follow a gpt turn."""
    if tuple(speakers[:2]) != ("system", "human"):
        yield f"conversations: must begin with system, human, not {', '.join(speakers[:2]) or 'nothing'}"
    for index, speaker in enumerate(speakers[1:], 1):
        if speaker == "system":
            yield _at(index, "a second system turn")
        if speaker == "tool" and speakers[index - 1] != "gpt":
            yield _at(index, f"a tool turn after {speakers[index - 1]}; only gpt calls tools")


def _value_problems(turn: Mapping[str, str]) -> Iterator[str]:
    match turn["from"]:
        case "system":
            yield from _system_problems(turn["value"])
        case "gpt":
            yield from filter(None, [think_problem(turn["value"])])
            yield from (block.problem for block in json_blocks(turn["value"], "tool_call") if block.problem)
        case "tool":
            yield from (block.problem for block in json_blocks(turn["value"], "tool_response") if block.problem)
            if outside_blocks(turn["value"], "tool_response") or not turn["value"]:
                yield "a tool turn must hold <tool_response> blocks and nothing else"


def _system_problems(value: str) -> Iterator[str]:
    """The definitions are one line between the last `<tools>` and the first `</tools>` on lines of their own."""
    _, opened, rest = value.partition("\n<tools>\n")
    definitions, closed, _ = rest.partition("\n</tools>\n")
    if not (opened and closed):
        yield "there is no <tools> block"
        return
    try:
        listed = isinstance(json.loads(definitions, parse_constant=_refuse), list)
    except (ValueError, RecursionError):
        listed = False
    if not listed:
        yield "<tools> holds no JSON list"
