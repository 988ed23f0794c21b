"""What meets an MCP server after each single step of its start and of a call: nothing of it is left or stuck."""

import asyncio
import logging
from functools import partial

import pytest

from tests.fakes.model_server import Call, Say
from tests.mcp.conftest import small
from tests.support.inside import open_inside
from tests.support.mcp_servers import gone, leaving_child, pids, program
from tests.support.moments import outcome
from tests.support.stepping import after_steps

pytestmark = pytest.mark.slow

ANSWERS = (Say(calls=[Call("mcp__small__echo", {"text": "seen"})]), "Seen.")


@pytest.fixture
def no_errors(caplog):
    yield
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.fixture
def started(tmp_path):
    """Where the servers leave the ids of their processes."""
    return tmp_path / "pids"


@pytest.fixture
def named(started):
    server = small(before=leaving_child(started))
    return program(server.name, server.command, *server.args)


def script(model):
    replies = list(ANSWERS)
    model.script(lambda body: replies.pop(0) if replies else "Hello.")


async def talk(editor, project, named, meet, steps):
    """Open a session with the server, have its tool called, and be met so many steps after the session was told; the
    session, what became of the prompt, and whether it was met."""
    with after_steps(1_000_000) as left:
        opened = await editor.begin("session/new", {"cwd": str(project), "mcpServers": [named]})
        left.count, left.do = steps, partial(meet, editor, opened["sessionId"])
        answer = editor.begin_prompt(opened["sessionId"], "go")
        await asyncio.wait([answer, editor.serving], return_when=asyncio.FIRST_COMPLETED)
    return opened["sessionId"], answer, left.count <= 0


def cancel(editor, session):
    editor.notify("session/cancel", {"sessionId": session})


async def test_a_server_is_there_for_the_prompt_after_a_cancelled_one(
    tmp_path, project, model_in_thread, no_errors, named, started
):
    async with open_inside(tmp_path / "home", model_in_thread.url) as editor:
        for steps in range(1, 1_000):
            script(model_in_thread)
            started.unlink(missing_ok=True)
            session, answer, met = await talk(editor, project, named, cancel, steps)
            assert (await answer)["stopReason"] in ("cancelled", "end_turn")
            script(model_in_thread)
            assert await editor.prompt(session, "go") == "end_turn"
            assert "seen" in str(editor.updates(session))
            await outcome(editor.begin("session/close", {"sessionId": session}))
            assert await gone(pids(started))
            if not met:
                return
    raise AssertionError("it never came to its end")


async def test_a_server_is_gone_with_the_editor(tmp_path, project, model_in_thread, no_errors, named, started):
    for steps in range(1, 1_000):
        script(model_in_thread)
        started.unlink(missing_ok=True)
        async with open_inside(tmp_path / "home", model_in_thread.url) as editor:
            _, _, met = await talk(editor, project, named, lambda editor, session: editor.peer.close(), steps)
        assert await gone(pids(started))
        if not met:
            return
    raise AssertionError("it never came to its end")
