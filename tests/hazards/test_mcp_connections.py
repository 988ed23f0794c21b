"""N4: every kind of connection that is advertised works, and carries its environment or headers."""

import asyncio
import json
import socket
import sys
import time
from contextlib import asynccontextmanager, suppress

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import ROOT, AgentError, open_editor
from tests.support.mcp_servers import fake, opened, results


async def test_n4_a_type_that_is_not_supported_is_refused_by_its_name(editor, project):
    for kind in ("ws", "acp", "", "STDIO", "\u202e"):
        server = {"name": "x", "type": kind, "url": "http://x", "headers": []}
        with pytest.raises(AgentError) as error:
            await editor.new_session(project, mcpServers=[server])
        assert error.value.code == -32602
        assert "mcpServers.0" in str(error.value)
        assert ascii(kind) in str(error.value)


@pytest.mark.slow
async def test_n4_environment_and_folder_reach_the_server_and_keys_do_not(tmp_path, model, project):
    async with open_editor(tmp_path / "home", model.url, OPENAI_API_KEY="sk-not-for-servers") as editor:
        await editor.initialize()
        assert (await editor.request("session/list"))["sessions"] == []
        names = ["GIVEN_TOKEN", "HERMES_ACP_API_KEY", "OPENAI_API_KEY", "HOME"]
        looks = [Call("mcp__fake__look", {"name": name}) for name in names]
        model.say(Say(calls=[*looks, Call("mcp__fake__where", {})]), "Done.")
        session = await opened(editor, project, fake(GIVEN_TOKEN="ghp_x"))
        await editor.prompt(session, "look")
        home = str(tmp_path / "home")
        assert results(model.requests[1]) == ["ghp_x", "(not set)", "(not set)", home, str(project)]


@asynccontextmanager
async def remote(kind):
    """The address of a server over HTTP, and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.fakes.mcp_server", f"--{kind}", str(port)]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stderr=asyncio.subprocess.DEVNULL)
    try:
        async with asyncio.timeout(30):
            while True:
                with suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port}/{'mcp' if kind == 'http' else 'sse'}", process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_n4_servers_over_http_are_reached_with_their_headers(editor, model, project, kind):
    async with remote(kind) as (url, process):
        headers = [{"name": "Authorization", "value": "Bearer tok_1"}, {"name": "X-More", "value": "yes"}]
        session = await opened(editor, project, {"name": "far", "type": kind, "url": url, "headers": headers})
        calls = [Call("mcp__far__header", {"name": header["name"]}) for header in headers]
        model.say(Say(calls=[*calls, Call("mcp__far__probe_tool", {"text": "far"})]), "Done.")
        await editor.prompt(session, "look")
        assert results(model.requests[1]) == ["Bearer tok_1", "yes", "far"]
        model.say(Say(calls=[Call("mcp__far__slow", {})]))
        running = editor.begin_prompt(session, "wait")
        await editor.wait_update(lambda update: "step 1 (1/3)" in json.dumps(update.get("content", "")))
        began = time.monotonic()
        editor.notify("session/cancel", {"sessionId": session})
        assert (await running)["stopReason"] == "cancelled"
        assert time.monotonic() - began < 5
        process.kill()
        await process.wait()
        model.say(Say(calls=[Call("mcp__far__probe_tool", {"text": "gone"})]), "Done.")
        assert await editor.prompt(session, "again") == "end_turn"
        said = results(model.requests[-1])[-1]
        assert "far" in said
        assert "tok_1" not in json.dumps(editor.lines[-20:]) + said
        assert await editor.request("session/close", {"sessionId": session}) == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_remote_server_that_refuses_or_is_not_there_is_reported(editor, model, project, kind):
    async def refuse(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    servers = [
        {"name": "locked", "type": kind, "url": f"http://127.0.0.1:{port}/x", "headers": []},
        {"name": "nobody", "type": kind, "url": "http://127.0.0.1:1/x", "headers": []},
        {"name": "odd", "type": kind, "url": "no address", "headers": []},
    ]
    session = await editor.new_session(project, mcpServers=servers)
    async with asyncio.timeout(60):
        while editor.text(session).count("is not connected") < 3:
            await editor.prompt(session, "hi")
            await asyncio.sleep(0.2)
    said = editor.text(session)
    listener.close()
    for name in ("locked", "nobody", "odd"):
        assert said.count(f"MCP server {name} is not connected") == 1, said
    assert "401" in said
