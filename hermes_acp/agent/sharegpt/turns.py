"""The turns of a conversation: each reply with the results of its calls, written as ShareGPT values."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from hermes_acp.agent.sharegpt.thinking import split_thinking
from hermes_acp.agent.sharegpt.words import arguments_of, inert, json_text, reasoning_of, result_of, text_of, word_of
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import clean

_UNNAMED = "unknown"
"""The name of a call that says none."""

_BEFORE_TOOLS = (
    "You are a function calling AI model. You are provided with function signatures within <tools> </tools> XML tags. "
    "You may call one or more functions to assist with the user query. If available tools are not relevant in "
    "assisting with user query, just respond in natural conversational language. Don't make assumptions about what "
    "values to plug into functions. After calling & executing the functions, you will be provided with function "
    "results within <tool_response> </tool_response> XML tags. Here are the available tools:\n<tools>\n"
)
_AFTER_TOOLS = (
    "\n</tools>\nFor each function call return a JSON object, with the following pydantic model json schema for each:\n"
    "{'title': 'FunctionCall', 'type': 'object', 'properties': {'name': {'title': 'Name', 'type': 'string'}, "
    "'arguments': {'title': 'Arguments', 'type': 'object'}}, 'required': ['name', 'arguments']}\n"
    "Each function call should be enclosed within <tool_call> </tool_call> XML tags.\nExample:\n<tool_call>\n"
    "{'name': <function-name>,'arguments': <args-dict>}\n</tool_call>"
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a reply."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(slots=True)
class Reply:
    """A reply and the results that came for its calls, wherever in the history they stood."""

    message: Mapping[str, Any]
    calls: list[Call] = field(default_factory=list)
    results: list[Mapping[str, Any]] = field(default_factory=list)

    def owns(self, call_id: str) -> bool:
        """Whether a call of this reply has the id."""
        return bool(call_id) and any(call.id == call_id for call in self.calls)


Turn = str | Reply
"""What the person said, or a reply."""


def turns_of(messages: Iterable[Mapping[str, Any]]) -> list[Turn]:
    """The turns of a history, in order. Messages of other roles than user, assistant and tool are left out."""
    turns: list[Turn] = []
    replies: list[Reply] = []
    for message in messages:
        match message.get("role"):
            case "user":
                turns.append(text_of(message.get("content")))
            case "assistant":
                replies.append(Reply(message, _calls(message.get("tool_calls"))))
                turns.append(replies[-1])
            case "tool":
                _keep_result(replies, message)
    return turns


def system_value(tools: Iterable[Any] | None) -> str:
    """The system turn: how to call functions, with the tools' definitions in between."""
    return clean(_BEFORE_TOOLS + "[" + ", ".join(_tool_text(tool) for tool in tools or ()) + "]" + _AFTER_TOOLS)


def gpt_value(reply: Reply) -> str:
    """A reply's reasoning, text and calls."""
    front, text = split_thinking(text_of(reply.message.get("content")), reasoning_of(reply.message))
    calls = [f"<tool_call>\n{_call_text(call)}\n</tool_call>" for call in reply.calls]
    return clean((inert(front) + "\n".join([*([inert(text)] if text.strip() else []), *calls])).strip())


def tool_value(reply: Reply) -> str:
    """All results of a reply's calls."""
    return clean("\n".join(f"<tool_response>\n{text}\n</tool_response>" for text in _result_texts(reply)))


def _keep_result(replies: Sequence[Reply], result: Mapping[str, Any]) -> None:
    """Hand a result to the newest reply with a call of its id, else to the last one when that called anything."""
    call_id = word_of(result.get("tool_call_id"))
    owner = next((reply for reply in reversed(replies) if reply.owns(call_id)), None)
    if owner is None and replies and replies[-1].calls:
        owner = replies[-1]
    if owner is None:
        log.warning("A result that no call asks for is left out of a trajectory.")
    else:
        owner.results.append(result)


def _calls(items: Any) -> list[Call]:
    return [_call(item) for item in items if isinstance(item, Mapping)] if isinstance(items, list | tuple) else []


def _call(item: Mapping[str, Any]) -> Call:
    function = item.get("function")
    function = function if isinstance(function, Mapping) else {}
    name = word_of(function.get("name")) or _UNNAMED
    return Call(word_of(item.get("id")), name, arguments_of(function.get("arguments"), name))


def _call_text(call: Call) -> str:
    return json_text({"name": call.name, "arguments": call.arguments})


def _result_texts(reply: Reply) -> list[str]:
    return [_result_text(result, _name(reply, position)) for position, result in enumerate(reply.results)]


def _result_text(result: Mapping[str, Any], name: str) -> str:
    call_id = result.get("tool_call_id", "")
    kept = None if call_id is None else word_of(call_id)
    return json_text({"tool_call_id": kept, "name": name, "content": result_of(result.get("content", ""))})


def _name(reply: Reply, position: int) -> str:
    """The name of the call with the result's id, or at its position where ids say nothing."""
    result = reply.results[position]
    call_id = word_of(result.get("tool_call_id"))
    owners = [call.name for call in reply.calls if call_id and call.id == call_id]
    if len(owners) == 1:
        return owners[0]
    if position < len(reply.calls):
        return reply.calls[position].name
    return word_of(result.get("name")) or _UNNAMED


def _tool_text(tool: Any) -> str:
    function = tool.get("function", tool) if isinstance(tool, Mapping) else {}
    function = function if isinstance(function, Mapping) else {}
    definition = {
        "name": word_of(function.get("name")) or _UNNAMED,
        "description": word_of(function.get("description")),
        "parameters": _parameters(function),
        "required": None,
    }
    return json_text(definition)


def _parameters(function: Mapping[str, Any]) -> Any:
    parameters = result_of(function.get("parameters") or {})
    return parameters if isinstance(parameters, dict) else {}
