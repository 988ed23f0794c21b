"""The order of roles in a history: one function checks it, one repairs it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hermes_acp.messages import AssistantMessage, Message, Text, ToolMessage, UserMessage, user

INTERRUPTED = AssistantMessage("Interrupted by the user before an answer.", synthetic=True)
"""Closes a turn that ended without an answer, so that roles alternate."""

INTERRUPTED_RESULT = "Interrupted: this call was not seen to end. Whether it took effect is not known."


def find_disorder(messages: Sequence[Message]) -> str | None:
    """What is wrong with the order of roles, in one sentence, or None.

    After a user comes an assistant; an assistant's calls are followed by their results, one each, in call
    order, and these by an assistant; else an assistant is followed by a user.
    """
    expected: list[str] = []
    previous: Message | None = None
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            if not expected or expected.pop(0) != message.call_id:
                return f"message {index} is a result that no call before it asks for next"
            continue
        if expected:
            return f"message {index} comes before the result of call {expected[0]}"
        if problem := _misplaced(previous, message):
            return f"message {index} {problem}"
        if isinstance(message, AssistantMessage):
            expected = [call.id for call in message.tool_calls]
        previous = message
    return f"call {expected[0]} has no result" if expected else None


def _misplaced(previous: Message | None, message: Message) -> str | None:
    if isinstance(message, UserMessage):
        if isinstance(previous, AssistantMessage) and previous.tool_calls:
            return "is a user's, but nobody has answered to the results before it"
        return "is a second user message in a row" if isinstance(previous, UserMessage) else None
    if previous is None:
        return "is an assistant's, but a history begins with the user"
    if isinstance(previous, AssistantMessage) and not previous.tool_calls:
        return "is a second assistant message in a row"
    return None


def repair(messages: Iterable[Message]) -> list[Message]:
    """The history with orphan results dropped, unanswered calls and turns answered, and neighbours of one role
    joined. A result may have been separated from its call by another window's messages.

    No history can brick a session: whatever comes in, `find_disorder` of the result is None.
    """
    history = list(messages)
    if find_disorder(history) is None:
        return history
    repaired: list[Message] = []
    groups = _with_results(history)
    strays = _strays(groups)
    for message, results in groups:
        _append(repaired, message)
        if isinstance(message, AssistantMessage):
            repaired += _answers(message, results, strays)
    return repaired


def close_open_turn(messages: list[Message]) -> Message | None:
    """Append the closing message when the last turn has no answer; returns it if it was needed."""
    last = messages[-1] if messages else None
    if last is None or (isinstance(last, AssistantMessage) and not last.tool_calls):
        return None
    messages.append(INTERRUPTED)
    return INTERRUPTED


def _with_results(messages: list[Message]) -> list[tuple[Message, list[ToolMessage]]]:
    groups: list[tuple[Message, list[ToolMessage]]] = []
    for message in messages:
        if not isinstance(message, ToolMessage):
            groups.append((message, []))
        elif groups:
            groups[-1][1].append(message)
    return groups


def _strays(groups: Sequence[tuple[Message, list[ToolMessage]]]) -> dict[str, ToolMessage]:
    """The results that stand behind another message than the one that called for them."""
    found: dict[str, ToolMessage] = {}
    for message, results in groups:
        own = {call.id for call in message.tool_calls} if isinstance(message, AssistantMessage) else set()
        found |= {result.call_id: result for result in results if result.call_id not in own | found.keys()}
    return found


def _answers(message: AssistantMessage, results: list[ToolMessage], strays: Mapping[str, ToolMessage]) -> list[Message]:
    known = {result.call_id: result for result in reversed(results)}
    return [
        known.get(call.id) or strays.get(call.id) or ToolMessage(call.id, call.name, INTERRUPTED_RESULT, is_error=True)
        for call in message.tool_calls
    ]


def _append(history: list[Message], message: Message) -> None:
    last = history[-1] if history else None
    if isinstance(message, UserMessage) and isinstance(last, UserMessage):
        history[-1] = UserMessage((*last.parts, *message.parts))
    elif isinstance(message, UserMessage) and isinstance(last, ToolMessage):
        history += [INTERRUPTED, message]
    elif isinstance(message, AssistantMessage) and last is None:
        history += [user("(The beginning of this conversation is missing.)"), message]
    elif isinstance(message, AssistantMessage) and isinstance(last, AssistantMessage) and not last.tool_calls:
        history[-1] = _join(last, message)
    else:
        history.append(message)


def _join(first: AssistantMessage, second: AssistantMessage) -> AssistantMessage:
    return AssistantMessage(
        text="\n\n".join(text for text in (first.text, second.text) if text),
        reasoning="\n\n".join(text for text in (first.reasoning, second.reasoning) if text),
        tool_calls=second.tool_calls,
        synthetic=first.synthetic and second.synthetic,
    )


def without_blank_parts(message: UserMessage) -> UserMessage:
    """The message without text parts that hold nothing: providers refuse empty text."""
    return UserMessage(tuple(part for part in message.parts if not isinstance(part, Text) or part.text.strip()))
