"""The editor goes away, or a signal comes, in every phase: the agent keeps what it has, ends and leaves nothing."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.model_server import Call, ModelServer, Say
from tests.kill.endings import close_output, end_input, output, signalled
from tests.support.editor import Editor, agent_command, agent_env, choose, never, open_editor
from tests.support.processes import guardians_of, lives, processes_tagged, processor_seconds, until

LIMIT = 2.0
"""Seconds in which the process must have ended."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


@dataclass
class Stage:
    """An agent with one session that has had a prompt."""

    editor: Editor
    model: ModelServer
    project: Path
    session: str = ""


def close_both(editor: Editor) -> None:
    close_output(editor)
    end_input(editor)


ENDINGS = {
    "end of input": end_input,
    "closed output": close_output,
    "both closed": close_both,
    "SIGTERM": signalled(signal.SIGTERM),
    "SIGHUP": signalled(signal.SIGHUP),
    "SIGINT": signalled(signal.SIGINT),
}


async def at_rest(stage: Stage) -> None:
    await stage.editor.wait_update(lambda update: update["sessionUpdate"] == "available_commands_update")


async def before_the_models_first_byte(stage: Stage) -> None:
    stage.model.say(Say(text=["late"], first_delay=30))
    asked = len(stage.model.requests)
    stage.editor.begin_prompt(stage.session, "Wait.")
    await stage.model.until(lambda server: len(server.requests) > asked)


async def in_mid_stream(stage: Stage) -> None:
    stage.model.say(Say(text=[f"{word} " for word in range(3000)], token_delay=0.01))
    stage.editor.begin_prompt(stage.session, "Count.")
    await stage.editor.wait_update(lambda update: "50 " in str(update.get("content")))


async def during_a_question(stage: Stage) -> None:
    stage.editor.handlers["session/request_permission"] = never
    stage.model.say(Say(calls=[Call("terminal", {"command": "touch made"})]))
    stage.editor.begin_prompt(stage.session, "Ask.")
    await stage.editor.wait_line(lambda line: line.get("method") == "session/request_permission")


async def during_a_command(stage: Stage) -> None:
    line = "(trap '' TERM INT HUP; sleep 300) & setsid sleep 300 & sleep 300"
    stage.model.say(Say(calls=[Call("terminal", {"command": line})]))
    stage.editor.begin_prompt(stage.session, "Run.")
    assert await asyncio.to_thread(until, lambda: len(processes_tagged(stage.editor.tag)) >= 5)


async def after_a_command_left_something(stage: Stage) -> None:
    stage.model.say(Say(calls=[Call("terminal", {"command": "sleep 300 & setsid sleep 300 & echo up"})]), "Up.")
    await stage.editor.prompt(stage.session, "Start.")


async def during_a_load(stage: Stage) -> None:
    stage.model.say(Say(text=["word " * 100_000]))
    await stage.editor.prompt(stage.session, "Say much.")
    stage.editor.begin("session/load", {"sessionId": stage.session, "cwd": str(stage.project), "mcpServers": []})
    await stage.editor.wait_update(lambda update: update["sessionUpdate"] == "user_message_chunk")


async def while_the_editor_does_not_read(stage: Stage) -> None:
    """The output is full when the end comes, and nobody takes it."""
    output(stage.editor).pause_reading()
    stage.model.say(Say(text=["word " * 100_000] * 10))
    stage.editor.begin_prompt(stage.session, "Say much.")
    await asyncio.sleep(0.5)


PHASES = (
    at_rest,
    before_the_models_first_byte,
    in_mid_stream,
    during_a_question,
    during_a_command,
    after_a_command_left_something,
    during_a_load,
    while_the_editor_does_not_read,
)


@asynccontextmanager
async def staged(home: Path, model: ModelServer, project: Path) -> AsyncIterator[Stage]:
    editor = await Editor.start(agent_command(), env=agent_env(home, model.url))
    try:
        await editor.initialize()
        editor.handlers["session/request_permission"] = choose("allow_once")
        stage = Stage(editor, model, project, await editor.new_session(project))
        model.say("The first answer.")
        await editor.prompt(stage.session, "The first prompt.")
        yield stage
        editor.assert_clean()
    finally:
        await editor.kill()


async def assert_ends_well(editor: Editor, end: Callable[[Editor], None], codes: tuple[int, ...] = (0,)) -> None:
    """It ends soon, by itself, quietly, without working hard, and nothing of it is left."""
    guardians = await asyncio.to_thread(guardians_of, editor.process.pid)
    used, began = processor_seconds(editor.process.pid), time.monotonic()
    last = used
    end(editor)
    while editor.process.returncode is None:
        assert time.monotonic() - began < LIMIT, "it goes on"
        last = processor_seconds(editor.process.pid) or last
        await asyncio.sleep(0.01)
    if not output(editor).is_closing():
        output(editor).resume_reading()
    assert editor.process.returncode in codes
    assert last - used < 0.7

    def left() -> list[int]:
        return [*processes_tagged(editor.tag), *filter(lives, guardians)]

    assert await asyncio.to_thread(until, lambda: not left(), LIMIT), left()
    assert "Traceback" not in editor.stderr
    assert len(editor.stderr) < 1_000, editor.stderr


@pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: phase.__name__.replace("_", " "))
async def test_an_agent_ends_with_its_editor(
    tmp_path: Path, phase: Callable[[Stage], Awaitable[None]], end: Callable[[Editor], None]
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    project.mkdir()
    async with ModelServer() as model:
        async with staged(home, model, project) as stage:
            await phase(stage)
            await assert_ends_well(stage.editor, end)
            prompts = [
                line["params"]["prompt"][0]["text"]
                for line in stage.editor.sent
                if line.get("method") == "session/prompt"
            ]
        assert not (project / "made").exists()
        async with open_editor(home, model.url) as again:
            await again.initialize()
            place = {"sessionId": stage.session, "cwd": str(project), "mcpServers": []}
            await again.request("session/load", place)
            assert again.text(stage.session, "user_message_chunk") == "".join(prompts)
            assert again.text(stage.session).startswith("The first answer.")
            states = [update["status"] for update in again.updates(stage.session) if "status" in update]
            assert not states or states[-1] in ("completed", "failed")
            model.script(lambda body: "Going on.")
            assert await again.prompt(stage.session, "Go on.") == "end_turn"
        assert model.problems == []


@pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS)
async def test_an_agent_ends_before_anything_was_said(tmp_path: Path, end: Callable[[Editor], None]) -> None:
    """Nothing is there to be kept: a signal may end the process as the system does it."""
    editor = await Editor.start(agent_command(), env=agent_env(tmp_path))
    try:
        await asyncio.sleep(0.3)
        await assert_ends_well(editor, end, (0, -signal.SIGTERM, -signal.SIGHUP, -signal.SIGINT, 130))
    finally:
        await editor.kill()
