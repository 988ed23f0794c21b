"""What an editor does after each single step of a request, and how to see what has become of it."""

import asyncio
from functools import partial

from tests.support.editor import AgentError
from tests.support.stepping import after_steps

CANCELLED = -32800


async def talked(editor, project):
    """A session with a turn in it."""
    session = await editor.new_session(project)
    assert await editor.prompt(session, "hello") == "end_turn"
    return session


async def outcome(answer):
    """The result of a request, or the code of its error."""
    async with asyncio.timeout(10):
        try:
            return await answer
        except AgentError as error:
            return error.code


def place(project, session=None):
    params = {"cwd": str(project), "mcpServers": []}
    return params | {"sessionId": session} if session else params


async def each_moment(editor, begin, meet, judge):
    """Send what `begin` gives, do what `meet` says after each of its steps, and judge what has become of it."""
    for steps in range(1, 1_000):
        method, params = await begin()
        with after_steps(steps) as left:
            left.do = partial(meet, editor, editor.last_id + 1, params.get("sessionId"))
            found = await outcome(editor.begin(method, params))
        await judge(params.get("sessionId"), found)
        if left.count > 0:
            return
    raise AssertionError("it never came to its end")


def cancel_request(editor, request, session):
    editor.notify("$/cancel_request", {"requestId": request})


def cancel(editor, request, session):
    editor.notify("session/cancel", {"sessionId": session})


def close(editor, request, session):
    editor.begin("session/close", {"sessionId": session})


def load(editor, request, session):
    editor.begin("session/load", place(editor.project, session))


def load_twice_and_cancel_one(editor, request, session):
    load(editor, request, session)
    editor.begin("session/load", place(editor.project, session))
    cancel_request(editor, editor.last_id - 1, session)


async def each_leaving(open_editor, begin, judge=lambda: None):
    """Let the editor go away after each step of the prompt that `begin` gives: the next finds all that it was shown."""
    for steps in range(1, 1_000):
        async with open_editor() as editor:
            params = await begin(editor)
            with after_steps(steps) as left:
                left.do = editor.peer.close
                answer = editor.begin("session/prompt", params)
                await asyncio.wait([answer, editor.serving], return_when=asyncio.FIRST_COMPLETED)
        judge()
        session = params["sessionId"]
        async with open_editor() as again:
            assert await seen_again(again, editor.project, session) == view(editor.lines, session)
        if left.count > 0:
            return
    raise AssertionError("it never came to its end")


async def all_answered(editor):
    async with asyncio.timeout(10):
        while editor._waiting:
            await asyncio.sleep(0.001)


async def seen_again(editor, project, session):
    """What the editor shows of a session that it closes and loads."""
    await outcome(editor.begin("session/close", {"sessionId": session}))
    before = len(editor.lines)
    assert isinstance(await outcome(editor.begin("session/load", place(project, session))), dict)
    return view(editor.lines[before:], session)


def view(lines, session):
    """What an editor shows of a session after these lines: the text, how each card has ended, and the plan. A replay
    begins with the session's first prompt."""
    text, cards, plan = "", {}, None
    for line in lines:
        if line.get("method") != "session/update" or line["params"]["sessionId"] != session:
            continue
        match line["params"]["update"]:
            case {"sessionUpdate": "user_message_chunk", "content": {"text": "go"}}:
                text, cards, plan = "", {}, None
            case {"sessionUpdate": "agent_message_chunk", "content": {"text": piece}}:
                text += piece
            case {"sessionUpdate": "tool_call" | "tool_call_update", "toolCallId": card, "status": status}:
                cards.pop(card, None)
                cards[card] = status
            case {"sessionUpdate": "plan", "entries": entries}:
                plan = entries
    return text, cards, plan
