"""Side tasks with models of their own: what each server received, and that no turn ever notices a failure."""

import asyncio

import pytest

from tests.fakes.model_server import Call, ModelServer, Say, Status, fail
from tests.support.editor import open_editor
from tests.support.pictures import picture

pytestmark = pytest.mark.slow

KEYS = {"MAIN_KEY": "sk-main-0123456789", "SIDE_KEY": "sk-side-0123456789", "SPARE_KEY": "sk-spare-0123456789"}


@pytest.fixture
async def side():
    async with ModelServer() as server:
        yield server
        assert server.problems == []


@pytest.fixture
async def spare():
    async with ModelServer() as server:
        yield server
        assert server.problems == []


@pytest.fixture
def configure(tmp_path, model, side, spare):
    """Writes the settings: a model, and another one with a reserve for a side task."""
    folder = tmp_path / "home" / "hermes-acp"
    folder.mkdir(parents=True)
    model.models = ("big-model",)

    def write(task, *, vision="true", title="false"):
        (folder / "config.toml").write_text(
            f"""
[agent]
auto_title = {title}
[model]
provider = "custom"
name = "big-model"
base_url = "{model.url}"
api_key_env = "MAIN_KEY"
vision = {vision}
[auxiliary.{task}]
provider = "side"
model = "side-model"
base_url = "{side.url}"
api_key_env = "SIDE_KEY"
[[auxiliary.{task}.fallback]]
provider = "spare"
model = "spare-model"
base_url = "{spare.url}"
api_key_env = "SPARE_KEY"
""",
            encoding="utf-8",
        )

    return write


def start(tmp_path, **env):
    return open_editor(tmp_path / "home", **{**KEYS, "HERMES_ACP_AUTO_TITLE": "", **env})


def asked(server):
    return [
        (request.headers["authorization"].removeprefix("Bearer "), request.body["model"]) for request in server.requests
    ]


def shown(text="what is it?"):
    image = picture()
    return [
        {"type": "text", "text": text},
        {"type": "image", "data": image.data, "mimeType": image.mime_type},
    ]


async def prompt(editor, session, blocks):
    return (await editor.request("session/prompt", {"sessionId": session, "prompt": blocks}))["stopReason"]


async def test_the_title_is_asked_of_its_own_model_and_of_its_reserve(tmp_path, configure, model, side, spare, project):
    configure("title", title="true")
    side.say(fail(401, "no such key"))
    spare.say("A title of its own")
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "hello")
        await editor.wait_update(lambda update: update.get("title") == "A title of its own")
        assert asked(model) == [(KEYS["MAIN_KEY"], "big-model")]
        assert asked(side) == [(KEYS["SIDE_KEY"], "side-model")]
        assert asked(spare) == [(KEYS["SPARE_KEY"], "spare-model")]
        assert "hello" in str(spare.requests[0].messages)


async def test_a_title_that_nobody_gives_is_not_noticed(tmp_path, configure, model, side, spare, project):
    configure("title", title="true")
    side.default = spare.default = Status(503)
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "hello")
        seen = len(editor.lines)
        await spare.until(lambda server: server.requests)
        await asyncio.sleep(0.2)
        assert editor.lines[seen:] == []
        assert (len(side.requests), len(spare.requests), len(model.requests)) == (1, 1, 1)
        assert await editor.prompt(session, "again") == "end_turn"


async def test_a_picture_is_described_once_to_a_model_that_cannot_see(tmp_path, configure, model, side, project):
    configure("vision", vision="false")
    (project / "a").write_text("x\n")
    side.say("A red square with the word STOP.")
    model.say(Say(calls=[Call("read_file", {"path": "a"})]), "A stop sign.", "Still one.")
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await prompt(editor, session, shown()) == "end_turn"
        await editor.prompt(session, "and now?")
        assert asked(side) == [(KEYS["SIDE_KEY"], "side-model")]
        [part] = [part for part in side.requests[0].messages[-1]["content"] if part["type"] == "image_url"]
        assert part["image_url"]["url"].endswith(picture().data)
        assert "what is it?" not in str(side.requests[0].messages)
        for request in model.requests:
            assert "A red square with the word STOP." in str(request.messages)
            assert "image_url" not in str(request.messages)
        assert len({str(request.messages[1]) for request in model.requests}) == 1
        assert "cannot see" not in editor.text(session)


async def test_a_model_that_turns_out_to_be_blind_is_asked_again_with_the_words(
    tmp_path, configure, model, side, project
):
    configure("vision")
    side.say("A red square.")
    model.say(fail(400, "this model does not support image input"), "A square.")
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await prompt(editor, session, shown()) == "end_turn"
        assert ["image_url" in str(request.messages) for request in model.requests] == [True, False]
        assert "A red square." in str(model.requests[1].messages)
        assert editor.text(session) == "A square."


async def test_a_model_that_sees_gets_the_picture_itself(tmp_path, configure, model, side, project):
    configure("vision")
    async with start(tmp_path) as editor:
        await editor.initialize()
        assert await prompt(editor, await editor.new_session(project), shown()) == "end_turn"
        assert "image_url" in str(model.requests[0].messages)
        assert side.requests == []


async def test_a_picture_that_nobody_describes_is_named_as_not_seen(tmp_path, configure, model, side, spare, project):
    configure("vision", vision="false")
    side.default = spare.default = fail(401, "no such key")
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        for _ in range(2):
            assert await prompt(editor, session, shown()) == "end_turn"
        assert (len(side.requests), len(spare.requests)) == (1, 1)
        assert "A picture (image/png) that this model cannot see." in str(model.requests[-1].messages)
        assert "cannot see pictures" in editor.text(session)
        assert "the side task vision failed" in editor.stderr


async def test_a_cancel_while_a_picture_is_described_ends_the_turn(tmp_path, configure, model, side, project):
    configure("vision", vision="false")
    side.say(Say("late", first_delay=30))
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        asking = editor.begin("session/prompt", {"sessionId": session, "prompt": shown()})
        await side.until(lambda server: server.requests)
        editor.notify("session/cancel", {"sessionId": session})
        assert (await asking)["stopReason"] == "cancelled"
        await side.until(lambda server: server.aborted)
        assert model.requests == []


async def test_the_summary_of_a_compaction_is_asked_of_its_own_model(tmp_path, configure, model, side, project):
    configure("compression")
    side.say("They greeted each other at length.")
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        for number in range(12):
            await editor.prompt(session, f"{number} " + "long " * 400)
        before = len(model.requests)
        await editor.prompt(session, "/compact")
        assert asked(side) == [(KEYS["SIDE_KEY"], "side-model")]
        assert len(model.requests) == before
        await editor.prompt(session, "go on")
        assert "They greeted each other at length." in str(model.requests[-1].messages)
