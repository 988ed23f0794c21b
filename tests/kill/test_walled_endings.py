"""Commands in the sandbox that hide and ignore signals: however the agent ends, nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.model_server import Call, ModelServer, Say
from tests.kill.endings import close_output, end_input, signalled
from tests.support.editor import Editor, open_editor
from tests.support.processes import until
from tests.support.walls import working_sandbox

ROUNDS = 25
LIMIT = 2.0
"""Seconds after which nothing may be left."""

DAEMONS = (
    "trap '' TERM HUP INT; (setsid env -i nohup sleep {0} >/dev/null 2>&1 &); (env -i sleep {0} &); "
    "python3 -c 'import os, signal; signal.signal(15, 1); os.fork() and os._exit(0); os.setsid(); "
    'os.fork() and os._exit(0); os.execvpe("sleep", ["sleep", "{0}"], {{}})\' ; sleep {0}'
)
"""Leaves its session and its parent, wipes its environment and ignores what asks it to end; four times."""

ENDINGS = {
    "kill -9": signalled(signal.SIGKILL),
    "end of input": end_input,
    "SIGHUP": signalled(signal.SIGHUP),
    "closed output": close_output,
}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.parametrize("end", ENDINGS.values(), ids=ENDINGS.keys())
async def test_nothing_is_left_of_daemons(
    tmp_path: Path, model: ModelServer, project: Path, end: Callable[[Editor], None]
) -> None:
    working_sandbox()
    longest = 0.0
    for number in range(ROUNDS):
        longest = max(longest, await survive(tmp_path / "home", model, project, end, 90_000_000 + number))
    print(f"the longest of {ROUNDS} took {longest:.3f} s")


async def survive(home: Path, model: ModelServer, project: Path, end: Callable[[Editor], None], seconds: int) -> float:
    """Run the daemons, end the agent, and see that they end; how many seconds that took."""
    name = f"{seconds}{os.getpid()}"
    async with open_editor(home, model.url, HERMES_ACP_SANDBOX="auto") as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        model.say(Say(calls=[Call("terminal", {"command": DAEMONS.format(name)})]))
        prompt = editor.begin_prompt(session, "go")
        assert await asyncio.to_thread(until, lambda: _sleeping(name) == 4, 20)
        began = time.monotonic()
        end(editor)
        assert await asyncio.to_thread(until, lambda: _sleeping(name) == 0, LIMIT), "they are still there"
        took = time.monotonic() - began
        prompt.cancel()
    return took


def _sleeping(seconds: str) -> int:
    """How many processes of the machine sleep for just so long."""
    found = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found += Path("/proc", pid, "cmdline").read_bytes() == b"sleep\0" + seconds.encode() + b"\0"
        except OSError:
            continue
    return found
