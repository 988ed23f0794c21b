"""/reset: the model begins anew, the conversation stays."""

from tests.support.editor import open_editor
from tests.support.talk import open_params


async def test_the_model_sees_nothing_of_before_also_after_a_restart(tmp_path, model, project):
    model.say("One.", "Two.", "Three.")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "first")
        (project / "AGENTS.md").write_text("Use tabs.\n")
        assert await editor.prompt(session, "/reset") == "end_turn"
        await editor.prompt(session, "second")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        await editor.request("session/load", open_params(session, project))
        said = editor.text(session, "user_message_chunk")
        assert [said.index(word) for word in ("first", "/reset", "second")] == sorted(
            said.index(word) for word in ("first", "/reset", "second")
        )
        assert "One." in editor.text(session)
        await editor.prompt(session, "third")
    before, after, later = ([message["content"] for message in request.messages] for request in model.requests)
    assert before[1:] == ["first"]
    assert after[1:] == ["second"]
    assert later[1:] == ["second", "Two.", "third"]
    assert "Use tabs." not in before[0]
    assert "Use tabs." in after[0]
    assert later[0] == after[0]


async def test_a_fork_after_a_reset_begins_with_what_came_after_it(editor, model, project):
    session = await editor.new_session(project)
    await editor.prompt(session, "first")
    await editor.prompt(session, "/reset")
    fork = await editor.request("session/fork", open_params(session, project))
    await editor.prompt(fork["sessionId"], "second")
    assert [message["content"] for message in model.requests[-1].messages[1:]] == ["second"]


async def test_a_session_that_said_nothing_can_be_reset(editor, model, project):
    session = await editor.new_session(project)
    assert await editor.prompt(session, "/reset") == "end_turn"
    assert await editor.prompt(session, "hi") == "end_turn"
