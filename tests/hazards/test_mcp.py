"""N: MCP servers reach the model, block nothing, and leave nothing behind."""

import asyncio
import json
import os
import signal
import socket
import sys
import time
from contextlib import asynccontextmanager, suppress

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import ROOT, AgentError, choose, open_editor
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


async def test_n1_the_first_request_has_the_servers_tools_and_a_call_reaches_it(editor, model, project, tmp_path):
    note = tmp_path / "note"
    session = await opened(editor, project, fake("fake", "--note", note))
    asked = []
    editor.handlers["session/request_permission"] = lambda params: asked.append(params) or choose("allow_once")(params)
    model.say(Say(calls=[Call(PROBE, {"text": "hello", "times": 2})]), "Done.")
    assert await editor.prompt(session, "probe") == "end_turn"
    assert PROBE in offered(model.requests[0])
    assert results(model.requests[1]) == ["hello hello"]
    assert json.loads(note.read_text()) == {"tool": "probe_tool", "text": "hello", "times": 2}
    [question] = asked
    assert question["toolCall"]["title"] == "fake: probe_tool"
    assert question["toolCall"]["rawInput"] == {"text": "hello", "times": 2}
    assert '"times": 2' in question["toolCall"]["content"][0]["content"]["text"]
    [card] = editor.updates(session, "tool_call")
    assert (card["title"], card["kind"]) == ("fake: probe_tool", "other")
    assert editor.updates(session, "tool_call_update")[-1]["status"] == "completed"
    assert "not connected" not in editor.text(session)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["session/load", "session/resume", "session/fork"])
async def test_n1_the_tools_are_there_after_load_resume_and_fork(tmp_path, model, project, method):
    async with open_editor(tmp_path / "home", model.url) as first:
        await first.initialize()
        session = await first.new_session(project)
        await first.prompt(session, "hi")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        place = {"sessionId": session, "cwd": str(project), "mcpServers": [fake()]}
        answer = await editor.request(method, place)
        opened_as = await all_connected(editor, answer.get("sessionId", session), "fake")
        await editor.prompt(opened_as, "again")
    assert PROBE not in offered(model.requests[0])
    assert PROBE in offered(model.requests[1])


@pytest.mark.slow
async def test_n1_loading_an_open_session_again_changes_its_servers(editor, model, project, tmp_path):
    file = tmp_path / "pids"
    session = await opened(editor, project, fake("old", "--pid", file), fake("kept", "--pid", file))
    place = {"sessionId": session, "cwd": str(project)}
    await editor.request("session/load", {**place, "mcpServers": [fake("kept", "--pid", file), fake("new")]})
    await all_connected(editor, session, "kept", "new")
    await editor.prompt(session, "hi again")
    assert {"mcp__kept__probe_tool", "mcp__new__probe_tool"} <= offered(model.requests[0])
    assert "mcp__old__probe_tool" not in offered(model.requests[0])
    assert await asyncio.to_thread(until, lambda: sum(map(lives, pids(file))) == 1, CLOSING_SECONDS)


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


@pytest.mark.slow
async def test_z3_what_was_given_in_confidence_is_in_no_log_and_no_notice(tmp_path, model, project):
    async with open_editor(tmp_path / "home", model.url, arguments=["--log-level", "debug"]) as editor:
        await editor.initialize()
        leaks = program("leaks", "/bin/sh", "-c", 'echo "token is $GITHUB_TOKEN" >&2; exit 1')
        leaks["env"] = [{"name": "GITHUB_TOKEN", "value": "ghp_x"}]
        session = await editor.new_session(project, mcpServers=[leaks])
        async with asyncio.timeout(60):
            while "leaks is not connected" not in editor.text(session):
                await editor.prompt(session, "hi")
        assert "token is ***" in editor.text(session)
        assert "ghp_x" not in json.dumps(editor.lines)
        assert "token is ***" in editor.stderr
        assert "ghp_x" not in editor.stderr


@pytest.mark.slow
async def test_z4_a_projects_files_start_no_server_without_a_yes(tmp_path, model, project):
    file = tmp_path / "pids"
    put_project_servers(project, fake("evil", "--pid", file))
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        editor.handlers["session/request_permission"] = choose("reject_once")
        session = await editor.new_session(project)
        await editor.prompt(session, "hi")
        assert not any(name.startswith("mcp__") for name in offered(model.requests[0]))
        (project / ".hermes-acp.toml").write_text(f"[mcp_servers.evil]\ncommand = '{sys.executable}'\n")
        with pytest.raises(AgentError) as error:
            await editor.new_session(project)
        assert "a project's file may only set" in str(error.value)
    assert pids(file) == []


async def test_z4_a_projects_server_runs_as_it_was_agreed_to_and_a_change_asks_again(tmp_path, model, project):
    """In a later session it starts unasked, by the same bytes; a program of the project's own counts among them."""
    asked, decisions = [], ["allow_always"]
    file, script = tmp_path / "pids", project / "serve.py"
    script.write_text("from tests.fakes.mcp_server import main\n\nmain()\n")
    server = fake("own", "--pid", file)
    put_project_servers(project, {**server, "args": ["serve.py", *server["args"][2:]]})
    for _ in range(2):
        async with open_editor(tmp_path / "home", model.url) as editor:
            editor.handlers["session/request_permission"] = lambda params: (
                asked.append(params) or choose(decisions[-1])(params)
            )
            await editor.initialize()
            session = await editor.new_session(project)
            await editor.prompt(session, "hi")
            await all_connected(editor, session, "own")
            await editor.prompt(session, "hi")
            assert "mcp__own__probe_tool" in offered(model.requests[-1])
            assert len(asked) == 1
    assert '"serve.py"' in asked[0]["toolCall"]["content"][0]["content"]["text"]
    decisions.append("reject_once")
    async with open_editor(tmp_path / "home", model.url) as editor:
        editor.handlers["session/request_permission"] = lambda params: (
            asked.append(params) or choose(decisions[-1])(params)
        )
        await editor.initialize()
        session = await editor.new_session(project)
        await all_connected(editor, session, "own")
        script.write_text("open('changed', 'w')\n")
        await editor.prompt(session, "hi")
        assert len(asked) == 2
        assert "mcp__own__probe_tool" not in offered(model.requests[-1])
        assert await gone(pids(file))
    assert not (project / "changed").exists()


@pytest.mark.slow
async def test_z4_a_server_that_has_ended_is_not_started_again_with_another_program(tmp_path, model, project):
    """Without a prompt in between: what the model's own command changed runs no sooner than it was asked about."""
    file, script = tmp_path / "pids", project / "serve.py"
    script.write_text("from tests.fakes.mcp_server import main\n\nmain()\n")
    server = fake("own", "--pid", file)
    put_project_servers(project, {**server, "args": ["serve.py", *server["args"][2:]]})
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "hi")
        await all_connected(editor, session, "own")
        script.write_text("open('changed', 'w')\n")
        os.kill(pids(file)[0], signal.SIGKILL)
        assert await gone(pids(file))
        async with asyncio.timeout(20):
            while "The project has changed what it says of it" not in editor.text(session):
                await editor.prompt(session, "/mcp")
                await asyncio.sleep(0.1)
    assert not (project / "changed").exists()


@pytest.mark.slow
async def test_the_persons_own_servers_are_there_and_the_editors_go_before_them(tmp_path, model, project):
    home = tmp_path / "home" / "hermes-acp"
    home.mkdir(parents=True)
    own = {"command": sys.executable, "args": ["-m", "tests.fakes.mcp_server"]}
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in own.items())
    table += f"env = {{ PYTHONPATH = {json.dumps(str(ROOT))}, WHOSE = 'mine' }}\n"
    (home / "config.toml").write_text(
        f"[mcp_servers.fake]\n{table}"
        f"[mcp_servers.mine]\n{table}tools = ['look']\ninherit = ['PASSED_KEY']\n"
        f"[mcp_servers.off]\n{table}enabled = false\n"
    )
    async with open_editor(tmp_path / "home", model.url, PASSED_KEY="handed on") as editor:
        await editor.initialize()
        model.say(
            Say(
                calls=[
                    Call("mcp__fake__look", {"name": "WHOSE"}),
                    Call("mcp__mine__look", {"name": "WHOSE"}),
                    Call("mcp__mine__look", {"name": "PASSED_KEY"}),
                ]
            ),
            "Done.",
        )
        session = await opened(editor, project, fake(WHOSE="the editor's"))
        await all_connected(editor, session, "mine")
        await editor.prompt(session, "look")
        assert results(model.requests[1]) == ["the editor's", "mine", "handed on"]
        names = offered(model.requests[0])
        assert {name for name in names if "__mine__" in name} == {"mcp__mine__look"}
        assert not any("__off__" in name for name in names)
        assert "  - `mcp__mine__look`: Tells an environment" in editor.text(session)


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


@pytest.mark.slow
async def test_a_tool_that_appears_is_offered_from_the_next_prompt_on(editor, model, project):
    session = await opened(editor, project, fake())
    model.say(Say(calls=[Call("mcp__fake__grow", {})]), "Done.")
    await editor.prompt(session, "grow")
    assert "mcp__fake__grown" not in offered(model.requests[1])
    model.say(Say(calls=[Call("mcp__fake__grown", {})]), "Done.")
    await editor.prompt(session, "use it")
    assert "mcp__fake__grown" in offered(model.requests[2])
    assert results(model.requests[3])[-1] == "grown"


@pytest.mark.slow
async def test_what_a_server_may_ask_is_answered_or_declined(editor, model, project, tmp_path):
    other = tmp_path / "other folder"
    other.mkdir()
    model.say(Say(calls=[Call("mcp__fake__folders", {}), Call("mcp__fake__ask_back", {})]), "Done.")
    session = await opened(editor, project, fake(), additionalDirectories=[str(other)])
    await editor.prompt(session, "ask")
    folders, declined = results(model.requests[1])
    assert folders == f"{project.as_uri()} {other.as_uri()}"
    assert declined.startswith("declined")


@pytest.mark.slow
async def test_results_of_all_kinds_reach_the_model(editor, model, project):
    calls = [Call("mcp__fake__picture", {}), Call("mcp__fake__fail", {}), Call("mcp__fake__big", {})]
    model.say(Say(calls=calls), "Done.")
    session = await opened(editor, project, fake())
    await editor.prompt(session, "show")
    picture, failed, big = results(model.requests[1])
    assert "Here it is." in picture
    assert "[more](https://example.org/more)" in picture
    assert "[memo://1]\na memo" in picture
    assert "image/png;base64" in json.dumps(model.requests[1].messages)
    assert "this is how it fails" in failed
    assert len(big) < 40_000
    assert "left out" in big
    assert big.endswith("end")
    statuses = [update["status"] for update in editor.updates(session, "tool_call_update") if "rawOutput" in update]
    assert sorted(statuses) == ["completed", "completed", "failed"]


@pytest.mark.slow
async def test_always_covers_one_tool_of_one_server_and_a_rejection_too(editor, model, project):
    asked = []

    def answer(params):
        asked.append(params["toolCall"]["title"])
        return choose("reject_once" if "where" in asked[-1] else "allow_always")(params)

    editor.handlers["session/request_permission"] = answer
    turns = [[Call(PROBE, {"text": "a"}), Call(PROBE, {"text": "b"}), Call("mcp__fake__look", {"name": "HOME"})]]
    turns += [[Call("mcp__fake__where", {})], [Call("mcp__fake__where", {}), Call("mcp__fake__look", {"name": "PATH"})]]
    model.say(*(Say(calls=calls) for calls in turns), "Done.")
    session = await opened(editor, project, fake())
    await editor.prompt(session, "go")
    assert asked == ["fake: probe_tool", "fake: look", "fake: where"]
    assert "rejected" in results(model.requests[-1])[4]


async def test_a7_plan_mode_offers_only_what_is_said_to_change_nothing(editor, model, project):
    session = await opened(editor, project, fake())
    await editor.request("session/set_mode", {"sessionId": session, "modeId": "plan"})
    model.say(Say(calls=[Call("mcp__fake__look", {"name": "HOME"}), Call(PROBE, {"text": "x"})]), "Done.")
    await editor.prompt(session, "look")
    assert {name for name in offered(model.requests[0]) if name.startswith("mcp__")} == {"mcp__fake__look"}
    looked, probed = results(model.requests[1])
    assert looked.endswith("home")
    assert "plan mode" in probed
