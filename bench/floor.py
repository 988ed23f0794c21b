"""The floor: the least that an ACP agent can do. It tells what the machine allows; it is no product.

Standard library only, one file on disk read by one tool, no store, no permission, no check of anything.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from typing import Any
from urllib.parse import urlsplit

MODEL = urlsplit(os.environ["HERMES_ACP_BASE_URL"])
TURNS: dict[str, asyncio.Task[None]] = {}
HISTORY: dict[str, list[dict[str, Any]]] = {}
IDLE: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []


def send(message: dict[str, Any]) -> None:
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n")


def update(session: str, **body: Any) -> None:
    send({"method": "session/update", "params": {"sessionId": session, "update": body}})


async def ask(session: str) -> tuple[str, list[dict[str, Any]]]:
    """One model call; its text and its tool calls."""
    reader, writer = IDLE.pop() if IDLE else await asyncio.open_connection(MODEL.hostname, MODEL.port, limit=2**26)
    body = json.dumps({"model": "bench", "stream": True, "messages": HISTORY[session]}).encode()
    path = f"{MODEL.path}/chat/completions".encode()
    text, calls, done = "", [], False
    try:
        writer.write(b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (path, len(body), body))
        await reader.readuntil(b"\r\n\r\n")
        while size := int(await reader.readline(), 16):
            event = (await reader.readexactly(size + 2))[6:-4]
            if event == b"[DONE]":
                continue
            delta = json.loads(event)["choices"][0]["delta"]
            if piece := delta.get("content"):
                text += piece
                update(session, sessionUpdate="agent_message_chunk", content={"type": "text", "text": piece})
            calls += delta.get("tool_calls", [])
        await reader.readline()
        done = True
    finally:
        if done:
            IDLE.append((reader, writer))
        else:
            writer.close()
    return text, calls


def content(path: str) -> str:
    with open(path) as file:
        return file.read()


async def run(call: dict[str, Any]) -> str:
    arguments = json.loads(call["function"]["arguments"])
    if call["function"]["name"] == "read_file":
        return content(arguments["path"])
    command = ("sh", "-c", arguments["command"])
    process = await asyncio.create_subprocess_exec(*command, stdin=-3, stdout=-1, start_new_session=True)
    try:
        return (await process.communicate())[0].decode()
    except asyncio.CancelledError:
        os.killpg(process.pid, signal.SIGKILL)
        raise


async def turn(request: Any, session: str) -> None:
    history = HISTORY[session]
    try:
        while True:
            text, calls = await ask(session)
            history.append({"role": "assistant", "content": text, "tool_calls": calls})
            if not calls:
                break
            for call in calls:
                update(session, sessionUpdate="tool_call", toolCallId=call["id"], title="a tool", status="in_progress")
                history.append({"role": "tool", "tool_call_id": call["id"], "content": await run(call)})
                update(session, sessionUpdate="tool_call_update", toolCallId=call["id"], status="completed")
        stop = "end_turn"
    except asyncio.CancelledError:
        stop = "cancelled"
    send({"id": request, "result": {"stopReason": stop}})


def take(message: dict[str, Any]) -> None:
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        send({"id": message["id"], "result": {"protocolVersion": 1, "agentCapabilities": {}}})
    elif method == "session/new":
        session = f"s{len(HISTORY)}"
        HISTORY[session] = []
        send({"id": message["id"], "result": {"sessionId": session}})
    elif method == "session/prompt":
        session = params["sessionId"]
        HISTORY[session].append({"role": "user", "content": params["prompt"][0]["text"]})
        TURNS[session] = asyncio.create_task(turn(message["id"], session))
    elif method == "session/cancel":
        TURNS[params["sessionId"]].cancel()


async def main() -> None:
    reader = asyncio.StreamReader(limit=2**26)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        take(json.loads(line))


if __name__ == "__main__":
    asyncio.run(main())
