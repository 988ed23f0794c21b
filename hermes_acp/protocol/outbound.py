"""What we send, as plain dicts: each kind of `session/update`, and the params of our own requests.

Members that are None are left out, except where null itself says something.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

Json = dict[str, Any]
Status = Literal["pending", "in_progress", "completed", "failed"]


def text_block(value: str) -> Json:
    """A text block."""
    return {"type": "text", "text": value}


def image_block(data: str, mime_type: str) -> Json:
    """An image block; `data` is base64."""
    return {"type": "image", "data": data, "mimeType": mime_type}


def update(session_id: str, body: Json) -> Json:
    """The params of `session/update`."""
    return {"sessionId": session_id, "update": body}


def user_message_chunk(content: Json, message_id: str) -> Json:
    """A block of what the person said; sent only when a session is replayed."""
    return {"sessionUpdate": "user_message_chunk", "content": content, "messageId": message_id}


def agent_message_chunk(text: str, message_id: str) -> Json:
    """A piece of the answer."""
    content = {"type": "text", "text": text}
    return {"sessionUpdate": "agent_message_chunk", "content": content, "messageId": message_id}


def agent_thought_chunk(text: str, message_id: str) -> Json:
    """A piece of the model's thought."""
    content = {"type": "text", "text": text}
    return {"sessionUpdate": "agent_thought_chunk", "content": content, "messageId": message_id}


def tool_call(call_id: str, title: str, **fields: Any) -> Json:
    """A new card; `fields` are those of `card`."""
    return {"sessionUpdate": "tool_call", "toolCallId": call_id, "title": title, **card(**fields)}


def tool_call_update(call_id: str, **fields: Any) -> Json:
    """A change of a card; `fields` are those of `card`, and those given replace the earlier ones."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": call_id, **card(**fields)}


def card(
    *,
    title: str | None = None,
    name: str | None = None,
    kind: str | None = None,
    status: Status | None = None,
    content: Sequence[Json] | None = None,
    locations: Sequence[Json] | None = None,
    raw_input: Any = None,
    raw_output: Any = None,
) -> Json:
    """The fields of a tool call's card that are known. `content` and `locations` are whole lists."""
    return _without_none(
        title=title,
        name=name,
        kind=kind,
        status=status,
        content=content,
        locations=locations,
        rawInput=raw_input,
        rawOutput=raw_output,
    )


def text_content(text: str) -> Json:
    """Text inside a card."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def diff_content(path: str, old_text: str | None, new_text: str) -> Json:
    """An edit inside a card: an absolute path, and null as the old text of a new file."""
    return {"type": "diff", "path": path, "oldText": old_text, "newText": new_text}


def terminal_content(terminal_id: str) -> Json:
    """One of the editor's terminals inside a card."""
    return {"type": "terminal", "terminalId": terminal_id}


def location(path: str, line: int | None = None) -> Json:
    """A place in a file: an absolute path, and a line counted from 1."""
    return _without_none(path=path, line=line)


def plan(entries: Iterable[tuple[str, str, str]]) -> Json:
    """The whole plan: each entry's content, priority and status."""
    listed = [{"content": content, "priority": priority, "status": status} for content, priority, status in entries]
    return {"sessionUpdate": "plan", "entries": listed}


def available_commands_update(commands: Sequence[Json]) -> Json:
    """All commands that work."""
    return {"sessionUpdate": "available_commands_update", "availableCommands": commands}


def command(name: str, description: str, *, hint: str | None = None) -> Json:
    """A command; its name has no slash, and `hint` says what may follow it."""
    return _without_none(name=name, description=description, input={"hint": hint} if hint else None)


def current_mode_update(mode_id: str) -> Json:
    """Another mode is in force."""
    return {"sessionUpdate": "current_mode_update", "currentModeId": mode_id}


def modes(current: str, available: Sequence[Json]) -> Json:
    """The `modes` of a session, each made by `mode`."""
    return {"currentModeId": current, "availableModes": available}


def mode(mode_id: str, name: str, *, description: str | None = None) -> Json:
    """One mode that can be set."""
    return _without_none(id=mode_id, name=name, description=description)


def config_option_update(options: Sequence[Json]) -> Json:
    """The complete list of options, as they are now."""
    return {"sessionUpdate": "config_option_update", "configOptions": options}


def select_option(
    option_id: str,
    name: str,
    *,
    current: str,
    choices: Sequence[Json],
    category: str | None = None,
    description: str | None = None,
) -> Json:
    """An option with one value out of several, each made by `choice`."""
    shown = _without_none(id=option_id, name=name, category=category, description=description)
    return {**shown, "type": "select", "currentValue": current, "options": choices}


def choice(value: str, name: str, *, description: str | None = None) -> Json:
    """One value of an option."""
    return _without_none(value=value, name=name, description=description)


def session_info_update(title: str | None, *, updated_at: str | None = None) -> Json:
    """A session's title, null when it has none any more, and when it was last used (ISO 8601) if that has changed."""
    return {"sessionUpdate": "session_info_update", "title": title, **_without_none(updatedAt=updated_at)}


def session_info(
    session_id: str,
    cwd: str,
    *,
    roots: Sequence[str] | None = None,
    title: str | None = None,
    updated_at: str | None = None,
) -> Json:
    """One row of `session/list`."""
    return _without_none(sessionId=session_id, cwd=cwd, additionalDirectories=roots, title=title, updatedAt=updated_at)


def usage_update(used: int, size: int, cost: float | None = None) -> Json:
    """Tokens in the context, the size of the window, and the cost so far in US dollars when it is known."""
    price = None if cost is None else {"amount": cost, "currency": "USD"}
    return _without_none(sessionUpdate="usage_update", used=used, size=size, cost=price)


def notice(severity: str, title: str, description: str = "") -> Json:
    """Something to be shown that is not part of the answer; only for editors that take notices."""
    return _without_none(sessionUpdate="notice", severity=severity, title=title, description=description or None)


def compaction_update(
    compaction_id: str, status: str, *, summary: Sequence[Json] | None = None, error: str | None = None
) -> Json:
    """How a compaction of the context stands; only for editors that follow compactions."""
    return _without_none(
        sessionUpdate="compaction_update", compactionId=compaction_id, status=status, summary=summary, error=error
    )


def request_permission(session_id: str, shown: Json, options: Sequence[Json]) -> Json:
    """The params of `session/request_permission`: a `permission_card`, and each `permission_option`."""
    return {"sessionId": session_id, "toolCall": shown, "options": options}


def permission_card(call_id: str, **fields: Any) -> Json:
    """The card that a permission is asked with; `fields` are those of `card`."""
    return {"toolCallId": call_id, **card(**fields)}


def permission_option(option_id: str, name: str, kind: str) -> Json:
    """One answer that is offered, of one of ACP's four kinds."""
    return {"optionId": option_id, "name": name, "kind": kind}


def read_text_file(session_id: str, path: str) -> Json:
    """The params of `fs/read_text_file`, for the whole file."""
    return {"sessionId": session_id, "path": path}


def write_text_file(session_id: str, path: str, content: str) -> Json:
    """The params of `fs/write_text_file`."""
    return {"sessionId": session_id, "path": path, "content": content}


def create_terminal(
    session_id: str, program: str, args: Sequence[str], *, cwd: str, env: dict[str, str], output_byte_limit: int
) -> Json:
    """The params of `terminal/create`: a program and its arguments, never one line for a shell."""
    return {
        "sessionId": session_id,
        "command": program,
        "args": args,
        "cwd": cwd,
        "env": [{"name": name, "value": value} for name, value in env.items()],
        "outputByteLimit": output_byte_limit,
    }


def terminal(session_id: str, terminal_id: str) -> Json:
    """The params of `terminal/output`, `terminal/wait_for_exit`, `terminal/kill` and `terminal/release`."""
    return {"sessionId": session_id, "terminalId": terminal_id}


def elicitation_form(
    session_id: str, message: str, properties: dict[str, Json], *, required: Sequence[str], call_id: str | None = None
) -> Json:
    """The params of `elicitation/create` for a form; `properties` are JSON Schemas by name."""
    schema = {"type": "object", "properties": properties, "required": required}
    return _without_none(mode="form", sessionId=session_id, toolCallId=call_id, message=message, requestedSchema=schema)


def status(session_id: str, kind: str, value: str) -> Json:
    """The params of the extension notification `_hermes/status`."""
    return {"sessionId": session_id, "kind": kind, "text": value}


def step(session_id: str, api_calls: int, max_api_calls: int, tools: Sequence[Json]) -> Json:
    """The params of the extension notification `_hermes/step`."""
    return {"sessionId": session_id, "apiCalls": api_calls, "maxApiCalls": max_api_calls, "tools": tools}


def _without_none(**members: Any) -> Json:
    return {name: value for name, value in members.items() if value is not None}
