"""The editor must see what the agent does, answer it, and leave nothing behind."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.editor import AgentError, Editor, agent_command, agent_env, choose, never
from tests.support.processes import processes_tagged

SMALL = [sys.executable, "-m", "tests.support.small_agent", "--stdio"]


def scripted(program: str) -> list[str]:
    """An agent that is a few lines of Python; `say` writes a message."""
    start = "import json, sys, time\ndef say(**m): print(json.dumps({'jsonrpc': '2.0', **m}), flush=True)\n"
    return [sys.executable, "-c", start + program]


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[Editor]:
    editor = await Editor.start(SMALL, env=agent_env(tmp_path))
    yield editor
    await editor.kill()
    assert processes_tagged(editor.tag) == []


async def test_requests_answers_and_errors(small: Editor) -> None:
    assert (await small.initialize())["protocolVersion"] == 1
    assert await small.request("_echo", {"a": "é"}) == {"echo": {"a": "é"}}
    with pytest.raises(AgentError) as caught:
        await small.request("_nothing")
    assert caught.value.code == -32601
    small.assert_clean()


async def test_the_agent_is_answered_by_the_handler_of_the_method(small: Editor) -> None:
    await small.initialize()
    small.handlers["_ask"] = lambda params: {"chosen": params}
    assert await small.request("_ask") == {"answer": {"chosen": {}}}
    del small.handlers["_ask"]
    with pytest.raises(AgentError, match="Method not found"):
        await small.request("_ask")


async def test_a_request_that_the_agent_takes_back_is_noted(small: Editor) -> None:
    await small.initialize()
    small.handlers["_ask"] = never
    asked = small.begin("_ask")
    taken = await small.wait_line(lambda line: line.get("method") == "_ask")
    small.notify("$/cancel_request", {"requestId": small.last_id})
    with pytest.raises(AgentError, match="-32800"):
        await asked
    assert small.cancelled == [taken["id"]]
    small.assert_clean()


async def test_a_flood_is_kept_in_order(small: Editor) -> None:
    await small.initialize()
    await small.request("_flood", {"count": 3000})
    numbers = [line["params"]["number"] for line in small.lines if line.get("method") == "_flood"]
    assert numbers == list(range(3000))


async def test_a_closed_input_ends_the_agent(small: Editor) -> None:
    await small.initialize()
    assert await small.close() == 0
    assert "closing" in small.stderr


@pytest.mark.parametrize(
    "program",
    [
        "print('a banner')",
        "say(method='session/update', params={'sessionId': 's', 'update': {'sessionUpdate': 'plan'}})",
        "say(id=1, method='fs/read_text_file', params={'sessionId': 's', 'path': '/a'})",
        "say(id=99, result={})",
        "print('[]')",
    ],
)
async def test_every_kind_of_wrong_line_is_found(tmp_path: Path, program: str) -> None:
    editor = await Editor.start(scripted(program), env=agent_env(tmp_path))
    await editor.close()
    await editor.kill()
    assert editor.problems
    with pytest.raises(AssertionError):
        editor.assert_clean()


async def test_an_agent_that_dies_fails_what_waits_with_its_last_words(tmp_path: Path) -> None:
    editor = await Editor.start(scripted("sys.stdin.readline(); sys.exit('no model')"), env=agent_env(tmp_path))
    with pytest.raises(ConnectionError, match="gone"):
        await editor.request("initialize")
    await editor.kill()
    assert "no model" in editor.stderr


async def test_killing_takes_every_descendant_along(tmp_path: Path) -> None:
    program = (
        "import subprocess; subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
        "say(id=None, error={'code': 1, 'message': 'ready'}); time.sleep(300)"
    )
    editor = await Editor.start(scripted(program), env=agent_env(tmp_path))
    await editor.wait_line(lambda line: "error" in line)
    async with asyncio.timeout(5):
        while len(processes_tagged(editor.tag)) < 2:
            await asyncio.sleep(0.01)
    await editor.kill()
    await asyncio.sleep(0.05)
    assert processes_tagged(editor.tag) == []


async def test_updates_are_found_by_session_and_kind_past_or_to_come(tmp_path: Path) -> None:
    program = (
        "def chunk(text): say(method='session/update', params={'sessionId': 's', 'update': {'sessionUpdate':\n"
        "    'agent_message_chunk', 'content': {'type': 'text', 'text': text}, 'messageId': 'm'}})\n"
        "prompt = json.loads(sys.stdin.readline()); chunk('one '); time.sleep(0.1); chunk('two')\n"
        "say(id=prompt['id'], result={'stopReason': 'end_turn'}); sys.stdin.read()"
    )
    editor = await Editor.start(scripted(program), env=agent_env(tmp_path))
    prompting = editor.begin_prompt("s", "hello")
    two = await editor.wait_update(lambda update: update["content"]["text"] == "two")
    one = await editor.wait_update(lambda update: update["content"]["text"] == "one ")
    assert editor.updates("s") == [one, two]
    assert (await prompting)["stopReason"] == "end_turn"
    assert (editor.text("s"), editor.updates("t"), editor.updates(kind="plan")) == ("one two", [], [])
    await editor.kill()
    editor.assert_clean()


def test_a_person_chooses_by_the_kind_of_the_option() -> None:
    options = [{"optionId": "x", "kind": "allow_once"}, {"optionId": "y", "kind": "reject_once"}]
    assert choose("reject_once")({"options": options}) == {"outcome": {"outcome": "selected", "optionId": "y"}}
    assert choose("cancelled")({"options": options}) == {"outcome": {"outcome": "cancelled"}}


def test_the_agent_is_this_checkout_with_nothing_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-person")
    env = agent_env(tmp_path, "http://127.0.0.1:1/v1", HERMES_ACP_MODE="plan")
    assert agent_command()[:3] == [sys.executable, "-m", "hermes_acp"]
    assert "OPENAI_API_KEY" not in env
    assert (env["HERMES_ACP_BASE_URL"], env["HERMES_ACP_MODE"]) == ("http://127.0.0.1:1/v1", "plan")
    assert Path(env["HERMES_ACP_HOME"]).is_relative_to(tmp_path)
