"""MCP servers as an editor or a project names them, and what came of them in a session."""

import asyncio
import json
import sys

from tests.support.editor import ROOT
from tests.support.processes import lives, until

PROBE = "mcp__fake__probe_tool"


CLOSING_SECONDS = 3.0


def fake(name="fake", *arguments, **env):
    """The server of `tests.fakes.mcp_server`, as an editor names it."""
    pairs = [{"name": key, "value": value} for key, value in {"PYTHONPATH": str(ROOT), **env}.items()]
    arguments = ["-m", "tests.fakes.mcp_server", *map(str, arguments)]
    return {"name": name, "command": sys.executable, "args": arguments, "env": pairs}


def put_project_servers(project, *servers):
    tables = {
        server["name"]: {
            "command": server["command"],
            "args": server["args"],
            "env": {pair["name"]: pair["value"] for pair in server["env"]},
        }
        for server in servers
    }
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": tables}))


def program(name, *command):
    return {"name": name, "command": command[0], "args": list(command[1:]), "env": []}


def offered(request):
    return {tool["function"]["name"] for tool in request.body.get("tools", [])}


async def opened(editor, project, *servers, **more):
    """A session whose servers are all connected, however slow the machine is; the model has not been asked yet."""
    session = await editor.new_session(project, mcpServers=list(servers), **more)
    return await all_connected(editor, session, *(server["name"] for server in servers))


async def all_connected(editor, session, *names):
    async with asyncio.timeout(60):
        while True:
            before = len(editor.text(session))
            await editor.prompt(session, "/mcp")
            if all(f"**{name}**, connected" in editor.text(session)[before:] for name in names):
                return session
            await asyncio.sleep(0.2)


def results(request):
    return [message["content"] for message in request.messages if message["role"] == "tool"]


def pids(file):
    return [int(line) for line in file.read_text().split()] if file.exists() else []


async def gone(numbers):
    return await asyncio.to_thread(until, lambda: not any(map(lives, numbers)), CLOSING_SECONDS)


def leaving_child(file):
    """What a server may do at its start: leave a child in a session of its own, and note both ids in the file."""
    return f"""
def note():
    with open({str(file)!r}, "a") as ids:
        ids.write(f"{{os.getpid()}}\\n")
note()
if not os.fork():
    os.setsid()
    note()
    for descriptor in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
    time.sleep(60)
    os._exit(0)
"""
