"""A session is named by its model once, when nobody waits for it, and nothing else ever notices."""

import asyncio

import pytest

from tests.fakes.model_server import Call, Say, fail
from tests.support.editor import open_editor
from tests.support.talk import open_params

pytestmark = pytest.mark.slow


@pytest.fixture
async def editor(tmp_path, model):
    async with open_editor(tmp_path / "home", model.url, HERMES_ACP_AUTO_TITLE="true") as editor:
        await editor.initialize()
        yield editor


def is_about_a_title(body):
    return "tools" not in body


def naming(title, **fields):
    """A script: this for the request of a title, the queue for all others."""
    return lambda body: (Say(title, **fields) if isinstance(title, str) else title) if is_about_a_title(body) else None


def asked(model):
    """The requests that were about a title."""
    return [request for request in model.requests if is_about_a_title(request.body)]


def titles(editor, session):
    return [update.get("title") for update in editor.updates(session, "session_info_update")]


async def test_after_the_first_turn_the_model_gives_the_title_and_it_is_kept(editor, model, project, tmp_path):
    (project / "a").write_text("x\n")
    model.script(naming('"Reading a small file."'))
    model.say(Say(calls=[Call("read_file", {"path": "a"})]), "It holds an x.")
    session = await editor.new_session(project)
    await editor.prompt(session, "what is in the file a, please?")
    answer = next(index for index, line in enumerate(editor.lines) if "stopReason" in (line.get("result") or {}))
    await editor.wait_update(lambda update: update.get("title") == "Reading a small file")
    assert titles(editor, session) == ["what is in the file a, please?", "Reading a small file"]
    late = [line for line in editor.lines[answer + 1 :] if line.get("method") == "session/update"]
    assert [line["params"]["update"]["sessionUpdate"] for line in late] == ["session_info_update"]
    assert late[0]["params"]["update"] == {"sessionUpdate": "session_info_update", "title": "Reading a small file"}
    [request] = asked(model)
    assert "what is in the file a" in str(request.messages)
    assert "It holds an x." in str(request.messages)
    await editor.prompt(session, "and now?")
    await asyncio.sleep(1)
    assert len(asked(model)) == 1
    await editor.close()
    async with open_editor(tmp_path / "home", model.url, HERMES_ACP_AUTO_TITLE="true") as second:
        await second.initialize()
        [row] = (await second.request("session/list"))["sessions"]
        assert row["title"] == "Reading a small file"
        await second.request("session/load", open_params(session, project))
        await second.prompt(session, "once more")
        await asyncio.sleep(1)
    assert len(asked(model)) == 1
    assert model.problems == []


async def test_a_prompt_that_comes_soon_is_served_alone_and_the_title_waits(editor, model, project):
    model.script(naming("A title"))
    session = await editor.new_session(project)
    for number in range(4):
        await editor.prompt(session, f"prompt {number}")
    assert asked(model) == []
    await editor.wait_update(lambda update: update.get("title") == "A title")


async def test_a_prompt_during_the_search_ends_it_at_once(editor, model, project):
    model.script(naming("late", first_delay=30))
    session = await editor.new_session(project)
    await editor.prompt(session, "first")
    await model.until(lambda server: asked(server))
    assert await editor.prompt(session, "second", timeout=3) == "end_turn"
    await model.until(lambda server: server.aborted)
    assert titles(editor, session) == ["first"]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(fail(500, "broken"), id="error"),
        pytest.param(fail(401, "no"), id="no key", marks=pytest.mark.slow),
        pytest.param(Say(""), id="empty", marks=pytest.mark.slow),
        pytest.param(Say("x", ending="cut"), id="cut", marks=pytest.mark.slow),
        pytest.param(Say(calls=[Call("terminal", {})]), id="call", marks=pytest.mark.slow),
    ],
)
async def test_a_model_that_gives_no_title_is_never_noticed(editor, model, project, reply):
    model.script(naming(reply))
    session = await editor.new_session(project)
    assert await editor.prompt(session, "hello there") == "end_turn"
    seen = len(editor.lines)
    await model.until(lambda server: asked(server))
    await asyncio.sleep(0.3)
    assert editor.lines[seen:] == []
    assert titles(editor, session) == ["hello there"]
    assert await editor.prompt(session, "again") == "end_turn"
    assert len(asked(model)) == 1


@pytest.mark.slow
async def test_a_close_ends_the_search(editor, model, project):
    model.script(naming("late", first_delay=30))
    session = await editor.new_session(project)
    await editor.prompt(session, "first")
    await model.until(lambda server: asked(server))
    await editor.request("session/close", {"sessionId": session})
    await model.until(lambda server: server.aborted)


async def test_the_end_of_the_connection_does_not_wait_for_it(editor, model, project):
    model.script(naming("late", first_delay=30))
    session = await editor.new_session(project)
    await editor.prompt(session, "first")
    await model.until(lambda server: asked(server))
    assert await editor.close(timeout=2) == 0
    assert "Traceback" not in editor.stderr


@pytest.mark.parametrize("setting", ["file", pytest.param("variable", marks=pytest.mark.slow)])
async def test_it_can_be_turned_off(model, project, tmp_path, setting):
    home = tmp_path / "home" / "hermes-acp"
    home.mkdir(parents=True)
    if setting == "file":
        (home / "config.toml").write_text("[agent]\nauto_title = false\n")
    variable = "" if setting == "file" else "false"
    async with open_editor(tmp_path / "home", model.url, HERMES_ACP_AUTO_TITLE=variable) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "hello")
        await asyncio.sleep(1)
        assert titles(editor, session) == ["hello"]
    assert asked(model) == []


@pytest.mark.slow
async def test_neither_commands_nor_failures_are_named(editor, model, project):
    model.script(naming("A title"))
    session = await editor.new_session(project)
    await editor.prompt(session, "/help")
    await asyncio.sleep(0.8)
    assert asked(model) == []
    await editor.prompt(session, "hello")
    await editor.wait_update(lambda update: update.get("title") == "A title")
