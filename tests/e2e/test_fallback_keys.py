"""Keys that rotate, are rejected or are missing, with a reserve at hand."""

import asyncio
import time

import pytest

from tests.support.editor import AgentError
from tests.support.processes import lives
from tests.support.reserves import PRIMARY_KEY, RESERVE, asked, model_shown, start

pytestmark = pytest.mark.slow


def helper(tmp_path, text):
    file = tmp_path / "helper"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return f"[credentials]\ncommand = ['{file}', 'arg']"


async def test_the_key_of_a_command_is_read_anew_when_it_is_rejected(tmp_path, configure, model, reserve, project):
    first, second = "sk-rotating-first-01", "sk-rotating-second-02"
    keys = tmp_path / "keys"
    keys.write_text(first)
    configure(helper(tmp_path, f"echo noise >&2; echo run >> {tmp_path}/runs; cat {keys}"), key="")
    model.keys = (first,)
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "one")
        model.keys = (second,)
        keys.write_text(second)
        sessions = [await editor.new_session(project) for _ in range(4)]
        stops = await asyncio.gather(*(editor.prompt(each, "two") for each in sessions))
        assert stops == ["end_turn"] * 4
        assert [key for key, *_ in asked(model)].count(second) == 4
        assert {key for key, *_ in asked(model)} == {first, second}
        assert (tmp_path / "runs").read_text().count("run") == 2
        assert reserve.requests == []
        assert not {first, second, "noise"} & {*editor.stderr.split()}


async def test_a_key_that_stays_rejected_goes_to_the_reserve_else_is_an_error_of_the_prompt(
    tmp_path, configure, model, reserve, project
):
    """I1: -32000 is for nothing configured, not for a key that was refused."""
    model.keys = ("another-key-0123456789",)
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await editor.prompt(session, "one") == "end_turn"
        assert len(asked(model)) == len(asked(reserve)) == 1
    reserve.keys = model.keys
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        with pytest.raises(AgentError) as error:
            await editor.prompt(session, "two")
        assert error.value.code == -32603
        assert "Incorrect API key" in error.value.message
        assert f"{RESERVE} failed too" in error.value.message
        assert PRIMARY_KEY not in error.value.message


async def test_a_cancel_while_the_command_runs_ends_it_at_once(tmp_path, configure, model, project):
    pids = tmp_path / "pids"
    configure(helper(tmp_path, f"echo $$ >> {pids}; exec sleep 60"), key="")
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        prompt = editor.begin_prompt(session, "hi")
        while not (pids.exists() and pids.read_text().strip()):
            await asyncio.sleep(0.01)
        began = time.monotonic()
        editor.notify("session/cancel", {"sessionId": session})
        assert (await prompt)["stopReason"] == "cancelled"
        assert time.monotonic() - began < 5
        assert model.requests == []
    assert not any(lives(int(pid)) for pid in pids.read_text().split())


async def test_a_reserve_without_a_key_is_left_out_and_the_log_says_so(tmp_path, configure, model, project):
    configure('[[fallback_providers]]\nprovider = "openrouter"')
    async with start(tmp_path, RESERVE_KEY="") as editor:
        await editor.initialize()
        result = await editor.request("session/new", {"cwd": str(project), "mcpServers": []})
        assert model_shown(result["configOptions"])[1] == ["big-model"]
        assert "fallback_providers (entry 1): left out: The variable RESERVE_KEY" in editor.stderr
        assert "fallback_providers (entry 2): left out: There is no key for OpenRouter" in editor.stderr
