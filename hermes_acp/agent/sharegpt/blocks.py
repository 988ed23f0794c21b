"""Reading the values of gpt and tool turns: the think block, the calls, the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any, Literal

from hermes_acp.agent.sharegpt.words import strict_json
from hermes_acp.lazy_dataclasses import dataclass

BlockTag = Literal["tool_call", "tool_response"]


@dataclass(frozen=True, slots=True)
class JsonBlock:
    """A block of one JSON object: its value, or what is wrong with it."""

    value: Mapping[str, Any]
    problem: str = ""


def json_blocks(value: str, tag: BlockTag) -> Iterator[JsonBlock]:
    """The blocks of a turn's value in order: tag, JSON and closing tag on a line of their own each."""
    lines = iter(value.split("\n"))
    for line in lines:
        if line == f"<{tag}>":
            yield _block(next(lines, ""), next(lines, ""), tag)
        elif line == f"</{tag}>":
            yield JsonBlock({}, f"a </{tag}> closes nothing")


def outside_blocks(value: str, tag: BlockTag) -> str:
    """The first line that belongs to no block, or nothing."""
    lines = iter(value.split("\n"))
    for line in lines:
        if line != f"<{tag}>":
            return line
        next(lines, None), next(lines, None)
    return ""


def think_problem(value: str) -> str:
    """What is wrong with the think block of a gpt turn; empty when there is exactly one."""
    spoken = "\n".join(takewhile(lambda line: line != "<tool_call>", value.split("\n")))
    _, opened, rest = spoken.partition("<think>")
    _, closed, after = rest.partition("</think>")
    if not opened:
        return "there is no <think> block"
    if not closed:
        return "its <think> block is not closed"
    again = after.lstrip()
    return "there are two <think> blocks" if again.startswith("<think>") and "</think>" in again else ""


def _block(text: str, closing: str, tag: BlockTag) -> JsonBlock:
    if closing != f"</{tag}>":
        return JsonBlock({}, f"a <{tag}> is not closed two lines further on")
    try:
        value = strict_json(text)
    except ValueError as error:
        return JsonBlock({}, f"a <{tag}> holds no strict JSON: {error}")
    if not isinstance(value, dict):
        return JsonBlock({}, f"a <{tag}> holds no object")
    return JsonBlock(value, _misshapen(value, tag))


def _misshapen(value: Mapping[str, Any], tag: BlockTag) -> str:
    wanted = ("name", "arguments") if tag == "tool_call" else ("tool_call_id", "name", "content")
    if tuple(value) != wanted:
        return f"a <{tag}> must hold {', '.join(wanted)} in this order, not {', '.join(value) or 'nothing'}"
    if not isinstance(value["name"], str):
        return f"a <{tag}> has a name that is no text"
    if tag == "tool_call" and not isinstance(value["arguments"], dict):
        return "a <tool_call> has arguments that are no object"
    return ""
