"""S: sessions are kept at once, stay in their folder, and end when they are closed.

Replay (S1), resume (S2), unknown ids (S3) and two folders at once (S5) are in `e2e/test_sessions.py` and
`e2e/test_turn.py`; a store that is out of reach (S6) is in `test_store_out_of_reach.py`.
"""

import asyncio
import os
import signal
from contextlib import suppress

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, open_editor
from tests.support.processes import processes_tagged, until
from tests.support.talk import open_params

pytestmark = pytest.mark.slow


async def test_s3_no_request_for_an_unknown_session_succeeds_or_makes_one(editor, model, project):
    session = await editor.new_session(project)
    await editor.prompt(session, "hi")
    for unknown in ("nope", session[:-1], session.upper(), " " + session, "\ud800", "x" * 100_000, "' OR 1=1 --"):
        named = unknown.encode("utf-8", "replace").decode()
        for method in ("session/load", "session/resume", "session/fork"):
            with pytest.raises(AgentError) as error:
                await editor.request(method, open_params(named, project))
            assert error.value.code == -32002, (method, named[:50])
        assert await editor.request("session/delete", {"sessionId": named}) == {}
    [row] = (await editor.request("session/list"))["sessions"]
    assert row["sessionId"] == session


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_s4_what_was_answered_is_there_after_a_restart(editor, model, project, tmp_path, number):
    """Title, mode, model, folders and content: each is stored before its request is answered."""
    other = tmp_path / "other"
    other.mkdir()
    model.say("The answer.")
    session = await editor.new_session(project, additionalDirectories=[str(other)])
    await editor.prompt(session, "A question that becomes the title")
    await editor.request("session/set_mode", {"sessionId": session, "modeId": "accept_edits"})
    editor.process.send_signal(number)
    await editor.process.wait()
    async with open_editor(tmp_path / "home", model.url) as again:
        await again.initialize()
        [row] = (await again.request("session/list"))["sessions"]
        assert row["title"] == "A question that becomes the title"
        assert row["additionalDirectories"] == [str(other)]
        result = await again.request("session/load", open_params(session, project))
        assert result["modes"]["currentModeId"] == "accept_edits"
        assert again.text(session, "user_message_chunk") == "A question that becomes the title"
        assert again.text(session) == "The answer."


async def test_s5_sessions_use_their_folders_although_the_process_has_lost_its_own(tmp_path, model, project):
    lost = tmp_path / "lost"
    lost.mkdir()
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        (folder / "name.txt").write_text(f"inside {folder.name}\n")
    calls = [
        Call("read_file", {"path": "name.txt"}),
        Call("list_files", {}),
        Call("search_files", {"pattern": "inside"}),
        Call("patch", {"path": "name.txt", "old_text": "inside", "new_text": "found in"}),
        Call("write_file", {"path": "sub/made.txt", "content": "new\n"}),
        Call("terminal", {"command": "pwd; cat name.txt sub/made.txt"}),
    ]

    def answer(body):
        done = sum(message["role"] == "tool" for message in body["messages"])
        return Say(calls=[calls[done]]) if done < len(calls) else "Done."

    model.script(answer)
    async with open_editor(tmp_path / "home", model.url, cwd=lost) as editor:
        await editor.initialize()
        lost.rmdir()
        sessions = [await editor.new_session(folder) for folder in folders]
        await asyncio.gather(*(editor.prompt(session, "Look.") for session in sessions))
        assert os.readlink(f"/proc/{editor.process.pid}/cwd").startswith(str(lost))
    for folder in folders:
        assert (folder / "name.txt").read_text() == f"found in {folder.name}\n"
        assert (folder / "sub" / "made.txt").read_text() == "new\n"
        own = [request for request in model.requests if str(folder) in request.messages[0]["content"]]
        results = [message["content"] for message in own[-1].messages if message["role"] == "tool"]
        assert f"{folder}\nfound in {folder.name}\nnew\n" in results[-1]
        assert all(f"inside {other.name}" not in str(results) for other in folders if other != folder)


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
async def test_s7_a_session_that_is_closed_does_no_more_work(editor, model, project, tmp_path, method):
    working = "while :; do echo tick >> ticks; sleep 0.05; done"
    model.say(
        Say(calls=[Call("terminal", {"command": f"({working}) & ({working}) & {working}"})]),
        *["I go on."] * 5,
    )
    session = await editor.new_session(project)
    order = []
    prompts = [editor.begin_prompt(session, text) for text in ("Work.", "More.", "And more.")]
    assert await asyncio.to_thread(until, (project / "ticks").exists)
    closing = editor.begin(method, {"sessionId": session})
    for name, future in [*zip("123", prompts, strict=True), ("close", closing)]:
        future.add_done_callback(lambda _, name=name: order.append(name))
    answers = await asyncio.gather(*prompts)
    assert await closing == {}
    assert [answer["stopReason"] for answer in answers] == ["cancelled"] * 3
    assert order[-1] == "close"
    assert processes_tagged(editor.tag) == [editor.process.pid]
    ticks, requests = (project / "ticks").stat().st_size, len(model.requests)
    await asyncio.sleep(2)
    assert (project / "ticks").stat().st_size == ticks
    assert len(model.requests) == requests == 1
    with pytest.raises(AgentError) as error:
        await editor.prompt(session, "Hello?")
    assert error.value.code == -32002
    listed = [row["sessionId"] for row in (await editor.request("session/list"))["sessions"]]
    assert listed == ([session] if method == "session/close" else [])
    if method == "session/close":
        await editor.request("session/load", open_params(session, project))
        assert editor.text(session, "user_message_chunk") == "Work."
        assert await editor.prompt(session, "Go on.") == "end_turn"


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
@pytest.mark.parametrize("delay", [0.05, 0.15])
async def test_s7_a_close_that_is_taken_back_ends_all_the_same_and_the_session_opens_again(
    editor, model, project, method, delay
):
    """What the session left running does not end at once, so that the cancel comes in the middle."""
    line = "trap '' TERM; while :; do sleep 300; done"
    model.say(Say(calls=[Call("terminal", {"command": line, "background": True})]), "Started.")
    session = await editor.new_session(project)
    await editor.prompt(session, "Start it.")
    closing = editor.begin(method, {"sessionId": session})
    asked = editor.last_id
    await asyncio.sleep(delay)
    editor.notify("$/cancel_request", {"requestId": asked})
    await asyncio.wait([closing], timeout=5)
    assert closing.exception() is None or "-32800" in str(closing.exception())
    assert processes_tagged(editor.tag) == [editor.process.pid]
    with suppress(AgentError):
        await editor.request("session/load", open_params(session, project), timeout=5)
        assert await editor.prompt(session, "Go on.") == "end_turn"
        return
    assert method == "session/delete", "a closed session can be loaded"


async def test_s7_a_session_is_closed_while_it_asks_and_while_it_streams(editor, model, project):
    editor.handlers["session/request_permission"] = lambda params: asyncio.Event().wait()
    replies = [
        Say(calls=[Call("terminal", {"command": "touch made"})]),
        Say(text=["on "] * 3_000, token_delay=0.01),
        Say(text=["late"], first_delay=30),
    ]
    for reply in replies:
        model.say(reply)
        session = await editor.new_session(project)
        running = editor.begin_prompt(session, "Work.")
        await model.until(lambda server: len(server.requests) >= 1)
        await asyncio.sleep(0.2)
        assert await editor.request("session/close", {"sessionId": session}, timeout=5) == {}
        assert running.result()["stopReason"] == "cancelled"
        model.forget()
    assert not (project / "made").exists()
