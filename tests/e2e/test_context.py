"""/context, and what the model is told when its window fills."""

import json
import re

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import choose, open_editor


def rows(text):
    """The rows of the table: name, characters, tokens."""
    found = re.findall(r"^\| (\S[^|]*?) \| ([\d,]+)[^|]* \| ([\d,]+) \|$", text, re.MULTILINE)
    return {
        name: (int(characters.replace(",", "")), int(tokens.replace(",", ""))) for name, characters, tokens in found
    }


async def test_before_the_first_turn_it_tells_what_will_be_sent(editor, model, project):
    (project / "AGENTS.md").write_text("Use tabs.\n")
    editor.handlers["session/request_permission"] = choose("allow_always")
    await editor.prompt(await editor.new_session(project), "The project's guidance may be used.")
    before = len(model.requests)
    session = await editor.new_session(project)
    assert await editor.prompt(session, "/context") == "end_turn"
    table = rows(editor.text(session))
    assert len(model.requests) == before
    await editor.prompt(session, "hi")
    body = model.requests[before].body
    prompt = sum(characters for name, (characters, _) in table.items() if name.startswith("Prompt: "))
    assert prompt == len(body["messages"][0]["content"])
    assert {"Prompt: identity", "Prompt: guidance of the project", "Prompt: environment"} <= table.keys()
    [tools] = [characters for name, (characters, _) in table.items() if name == f"Tools ({len(body['tools'])})"]
    assert tools == pytest.approx(len(json.dumps([tool["function"] for tool in body["tools"]])), rel=0.05)
    assert table["**Together**"][0] <= 20_000
    assert "is not known, so 128,000 tokens are assumed" in editor.text(session)


async def test_what_the_person_has_not_agreed_to_is_not_counted(editor, project):
    (project / "AGENTS.md").write_text("Use tabs.\n")
    session = await editor.new_session(project)
    await editor.prompt(session, "/context")
    assert "Prompt: guidance of the project" not in rows(editor.text(session))


async def test_later_it_tells_what_was_said_and_how_full_the_window_is(tmp_path, model, project):
    (project / "a").write_text("alpha\n" * 1_000)
    model.say(Say(calls=[Call("read_file", {"path": "a"})]), "Read.")
    async with open_editor(tmp_path / "home", model.url, HERMES_ACP_CONTEXT_WINDOW="50000") as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "go")
        await editor.prompt(session, "/context")
        table = rows(editor.text(session))
        assert table["Conversation: tool results (1)"][0] > 6_000
        assert {"Conversation: your messages (1)", "Conversation: answers and calls (2)"} <= table.keys()
        assert re.search(r"can hold 50,000 tokens; \d+\.\d % are used", editor.text(session))


async def test_a_window_that_fills_is_told_to_the_model_and_not_kept(tmp_path, model, project):
    (project / "a").write_text("alpha beta gamma\n" * 1_500)
    model.say(Say(calls=[Call("read_file", {"path": "a", "limit": 1_500})]), "Read.")
    async with open_editor(tmp_path / "home", model.url, HERMES_ACP_CONTEXT_WINDOW="15000") as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "go")
    first, second = ([str(message["content"]) for message in request.messages] for request in model.requests[:2])
    assert "[Context:" not in "".join(first)
    assert re.search(r"\[Context: about \d+ % of the window is used", second[-1])
    assert "[Context:" not in "".join(second[:-1])
