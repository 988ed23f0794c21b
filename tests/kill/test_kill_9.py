"""kill -9 at random moments: nothing that was acknowledged is lost, and no history bricks its session.

`KILL_SEED=n` runs the moments of another seed; a failure names its own.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.fakes.model_server import ModelServer, Say
from tests.kill.scene import (
    KEPT_WITHIN,
    PROMPTS,
    SLACK,
    agent,
    assert_files,
    assert_kept,
    careful_person,
    load,
    prepare,
    script,
    shown,
)
from tests.support.editor import Editor
from tests.support.processes import guardians_of, lives, processes_tagged, until

SEED = int(os.environ.get("KILL_SEED", "20261130"))
MOMENTS = 50
AT_ONCE = 5
LINES = 210
"""About as many lines has the whole talk; a moment behind its end is one at rest."""

LIMIT = 2.0
"""Seconds after which nothing may be left."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


async def talk(editor: Editor, session: str, answered: list[str]) -> None:
    for prompt in PROMPTS:
        answered.append(await editor.prompt(session, prompt, timeout=60))


async def kill_at(editor: Editor, line: int, delay: float, talking: asyncio.Task[None]) -> float:
    """Kill the agent so many seconds after it has said so many lines; the moment."""
    while len(editor.lines) < line and not talking.done():
        await asyncio.sleep(0.002)
    await asyncio.sleep(delay)
    guardians = await asyncio.to_thread(guardians_of, editor.process.pid)
    editor.process.kill()
    died = time.monotonic()
    await editor.end()

    def left() -> list[int]:
        return [*processes_tagged(editor.tag), *filter(lives, guardians)]

    assert await asyncio.to_thread(until, lambda: not left(), LIMIT), left()
    return died


async def kill_while_loading(home: Path, model: ModelServer, session: str, project: Path, delay: float) -> None:
    async with agent(home, model) as editor:
        loading = asyncio.ensure_future(load(editor, session, project))
        await asyncio.sleep(delay)
        editor.process.kill()
        await asyncio.wait([loading])
        loading.exception()


async def survive(folder: Path, dice: random.Random) -> None:
    """One talk, killed once in it and sometimes again while it is loaded, then looked at."""
    line, delay = dice.randrange(1, LINES), dice.uniform(0, 0.02)
    home, project = folder / "home", folder / "project"
    prepare(project)
    answered: list[str] = []
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ModelServer())
        script(model)
        first = await stack.enter_async_context(agent(home, model))
        first.handlers["session/request_permission"] = careful_person(dice)
        session = await first.new_session(project)
        talking = asyncio.ensure_future(talk(first, session, answered))
        died = await kill_at(first, line, delay, talking)
        await asyncio.wait([talking])
        talking.cancelled() or talking.exception()
        assert_files(project, shown(first, session))
        if dice.random() < 0.3:
            await kill_while_loading(home, model, session, project, dice.uniform(0, 0.2))
        second = await stack.enter_async_context(agent(home, model))
        await load(second, session, project)
        assert_kept(first, second, session, died, len(answered))
        model.script(lambda body: "Going on.")
        assert await second.prompt(session, "Go on.") == "end_turn"
        assert second.text(session).endswith("Going on.")
        assert model.problems == []


@pytest.mark.parametrize("first", range(0, MOMENTS, AT_ONCE))
async def test_what_was_acknowledged_survives(tmp_path: Path, first: int) -> None:
    print(f"KILL_SEED={SEED}, moments {first} to {first + AT_ONCE - 1}")
    moments = [
        survive(tmp_path / str(number), random.Random(f"{SEED}.{number}")) for number in range(first, first + AT_ONCE)
    ]
    for number in range(first, first + AT_ONCE):
        (tmp_path / str(number)).mkdir()
    async with asyncio.TaskGroup() as group:
        for moment in moments:
            group.create_task(moment)


async def test_text_before_a_silence_of_the_model_is_kept_after_half_a_second(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    prepare(project)
    async with ModelServer() as model:
        model.say(Say(reasoning=["Thought. "], text=["Shown. "], ending="stall"))
        async with agent(home, model) as editor:
            session = await editor.new_session(project)
            editor.begin_prompt(session, PROMPTS[0])
            await editor.wait_update(lambda update: "Shown." in str(update.get("content")))
            await asyncio.sleep(KEPT_WITHIN + SLACK)
            editor.process.kill()
            await editor.end()
        async with agent(home, model) as editor:
            await load(editor, session, project)
            assert list(shown(editor, session).words.values()) == [PROMPTS[0], "Thought. ", "Shown. "]
