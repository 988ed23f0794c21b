"""What is measured, each by a function from a model and a command to named figures."""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.client import Agent, Model, now
from hermes_acp.agent.providers.apis import api_of
from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.remote_model import RemoteModel
from hermes_acp.config import API_MODES
from hermes_acp.messages import user

Figures = dict[str, float]
Measure = Callable[[Model, list[str]], Figures]

SETTLE = 1.2
"""Seconds for what an agent does in the background after its first session."""


def started(model: Model, command: list[str], home: Path | None = None) -> tuple[Agent, str]:
    """An agent with one session, warm."""
    agent = Agent.start(command, model, home)
    agent.hello()
    session = agent.session()
    time.sleep(SETTLE)
    agent.prompt(session)
    return agent, session


def start(model: Model, command: list[str]) -> Figures:
    hello, ready, memory = [], [], []
    for _ in range(12):
        agent = Agent.start(command, model)
        agent.hello()
        hello.append(agent.cpu_ms())
        agent.session()
        ready.append(agent.cpu_ms())
        memory.append(agent.rss_mb())
        agent.close()
    return {
        "start to initialize, CPU ms": min(hello),
        "start to session/new, CPU ms": min(ready),
        "memory after session/new, MB": min(memory),
    }


def first_prompt(model: Model, command: list[str]) -> Figures:
    return {
        "prompt right after session/new to first chunk, ms": first_wait(model, command, 0),
        "prompt 2 s after session/new to first chunk, ms": first_wait(model, command, 2),
    }


def first_wait(model: Model, command: list[str], pause: float) -> float:
    """The wait of an agent's first prompt, sent some seconds after its session is there; of ten."""
    waits = []
    for _ in range(10):
        agent = Agent.start(command, model)
        agent.hello()
        session = agent.session()
        time.sleep(pause)
        waits += over_the_model(model, [agent.prompt(session)])
        agent.close()
    return statistics.median(waits)


def over_the_model(model: Model, turns: list) -> list[float]:
    """Milliseconds from each prompt to its first chunk, less what the model took for its first byte."""
    log = model.log()
    waits = []
    for turn in turns:
        rows = [row for row in log if turn.sent <= row["received"] <= turn.ended]
        waits.append((turn.first - turn.sent - (rows[0]["first"] - rows[0]["received"])) * 1000)
    return waits


def later_turns(model: Model, command: list[str]) -> Figures:
    agent, session = started(model, command)
    turns = [agent.prompt(session) for _ in range(50)]
    agent.close()
    return {"later turns, prompt to first chunk, ms": statistics.median(over_the_model(model, turns))}


def tool_rounds(model: Model, command: list[str]) -> Figures:
    agent, session = started(model, command)
    wanted = {"tool": "read_file", "arguments": {"path": str(agent.folder / "work" / "file.txt")}}
    none, one, cpu = [], [], []
    for _ in range(15):
        none.append(length(agent.prompt(session)))
        one.append(length(agent.prompt(session, rounds=1, **wanted)))
    for _ in range(5):
        before = agent.cpu_ms()
        agent.prompt(session, rounds=20, **wanted)
        cpu.append(agent.cpu_ms() - before)
    agent.close()
    return {
        "one more tool round, ms": statistics.median(one) - statistics.median(none),
        "20 tool rounds, CPU ms": statistics.median(cpu),
    }


def length(turn) -> float:
    return (turn.ended - turn.sent) * 1000


def stream(model: Model, command: list[str]) -> Figures:
    agent, session = started(model, command)
    rates, cpu, lost = [], [], 0
    expected = sum(len(f"word{n % 100} ") for n in range(10_000))
    for _ in range(7):
        before = agent.cpu_ms()
        turn = agent.prompt(session, tokens=10_000)
        cpu.append(agent.cpu_ms() - before)
        rates.append(10_000 / (turn.ended - turn.sent))
        lost += expected - turn.characters
    number = agent.begin_prompt(session, tokens=10_000)
    agent.first_chunk(number)
    time.sleep(2)
    lost += expected - agent.end(number).characters
    agent.close()
    return {
        "10,000 deltas, a second": statistics.median(rates),
        "10,000 deltas, CPU ms": min(cpu),
        "characters lost, editor slow or not": lost,
    }


def memory(model: Model, command: list[str]) -> Figures:
    agent, _ = started(model, command)
    warm = agent.rss_mb()
    for _ in range(50):
        agent.session()
    more = (agent.rss_mb() - warm) / 50
    agent.close()
    return {"memory with a model in use, MB": warm, "each further session, MB": more}


def cancel(model: Model, command: list[str]) -> Figures:
    agent, session = started(model, command)
    figures = {
        "cancel, stalled model, ms": cancelled(agent, session, delay=3600),
        "cancel, mid-stream, ms": cancelled(agent, session, tokens=100, stall=20),
    }
    for name, line in (("", "sleep 613"), (" that ignores TERM", "trap '' TERM; sleep 613; sleep 613")):
        answers, gone = [], []
        for _ in range(10):
            answer, end = cancelled_command(agent, session, line)
            answers.append(answer)
            gone.append(end)
        figures[f"cancel, running command{name}, ms"] = statistics.median(answers)
        figures[f"its processes gone{name}, ms"] = statistics.median(gone)
    agent.close()
    return figures


def cancelled(agent: Agent, session: str, **wanted) -> float:
    waits = []
    for _ in range(12):
        number = agent.begin_prompt(session, **wanted)
        if wanted.get("stall"):
            agent.first_chunk(number)
        time.sleep(0.1)
        waits.append(cancel_now(agent, session, number))
    return statistics.median(waits)


def cancel_now(agent: Agent, session: str, number: int) -> float:
    sent = now()
    agent.send({"method": "session/cancel", "params": {"sessionId": session}})
    turn = agent.end(number)
    assert turn.stop == "cancelled", turn.stop
    return (turn.ended - sent) * 1000


def cancelled_command(agent: Agent, session: str, line: str) -> tuple[float, float]:
    number = agent.begin_prompt(session, rounds=1, tool="terminal", arguments={"command": line})
    agent.until(lambda message: message.get("params", {}).get("update", {}).get("status") == "in_progress")
    while not agent.children():
        time.sleep(0.005)
    time.sleep(0.05)
    sent = now()
    answer = cancel_now(agent, session, number)
    while agent.children():
        time.sleep(0.001)
    return answer, (now() - sent) * 1000


def many_sessions(model: Model, command: list[str]) -> Figures:
    agent, _ = started(model, command)
    sessions = [agent.session() for _ in range(20)]
    waits = []
    for _ in range(5):
        began = now()
        for number in [agent.begin_prompt(session, delay=1) for session in sessions]:
            agent.end(number)
        waits.append(now() - began)
    agent.close()
    return {"20 sessions at once, 1 s model, s": statistics.median(waits)}


def long_session(model: Model, command: list[str]) -> Figures:
    agent, session = started(model, command)
    costs = []
    for _ in range(200):
        before = agent.cpu_ms()
        agent.prompt(session)
        costs.append(agent.cpu_ms() - before)
    agent.close()
    early, late = statistics.median(costs[1:50]), statistics.median(costs[149:])
    return {"turns 2-50, CPU ms": early, "turns 150-200, CPU ms": late}


def full_store(model: Model, command: list[str]) -> Figures:
    home = Path(tempfile.mkdtemp(prefix="hermes-bench-home-"))
    agent, long_one = started(model, command, home)
    cwd = str(agent.folder / "work")
    for _ in range(99):
        agent.prompt(long_one)
    for _ in range(999):
        agent.prompt(agent.session(), tokens=1)
    agent.process.stdin.close()
    agent.process.wait()
    lists, loads = [], []
    for _ in range(10):
        again = Agent.start(command, model, home)
        again.hello()
        again.request("session/list", {})
        lists.append(timed(again, "session/list", {}))
        loads.append(timed(again, "session/load", {"sessionId": long_one, "cwd": cwd, "mcpServers": []}))
        again.close()
    agent.close()
    return {
        "1,000 sessions, list, ms": statistics.median(lists),
        "1,000 sessions, load of 200 messages, ms": statistics.median(loads),
    }


def timed(agent: Agent, method: str, params: dict) -> float:
    began = now()
    agent.request(method, params)
    return (now() - began) * 1000


def sdk_import(model: Model, command: list[str]) -> Figures:
    """What the import of the model SDK costs by itself: the first prompt may have to wait for it."""
    import subprocess

    code = "import time; a = time.process_time(); import openai; print((time.process_time() - a) * 1000)"
    costs = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
    return {"import of the model SDK, CPU ms": statistics.median(costs)}


def apis(model: Model, command: list[str]) -> Figures:
    """What a delta costs in each API: the provider alone, from socket to event, and the whole agent."""
    figures = {}
    for mode in API_MODES:
        provider = RemoteModel(Endpoint("bench", "bench", f"{model.url}/v1"), api_of(mode))
        figures[f"a delta in {mode}, socket to event, CPU µs"] = asyncio.run(of_a_delta(provider))
        agent = Agent.start(command, model, HERMES_ACP_API_MODE=mode)
        agent.hello()
        session = agent.session()
        agent.prompt(session)
        costs = []
        for _ in range(5):
            before = agent.cpu_ms()
            agent.prompt(session, tokens=10_000)
            costs.append(agent.cpu_ms() - before)
        figures[f"10,000 deltas in {mode}, CPU ms"] = min(costs)
        agent.close()
    return figures


async def of_a_delta(provider: RemoteModel) -> float:
    request = Request("", [user('[[{"tokens": 10000}]]')])
    await provider.warm()
    costs = []
    for _ in range(5):
        before, count = time.process_time(), 0
        async for _ in provider.stream(request):
            count += 1
        costs.append((time.process_time() - before) / count * 1e6)
    await provider.aclose()
    return min(costs)


OF_BOTH: tuple[Measure, ...] = (
    start,
    first_prompt,
    later_turns,
    tool_rounds,
    stream,
    memory,
    cancel,
    many_sessions,
    long_session,
)
OF_OURS: tuple[Measure, ...] = (apis, sdk_import, full_store)
