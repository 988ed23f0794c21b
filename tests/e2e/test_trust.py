"""A project's files for agents, over the wire: one question at the first turn, and none before."""

from tests.support.editor import choose, never
from tests.support.talk import open_params


async def test_a_project_is_asked_about_once_and_its_word_counts_after_a_yes(editor, model, project):
    (project / "AGENTS.md").write_text("Use tabs.\n")
    asked = []

    def answer(params):
        asked.append(params)
        return choose("allow_always")(params)

    editor.handlers["session/request_permission"] = answer
    first = await editor.new_session(project)
    assert asked == []
    model.say("Hello.", "Hello again.", "Hello.")
    await editor.prompt(first, "hi")
    await editor.prompt(first, "hi again")
    await editor.prompt(await editor.new_session(project), "hi")
    assert [option["name"] for option in asked[0]["options"]] == [
        "Use them in this session",
        "Trust them as they are",
        "Not now",
        "Never, and do not ask again",
    ]
    assert len(asked) == 1
    assert all("Use tabs." in str(request.messages[0]) for request in model.requests)


async def test_what_was_not_agreed_to_reaches_no_model(editor, model, project):
    (project / "AGENTS.md").write_text("Use tabs.\n")
    editor.handlers["session/request_permission"] = choose("reject_once")
    model.say("Hello.")
    await editor.prompt(await editor.new_session(project), "hi")
    assert "Use tabs." not in str(model.requests[0].messages)


async def test_a_prompt_that_is_cancelled_at_the_question_is_not_lost(editor, model, project):
    (project / "AGENTS.md").write_text("Use tabs.\n")
    editor.handlers["session/request_permission"] = never
    session = await editor.new_session(project)
    prompt = editor.begin_prompt(session, "Find the heron.")
    await editor.wait_line(lambda line: line.get("method") == "session/request_permission")
    editor.notify("session/cancel", {"sessionId": session})
    assert (await prompt)["stopReason"] == "cancelled"
    [row] = (await editor.request("session/list"))["sessions"]
    assert row["title"] == "Find the heron."
    await editor.request("session/close", {"sessionId": session})
    await editor.request("session/load", open_params(session, project))
    assert editor.text(session, "user_message_chunk") == "Find the heron."
    editor.handlers["session/request_permission"] = choose("allow_once")
    model.say("It flew.")
    await editor.prompt(session, "And now?")
    said = [message["content"] for message in model.requests[0].messages if message["role"] == "user"]
    assert said == ["Find the heron.", "And now?"]
