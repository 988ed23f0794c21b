"""kill -9 while contexts are compacted and files edited: the store holds the old context or the new one, whole.

`KILL_SEED=n` runs the moments of another seed; a failure names its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.model_server import Call, ModelServer, Say
from tests.kill.scene import agent, load, shown
from tests.support.editor import Editor, choose

SEED = int(os.environ.get("KILL_SEED", "20261130"))
MOMENTS = 50
AT_ONCE = 5
TURNS = 9
REQUESTS = 20
"""So many requests the whole talk makes; the two that ask for a summary are of most interest."""

SUMMARIES = (9, 18)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def is_summary_request(body: Any) -> bool:
    return "tools" not in body


def answer(body: Any) -> Say:
    """Slow summaries of the facts alone; to a prompt an edit that counts up, then a long answer."""
    last = body["messages"][-1]
    usage = {"prompt_tokens": len(json.dumps(body)) // 4, "completion_tokens": 1000}
    if is_summary_request(body):
        facts = dict.fromkeys(re.findall(r"FACT-\w+", str(last["content"])))
        return Say(text=[*(f"{fact} " for fact in facts), *["and so on "] * 20], token_delay=0.005)
    if last["role"] == "tool":
        return Say(text=["long " * 800, "END"], usage=usage)
    number = int(re.findall(r"Step (\d+)", str(last["content"]))[-1])
    change = {"path": "count.txt", "old_text": str(number), "new_text": str(number + 1)}
    return Say(calls=[Call("patch", change)], token_delay=0.002, usage=usage)


async def talk(editor: Editor, session: str, answered: list[str]) -> None:
    for number in range(TURNS):
        words = "Keep FACT-first. " if not number else ""
        answered.append(await editor.prompt(session, f"{words}Step {number}", timeout=60))


def assert_kept(live: Any, replayed: Any, answered: int, project: Path) -> None:
    assert len(replayed.prompts) >= answered
    ends = [
        text for (kind, _), text in replayed.words.items() if kind == "agent_message_chunk" and text.endswith("END")
    ]
    assert len(ends) >= answered
    edits = sum(card["status"] == "completed" for card in live.ended.values())
    assert int((project / "count.txt").read_text(encoding="utf-8")) in (edits, edits + 1)
    for key, card in live.ended.items():
        assert replayed.cards[key]["status"] == card["status"]
    assert {card["status"] for card in replayed.cards.values()} <= {"completed", "failed"}


async def survive(folder: Path, dice: random.Random) -> bool:
    """One talk, killed in it and loaded again; whether it had been compacted."""
    home, project = folder / "home", folder / "project"
    project.mkdir(parents=True)
    (project / "count.txt").write_text("0", encoding="utf-8")
    config = home / "hermes-acp" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[model]\ncontext_window = 12000\n[approvals]\nmode = "accept_edits"\n', encoding="utf-8")
    answered: list[str] = []
    async with ModelServer() as model:
        model.script(answer)
        async with agent(home, model) as first:
            session = await first.new_session(project)
            talking = asyncio.ensure_future(talk(first, session, answered))
            count = dice.choice((dice.randrange(1, REQUESTS), *SUMMARIES))
            await model.until(lambda server: len(server.requests) >= count or talking.done(), timeout=60)
            await asyncio.sleep(dice.uniform(0, 0.15))
            first.process.kill()
            await first.end()
            await asyncio.wait([talking])
            talking.exception()
        live = shown(first, session)
        async with agent(home, model) as second:
            second.handlers["session/request_permission"] = choose("allow_once")
            await load(second, session, project)
            assert_kept(live, shown(second, session), len(answered), project)
            model.script(lambda body: answer(body) if is_summary_request(body) else "Going on.")
            assert await second.prompt(session, "Go on.", timeout=60) == "end_turn"
        asked = [one.body for one in model.requests if not is_summary_request(one.body)]
        assert not answered or "FACT-first" in json.dumps(asked[-1]["messages"])
        assert model.problems == []
        return any(is_summary_request(one.body) for one in model.requests)


@pytest.mark.parametrize("first", range(0, MOMENTS, AT_ONCE))
async def test_a_compaction_that_was_killed_changed_all_or_nothing(tmp_path: Path, first: int) -> None:
    print(f"KILL_SEED={SEED}, moments {first} to {first + AT_ONCE - 1}")
    moments = [
        survive(tmp_path / str(number), random.Random(f"{SEED}.{number}")) for number in range(first, first + AT_ONCE)
    ]
    compacted = await asyncio.gather(*moments)
    assert any(compacted)
