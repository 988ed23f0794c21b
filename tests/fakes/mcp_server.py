"""A real MCP server, made of the mcp package's own server side: over stdio, or over HTTP on loopback.

    python -m tests.fakes.mcp_server [--note FILE] [--pid FILE] [--http PORT | --sse PORT]

`--note` appends what was received to a file, a JSON line each; `--pid` appends the process id.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import sys
from pathlib import Path

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from tests.support.pictures import plain

NOTE = Path(os.devnull)

server = MCPServer("fake", log_level="ERROR")


def note(**facts: object) -> None:
    with NOTE.open("a", encoding="utf-8") as file:
        file.write(json.dumps(facts) + "\n")


@server.tool(description="Repeats a text.")
def probe_tool(text: str = "", times: int = 1) -> str:
    note(tool="probe_tool", text=text, times=times)
    return " ".join([text] * times)


@server.tool(annotations=types.ToolAnnotations(read_only_hint=True))
def look(name: str) -> str:
    """Tells an environment variable of the server."""
    return os.environ.get(name, "(not set)")


@server.tool()
def header(ctx: Context, name: str) -> str:
    """Tells a header of the request that brought the call."""
    return str(ctx.request_context.request.headers.get(name))


@server.tool()
def where() -> str:
    """Tells the folder that the server runs in."""
    return os.getcwd()


@server.tool()
def fail() -> str:
    """Fails."""
    raise ToolError("this is how it fails")


@server.tool()
def big() -> str:
    """Answers far too much."""
    return "begin " + "x" * 1_000_000 + " end"


@server.tool(structured_output=False)
def picture(side: int = 20) -> list[types.ContentBlock]:
    """Answers with a picture, a link and a resource."""
    data = base64.b64encode(plain(side, side)).decode()
    return [
        types.TextContent(type="text", text="Here it is."),
        types.ImageContent(type="image", data=data, mime_type="image/png"),
        types.ResourceLink(type="resource_link", name="more", uri="https://example.org/more"),
        types.EmbeddedResource(
            type="resource", resource=types.TextResourceContents(uri="memo://1", text="a memo", mime_type="text/plain")
        ),
    ]


@server.tool()
async def slow(ctx: Context, seconds: float = 60) -> str:
    """Takes its time and tells how far it is."""
    note(slow="began")
    try:
        for step in range(3):
            await ctx.report_progress(step + 1, 3, f"step {step + 1}")
            await asyncio.sleep(seconds / 3)
    except BaseException:
        note(slow="cancelled")
        raise
    return "done"


@server.tool()
def crash() -> str:
    """Ends the server in the middle of a call."""
    sys.stderr.write("the roof is on fire\n")
    sys.stderr.flush()
    os._exit(7)


@server.tool()
async def folders(ctx: Context) -> str:
    """Asks for the session's folders."""
    found = await ctx.session.list_roots()
    return " ".join(str(root.uri) for root in found.roots)


@server.tool()
async def ask_back(ctx: Context) -> str:
    """Asks the model of whoever calls."""
    try:
        await ctx.session.create_message(
            [types.SamplingMessage(role="user", content=types.TextContent(type="text", text="hi"))], max_tokens=5
        )
    except Exception as error:
        return f"declined: {error}"
    return "answered"


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds one more tool."""
    server.add_tool(lambda: "grown", name="grown", description="Was not there before.")
    await ctx.session.send_tool_list_changed()
    return "grown"


def main() -> None:
    global NOTE
    options = argparse.ArgumentParser()
    options.add_argument("--note", type=Path, default=NOTE)
    options.add_argument("--pid", type=Path, default=Path(os.devnull))
    options.add_argument("--http", type=int)
    options.add_argument("--sse", type=int)
    given = options.parse_args()
    NOTE = given.note
    with given.pid.open("a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    if given.http:
        server.run("streamable-http", port=given.http)
    elif given.sse:
        server.run("sse", port=given.sse)
    else:
        server.run()


if __name__ == "__main__":
    main()
