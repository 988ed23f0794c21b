"""The memory tool in a turn: no question, a card that shows the change, nothing in plan mode."""

import pytest

from hermes_acp.agent.conversation import Conversation
from hermes_acp.agent.loop import Agent, run_turn
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.agent.tools.desk import Desk
from hermes_acp.agent.tools.memory import make
from hermes_acp.events import ToolFinished, ToolPrepared
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.messages import AssistantMessage, ToolCall, user
from hermes_acp.testing import RecordingHost
from hermes_acp.tools.approval import Approvals


async def system(workspace):
    return "You are a test."


@pytest.fixture
async def talk(tmp_path):
    store = await Store.open(None)
    await store.create(SessionRecord("s", str(tmp_path)))
    workspace = LocalWorkspace(tmp_path)
    talk = Conversation("s", workspace, await store.journal("s"), Approvals())
    talk.toolbox = {"memory": make(Desk(talk, store, tmp_path / "home", lambda: None))}
    yield talk
    await workspace.aclose()
    await store.aclose()


async def after(talk, *calls):
    """The host and the model's next request, once these calls have been made in one reply."""
    made = tuple(ToolCall(f"c{number}", "memory", call) for number, call in enumerate(calls))
    host, model = RecordingHost("reject_once"), Scripted(AssistantMessage(tool_calls=made), AssistantMessage("ok"))
    await run_turn(Agent(model, {}, system), talk, user("go"), host)
    return host, model.requests


async def test_a_fact_is_kept_unasked_and_its_card_shows_it(talk, tmp_path):
    host, _ = await after(talk, {"action": "add", "content": "Uses tox."})
    assert host.requests == []
    assert (tmp_path / "home" / "MEMORY.md").read_text() == "Uses tox."
    assert [card.title for card in host.of(ToolPrepared)] == ["Remember: Uses tox."]
    [ended] = host.of(ToolFinished)
    assert ended.result.shown == "+ Uses tox.\nMEMORY.md holds 9 of 2,200 characters."


async def test_calls_of_one_reply_take_effect_in_their_order(talk, tmp_path):
    host, _ = await after(
        talk,
        {"action": "add", "target": "user", "content": "Is called Kim."},
        {"action": "replace", "target": "user", "old_text": "Kim", "content": "Is called Robin."},
        {"action": "remove", "target": "user", "old_text": "Robin"},
    )
    assert [ended.result.is_error for ended in host.of(ToolFinished)] == [False, False, False]
    assert host.of(ToolFinished)[1].result.shown.startswith("- Is called Kim.\n+ Is called Robin.\n")
    assert (tmp_path / "home" / "USER.md").read_text() == ""


async def test_the_title_shows_every_character(talk):
    host, _ = await after(talk, {"action": "add", "content": "a\nb\u202ec" + "x" * 200})
    [card] = host.of(ToolPrepared)
    assert card.title.startswith("Remember: a b\\u{202e}c")
    assert len(card.title) < 100


async def test_plan_mode_does_not_offer_it_and_refuses_it(talk, tmp_path):
    talk.approvals.mode = "plan"
    host, requests = await after(talk, {"action": "add", "content": "Uses tox."})
    assert requests[0].tools == []
    assert host.of(ToolFinished)[0].result.is_error
    assert not (tmp_path / "home").exists()


async def test_without_a_folder_of_the_persons_the_model_is_told(talk):
    talk.toolbox = {"memory": make(Desk(talk, None, None, lambda: None))}
    host, _ = await after(talk, {"action": "add", "content": "x"})
    assert "no folder" in host.of(ToolFinished)[0].result.text
