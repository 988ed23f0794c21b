"""N2: a server that hangs, fails, is late or crashes blocks nothing, and is told of."""

import asyncio
import json
import time

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.mcp_servers import PROBE, all_connected, fake, offered, opened, pids, program, results
from tests.support.processes import until


@pytest.mark.slow
async def test_n2_servers_that_hang_or_fail_hold_up_nothing_and_are_reported_once(editor, model, project):
    async def silent(reader, writer):
        await reader.read()
        writer.close()

    listener = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    servers = [
        {"name": "mute", "type": "http", "url": f"http://127.0.0.1:{port}/mcp", "headers": []},
        program("hangs", "/bin/sleep", "999"),
        program("ends", "/bin/sh", "-c", "echo no licence >&2; exit 3"),
        program("missing", "/no/such/program"),
        program("unknown", "no-such-program-anywhere"),
        program("relative", "./server"),
        program("empty", ""),
        fake(),
    ]
    began = time.monotonic()
    session = await editor.new_session(project, mcpServers=servers)
    assert time.monotonic() - began < 10
    await all_connected(editor, session, "fake")
    assert editor.text(session).count("is not connected.**") == 0
    async with asyncio.timeout(60):
        while "(It closed the connection. It ended with exit code 3" not in editor.text(session):
            await editor.prompt(session, "/mcp")
    await editor.prompt(session, "first")
    assert PROBE in offered(model.requests[0])
    said = editor.text(session)
    for name in ("ends", "missing", "unknown", "relative", "empty"):
        assert said.count(f"MCP server {name} is not connected") == 1, name
    assert "exit code 3. no licence" in said
    assert "/no/such/program" in said
    assert "must be an absolute path" in said
    assert said.count("hangs is still starting") == 1
    assert said.count("mute is still starting") == 1
    began = time.monotonic()
    await editor.prompt(session, "second")
    assert time.monotonic() - began < 10
    assert editor.text(session).count("MCP server") == said.count("MCP server")
    listener.close()


@pytest.mark.slow
async def test_n2_a_server_that_is_late_joins_a_later_prompt(editor, model, project, tmp_path):
    late = fake()
    late["args"] = [
        "-c",
        "import time, runpy; time.sleep(6); runpy.run_module('tests.fakes.mcp_server', run_name='__main__')",
    ]
    session = await editor.new_session(project, mcpServers=[late])
    await editor.prompt(session, "first")
    assert PROBE not in offered(model.requests[0])
    await all_connected(editor, session, "fake")
    await editor.prompt(session, "and now")
    assert PROBE in offered(model.requests[1])
    assert "not connected" not in editor.text(session)


async def test_a_cancelled_call_frees_the_turn_at_once_and_tells_the_server(editor, model, project, tmp_path):
    note = tmp_path / "note"
    session = await opened(editor, project, fake("fake", "--note", note))
    model.say(Say(calls=[Call("mcp__fake__slow", {})]))
    running = editor.begin_prompt(session, "wait")
    await editor.wait_update(lambda update: "step 1 (1/3)" in json.dumps(update.get("content", "")))
    began = time.monotonic()
    editor.notify("session/cancel", {"sessionId": session})
    assert (await running)["stopReason"] == "cancelled"
    assert time.monotonic() - began < 5
    assert await asyncio.to_thread(until, lambda: '"cancelled"' in note.read_text())
    model.say(Say(calls=[Call(PROBE, {"text": "still here"})]), "Done.")
    assert await editor.prompt(session, "go on") == "end_turn"
    assert results(model.requests[-1])[-1] == "still here"


@pytest.mark.slow
async def test_a_server_that_crashes_fails_its_call_and_is_started_again(editor, model, project, tmp_path):
    file = tmp_path / "pids"
    session = await opened(editor, project, fake("fake", "--pid", file))
    model.say(
        Say(calls=[Call("mcp__fake__crash", {})]),
        Say(calls=[Call(PROBE, {"text": "back"})]),
        "Done.",
        Say(calls=[Call("mcp__fake__crash", {})]),
        "Done.",
    )
    assert await editor.prompt(session, "crash") == "end_turn"
    [crashed, back] = results(model.requests[2])
    assert "has gone during the call" in crashed
    assert "the roof is on fire" in crashed
    assert back == "back"
    await editor.prompt(session, "crash again")
    await all_connected(editor, session, "fake")
    await editor.prompt(session, "and now")
    assert PROBE in offered(model.requests[-1])
    assert len(pids(file)) == 3
