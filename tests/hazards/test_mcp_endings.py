"""N3: however session and agent end, no server is left, nor what it started."""

import asyncio
import os
import signal
import time

import pytest

from tests.fakes.model_server import Say
from tests.support.editor import AgentError
from tests.support.mcp_servers import all_connected, fake, gone, opened, pids, program
from tests.support.processes import lives


@pytest.mark.slow
async def test_n3_thirty_sessions_leave_no_process(editor, model, project, tmp_path):
    file = tmp_path / "pids"
    for count in range(30):
        session = await editor.new_session(project, mcpServers=[fake("fake", "--pid", file)])
        if count % 10 == 9:
            await all_connected(editor, session, "fake")
        elif count % 3 == 0:
            await asyncio.sleep(0.3)
        await editor.request("session/close", {"sessionId": session})
    assert len(pids(file)) >= 3
    assert await gone(pids(file))


STUBBORN = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["setsid", "sleep", "300"])
open(sys.argv[1], "a").write(f"{os.getpid()}\\n{child.pid}\\n")
import runpy
sys.argv = sys.argv[:1]
try:
    runpy.run_module("tests.fakes.mcp_server", run_name="__main__")
finally:
    while True: signal.pause()
"""


def stubborn(file):
    """A server with a child in a session of its own, that ends neither with its stdin nor by a signal."""
    return {**fake("stubborn"), "args": ["-c", STUBBORN, str(file)]}


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["session/close", "session/delete", "eof", signal.SIGTERM, signal.SIGKILL])
async def test_n3_no_ending_leaves_a_server_or_what_it_started(editor, model, project, tmp_path, ending):
    file = tmp_path / "pids"
    session = await opened(editor, project, fake("fake", "--pid", file), stubborn(file))
    running = pids(file)
    assert len(running) == 3
    assert all(map(lives, running))
    if ending == "eof":
        began = time.monotonic()
        assert await editor.close() == 0
        assert time.monotonic() - began < 5
    elif isinstance(ending, str):
        await editor.request(ending, {"sessionId": session})
    else:
        os.kill(editor.process.pid, ending)
        await editor.process.wait()
    assert await gone(running), [number for number in running if lives(number)]


@pytest.mark.parametrize("ending", ["session/close", "session/delete"])
async def test_n3_a_session_that_ends_while_it_is_loaded_again_leaves_no_server(
    editor, model, project, tmp_path, ending
):
    """The editor reads on late: the session has ended by the time that its load is answered."""
    file = tmp_path / "pids"
    session = await opened(editor, project, fake())
    model.say(*[Say(text=["word " * 100_000])] * 2)
    for _ in range(2):
        await editor.prompt(session, "Say much.")
    output = editor.process._transport.get_pipe_transport(1)
    output.pause_reading()
    server = program("late", "/bin/sh", "-c", f"echo $$ >> '{file}'; exec sleep 300")
    place = {"sessionId": session, "cwd": str(project), "mcpServers": [server]}
    loading = editor.begin("session/load", place)
    await asyncio.sleep(0.5)
    closing = editor.begin(ending, {"sessionId": session})
    await asyncio.sleep(0.5)
    output.resume_reading()
    await asyncio.wait([loading, closing])
    await asyncio.sleep(1)
    assert await gone(pids(file))
    with pytest.raises(AgentError) as error:
        await editor.prompt(session, "Are you there?")
    assert error.value.code == -32002
