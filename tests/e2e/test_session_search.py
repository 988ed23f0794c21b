"""Past sessions found again by another agent process."""

from tests.fakes.model_server import Call, Say
from tests.support.editor import open_editor


async def test_what_was_said_before_is_found_in_this_folder_without_a_question(editor, model, project, tmp_path):
    model.say("The port is 4711.")
    first = await editor.new_session(project)
    await editor.prompt(first, "Which port has the flux server?")
    await editor.close()
    other = tmp_path / "other"
    other.mkdir()
    async with open_editor(tmp_path / "home", model.url) as again:
        await again.initialize()
        for folder, found in ((project, True), (other, False)):
            model.say(Say(calls=[Call("session_search", {"query": "flux port"})]), "Found.")
            session = await again.new_session(folder)
            assert await again.prompt(session, "What was the flux port?") == "end_turn"
            told = model.requests[-1].messages[-1]["content"]
            assert ("The port is 4711." in told) == found
            assert (first in told) == found
        assert [line for line in again.lines if line.get("method") == "session/request_permission"] == []
