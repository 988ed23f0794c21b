"""The rules at work: real tools on a copy of the sample project, broken in one way after another."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_acp import demo
from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.loop import Agent, run_turn
from hermes_acp.agent.providers.base import Reply, Request
from hermes_acp.agent.providers.demo import Demo
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.events import ReasoningDelta, TextDelta, ToolDrafted, ToolFinished
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.messages import user
from hermes_acp.testing import RecordingHost
from hermes_acp.tools.approval import Approvals
from hermes_acp.tools.registry import discover

SAMPLE = Path(demo.__file__).parent / "sample"
SHIPPED_FAULT = ("till/basket.py", "> FREE_DELIVERY_FROM")
BASKET, RECEIPT = "till/basket.py", "till/receipt.py"


@pytest.fixture(autouse=True)
def python_on_path(monkeypatch):
    """The rules run `python`, which some machines have only as `python3`."""
    monkeypatch.setenv("PATH", os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]))


@pytest.fixture
def project(tmp_path):
    """The sample without its fault."""
    folder = tmp_path / "pro ject"
    shutil.copytree(SAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    change(folder, SHIPPED_FAULT[0], SHIPPED_FAULT[1], ">= FREE_DELIVERY_FROM")
    return folder


def change(folder, path, old, new):
    text = (folder / path).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (folder / path).write_text(text.replace(old, new), encoding="utf-8")


def contents(folder):
    return {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}


def passes(folder):
    command = [sys.executable, "-B", "-m", "unittest"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


async def ask(folder, prompt, decide="allow_once"):
    """One turn with the rules; the host that saw it."""
    host = RecordingHost(decide)
    store = await Store.open(None)
    await store.create(SessionRecord(id="s", cwd=str(folder), created_at="2026-01-01", updated_at="2026-01-01"))
    workspace = LocalWorkspace(folder, ())
    talk = Conversation("s", workspace, await store.journal("s"), Approvals())
    result = await run_turn(Agent(Demo(delay=0), discover(), system), talk, user(prompt), host)
    await workspace.aclose()
    await store.aclose()
    assert result.stop == "end_turn"
    return host, result.text


async def system(workspace):
    return "You are a test."


async def test_the_sample_as_it_is_shipped_fails_and_is_repaired(project):
    change(project, BASKET, ">= FREE_DELIVERY_FROM", SHIPPED_FAULT[1])
    assert not passes(project)
    host, text = await ask(project, "The tests fail. Repair them.")
    assert passes(project)
    assert "All 8 tests pass now" in text
    assert [finished.name for finished in host.of(ToolFinished)] == [
        "list_files",
        "terminal",
        "read_file",
        "read_file",
        "patch",
        "terminal",
    ]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (BASKET, "item.price * item.count", "item.price + item.count"),
        (BASKET, "return sum(", "sum("),
        pytest.param(BASKET, "self.items.append(Item", "self.item.append(Item", marks=pytest.mark.slow),
        pytest.param(BASKET, "return max(", "return min(", marks=pytest.mark.slow),
        pytest.param(BASKET, ">= FREE_DELIVERY_FROM", "< FREE_DELIVERY_FROM", marks=pytest.mark.slow),
        (RECEIPT, "    return lines\n", ""),
        pytest.param(
            RECEIPT, "range(0, len(lines), height)", "range(0, len(lines) - 1, height)", marks=pytest.mark.slow
        ),
        (RECEIPT, "import Basket, Item", "import Basket, Itm"),
    ],
)
async def test_other_faults_are_found_by_the_same_rules(project, path, old, new):
    change(project, path, old, new)
    assert not passes(project)
    _, text = await ask(project, "please fix the failing tests")
    assert passes(project)
    assert "tests pass now" in text


@pytest.mark.slow
async def test_two_faults_are_repaired_one_after_the_other(project):
    change(project, BASKET, "return max(", "return min(")
    change(project, RECEIPT, "cents % 100", "cents // 100")
    await ask(project, "fix the tests")
    assert passes(project)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        pytest.param(BASKET, "return DELIVERY\n", "return DELIVERY(\n", id="no valid Python"),
        pytest.param(BASKET, "DELIVERY = 490", "DELIVERY = 590", id="a wrong number", marks=pytest.mark.slow),
    ],
)
async def test_a_fault_that_no_rule_fits_is_admitted_and_nothing_is_left_changed(project, path, old, new):
    change(project, path, old, new)
    before = contents(project)
    _, text = await ask(project, "fix the tests")
    assert "I cannot repair this" in text
    assert contents(project) == before


async def test_passing_tests_are_left_alone(project):
    before = contents(project)
    _, text = await ask(project, "fix the tests")
    assert "All 8 tests pass, so there is nothing" in text
    assert contents(project) == before


async def test_a_rejected_command_ends_the_work(project):
    change(project, BASKET, "return max(", "return min(")
    before = contents(project)
    host, text = await ask(project, "fix the tests", decide="reject_once")
    assert "I stop here" in text
    assert len(host.requests) == 1
    assert contents(project) == before


async def test_another_prompt_gets_an_explanation_and_a_look_at_the_project(project):
    host, text = await ask(project, "hello")
    assert "README.md" in text
    assert "repair the tests" in text
    assert host.requests == []


async def test_an_empty_folder_is_answered_sensibly(tmp_path):
    _, text = await ask(tmp_path, "fix the tests")
    assert "I see no files here" in text


async def test_it_says_first_that_it_is_no_model_and_streams_in_pieces(project):
    host, _ = await ask(project, "hello")
    deltas = [delta.text for delta in host.of(TextDelta)]
    assert "".join(deltas).startswith("I am a set of rules, not a model")
    assert max(len(delta.split()) for delta in deltas) == 1
    assert "no model here" in "".join(delta.text for delta in host.of(ReasoningDelta))


async def reply_to(request):
    deltas = [delta async for delta in Demo(delay=0).stream(request)]
    return deltas[:-1], deltas[-1]


async def test_the_reply_holds_what_was_streamed_and_drafts_carry_its_ids():
    tools = [{"name": "list_files"}]
    deltas, reply = await reply_to(Request("", [user("hello")], tools))
    assert isinstance(reply, Reply)
    assert reply.message.text == "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    assert reply.message.reasoning == "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
    drafted = [delta.call_id for delta in deltas if isinstance(delta, ToolDrafted)]
    assert drafted == [call.id for call in reply.message.tool_calls]
    assert (reply.finish, len(drafted)) == ("tool_calls", 1)


async def test_no_tool_is_called_where_none_may_be():
    for request in (
        Request("", [user("fix")], [{"name": "list_files"}], tool_choice="none"),
        Request("", [user("fix")]),
    ):
        _, reply = await reply_to(request)
        assert (reply.finish, reply.message.tool_calls) == ("stop", ())
        assert "not a model" in reply.message.text


async def test_a_stream_can_be_left_at_any_point():
    stream = Demo(delay=60).stream(Request("", [user("hello")], [{"name": "list_files"}]))
    await anext(stream)
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
