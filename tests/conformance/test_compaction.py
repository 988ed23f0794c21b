"""Line 51: compactions of the context, where the editor follows them."""

import pytest

from tests.fakes.model_server import Say
from tests.support.editor import open_editor
from tests.support.talk import open_params

pytestmark = pytest.mark.asyncio(loop_scope="session")

SMALL = {"HERMES_ACP_CONTEXT_WINDOW": "20000"}
LONG = "word " * 400


async def talk(editor, model, project, *, prompts=25):
    """A session that was compacted by hand after many prompts."""
    model.script(lambda body: "What was said." if "tools" not in body else Say(text=[LONG]))
    session = await editor.new_session(project)
    for number in range(prompts):
        assert await editor.prompt(session, f"Prompt {number}.") == "end_turn"
    await editor.prompt(session, "/compact")
    assert "The context was compacted" in editor.text(session)
    return session


def compactions(editor, session):
    return [update for update in editor.updates(session) if update["sessionUpdate"].startswith("compaction")]


async def test_51_a_compaction_is_told_where_it_is_taken_and_told_again_by_a_load(model, project, tmp_path):
    async with open_editor(tmp_path / "home", model.url, **SMALL) as editor:
        await editor.initialize({"session": {"compaction": {}}})
        session = await talk(editor, model, project)
        live = compactions(editor, session)
        assert {update["status"] for update in live} == {"in_progress", "completed"}
        assert {update["sessionUpdate"] for update in live} == {"compaction_update"}
        by_id = {}
        for update in live:
            by_id.setdefault(update["compactionId"], []).append(update["status"])
        assert list(by_id.values()) == [["in_progress", "completed"]] * len(by_id)
        await editor.request("session/close", {"sessionId": session})
        await editor.request("session/load", open_params(session, project))
        again = compactions(editor, session)[len(live) :]
        ends = [update for update in live if update["status"] == "completed"]
        assert [update for update in again if update["status"] == "completed"] == ends
        assert "What was said." in ends[-1]["summary"][0]["text"]


async def test_51_an_editor_that_takes_no_compactions_is_told_none(model, project, tmp_path):
    async with open_editor(tmp_path / "home", model.url, **SMALL) as editor:
        await editor.initialize({"session": {"compaction": None}})
        session = await talk(editor, model, project)
        await editor.request("session/load", open_params(session, project))
        assert compactions(editor, session) == []
