"""Images that others lost, hung on, or bricked their sessions with."""

import base64

import pytest
from PIL import Image as Pillow

from hermes_acp.local.pictures import MAX_BASE64, MAX_SIDE
from tests.fakes.model_server import Call, Say, fail
from tests.support.editor import open_editor
from tests.support.pictures import block, encoded, in_base64, moving, noise, opened, plain
from tests.support.talk import open_params

pytestmark = pytest.mark.slow


def text(words):
    return {"type": "text", "text": words}


def blob(data, **fields):
    return {"type": "resource", "resource": {"uri": "file:///a.png", "blob": in_base64(data), **fields}}


def pictures(message):
    """The data URLs of a message that the model server received, in order."""
    content = message["content"]
    return (
        [part["image_url"]["url"] for part in content if part["type"] == "image_url"] if content != str(content) else []
    )


def all_pictures(request):
    return [url for message in request.messages if message["role"] == "user" for url in pictures(message)]


def words(message):
    """All text of a message."""
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


async def send(editor, session, *blocks):
    answer = await editor.request("session/prompt", {"sessionId": session, "prompt": list(blocks)})
    return answer["stopReason"]


async def test_p2_the_bytes_of_images_reach_the_model_in_their_places(editor, model, project):
    hello = await editor.initialize()
    assert hello["agentCapabilities"]["promptCapabilities"]["image"] is True
    red, blue = plain(), plain(colour="blue")
    session = await editor.new_session(project)
    blocks = (text("first"), block(red), text("then"), blob(blue, mimeType="image/png"), blob(red))
    assert await send(editor, session, *blocks) == "end_turn"
    parts = model.requests[0].messages[-1]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url", "text", "image_url", "image_url"]
    urls = pictures(model.requests[0].messages[-1])
    assert [base64.b64decode(url.partition(",")[2]) for url in urls] == [red, blue, red]


@pytest.mark.parametrize(
    ("mime_type", "data"),
    [
        ("image/jpeg", plain()),
        pytest.param("application/octet-stream", plain(kind="GIF"), marks=pytest.mark.slow),
        pytest.param("", plain(kind="WEBP"), marks=pytest.mark.slow),
    ],
)
async def test_p2_an_image_of_another_type_than_was_said_is_sent_as_what_it_is(editor, project, mime_type, data, model):
    session = await editor.new_session(project)
    assert await send(editor, session, block(data, mime_type)) == "end_turn"
    [url] = all_pictures(model.requests[0])
    assert url.startswith(f"data:{opened(url).get_format_mimetype()};")


async def test_p2_a_model_without_sight_answers_the_text_and_the_person_is_told(model, project, tmp_path):
    home = tmp_path / "home" / "hermes-acp"
    home.mkdir(parents=True)
    (home / "config.toml").write_text("[model]\nvision = false\n")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await send(editor, session, text("what is this?"), block(plain())) == "end_turn"
        assert "cannot see pictures" in editor.text(session)
        assert editor.text(session).endswith("Done.")
    [request] = model.requests
    assert all_pictures(request) == []
    assert "what is this?" in words(request.messages[-1])
    assert "cannot see" in words(request.messages[-1])


@pytest.mark.slow
async def test_p2_a_model_that_turns_out_to_be_without_sight_answers_the_text(editor, model, project):
    refusal = "this model does not support image input"
    model.script(lambda body: fail(400, refusal) if "image_url" in str(body["messages"]) else None)
    session = await editor.new_session(project)
    assert await send(editor, session, text("what is this?"), block(plain())) == "end_turn"
    assert refusal in editor.text(session)
    assert await editor.prompt(session, "and now?") == "end_turn"
    assert len(model.requests) == 3


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param("", "is empty", marks=pytest.mark.slow),
        pytest.param("!!!!", "is not base64", marks=pytest.mark.slow),
        pytest.param(in_base64(b"<svg/>"), "is no PNG, JPEG, GIF or WebP picture", marks=pytest.mark.slow),
        (in_base64(noise(50, 50)[:4000]), "is not whole"),
    ],
)
async def test_p2_a_broken_image_loses_nothing_else_of_the_prompt(editor, model, project, data, reason):
    session = await editor.new_session(project)
    broken = {"type": "image", "mimeType": "image/png", "data": data}
    assert await send(editor, session, text("before"), broken, block(plain()), text("after")) == "end_turn"
    message = model.requests[0].messages[-1]
    assert len(pictures(message)) == 1
    assert words(message).index("before") < words(message).index(reason) < words(message).index("after")
    assert reason in editor.text(session)


async def test_p2_text_in_a_blob_is_read_and_other_bytes_are_named(editor, model, project):
    session = await editor.new_session(project)
    await send(editor, session, blob("fünf\n".encode()), blob(b"%PDF-1.4\0", mimeType="application/pdf"))
    said = words(model.requests[0].messages[-1])
    assert "fünf" in said
    assert "application/pdf" in said


async def test_p3_images_of_every_weight_are_answered_and_the_session_lives(editor, model, project):
    session = await editor.new_session(project)
    data = [noise(260, 260), noise(320, 320), noise(1500, 1350)]
    for each, weight in zip(data, (200_000, 300_000, 6_000_000), strict=True):
        assert len(each) > weight
        assert await send(editor, session, text("look"), block(each)) == "end_turn"
    assert await editor.prompt(session, "plain text") == "end_turn"
    sizes = [len(url) for url in all_pictures(model.requests[-1])]
    assert len(sizes) == 3
    assert max(sizes) <= MAX_BASE64 + 100


async def test_p4_images_too_large_for_servers_are_made_to_fit_before_they_are_stored(editor, model, project, tmp_path):
    session = await editor.new_session(project)
    large = [noise(1500, 1350), plain(9000, 10), plain(2000, 3000, "JPEG"), moving("GIF"), moving("WEBP")]
    assert await send(editor, session, text("look"), *map(block, large)) == "end_turn"
    assert await editor.prompt(session, "plain text") == "end_turn"
    shown = [opened(url) for url in all_pictures(model.requests[-1])]
    assert [canvas.size for canvas in shown] == [(1500, 1350), (MAX_SIDE, 2), (1045, MAX_SIDE), (30, 20), (30, 20)]
    await editor.close()
    async with open_editor(tmp_path / "home", model.url) as second:
        await second.initialize()
        await second.request("session/load", open_params(session, project))
        replayed = [update["content"] for update in second.updates(session, "user_message_chunk")]
        images = [content for content in replayed if content["type"] == "image"]
        assert [opened(f"data:,{image['data']}").size for image in images] == [canvas.size for canvas in shown]
        assert replayed[0] == text("look")
        assert await second.prompt(session, "still there?") == "end_turn"
    assert all_pictures(model.requests[-1]) == all_pictures(model.requests[0])


async def test_p4_of_25_large_images_the_newest_are_sent_and_a_prompt_of_text_still_works(editor, model, project):
    session = await editor.new_session(project)
    data = [plain(2100, 40, colour=(shade, 0, 0)) for shade in range(25)]
    assert await send(editor, session, text("look"), *map(block, data)) == "end_turn"
    assert await editor.prompt(session, "plain text") == "end_turn"
    for request in model.requests:
        assert [opened(url).getpixel((5, 5))[0] for url in all_pictures(request)] == list(range(5, 25))
        assert words(request.messages[1]).count("An earlier picture") == 5


async def test_p4_an_image_from_a_tool_is_shown_to_the_model_scaled_down(editor, model, project):
    (project / "screen.png").write_bytes(plain(2600, 30))
    model.say(Say(calls=[Call("read_file", {"path": "screen.png"})]), "A red line.")
    session = await editor.new_session(project)
    assert await editor.prompt(session, "look at screen.png") == "end_turn"
    assert await editor.prompt(session, "plain text") == "end_turn"
    for request in model.requests[1:]:
        [url] = all_pictures(request)
        assert opened(url).size == (MAX_SIDE, 18)
    result = next(message for message in model.requests[1].messages if message["role"] == "tool")
    assert "2600x30 pixels, shown here as 1568x18" in result["content"]


async def test_p4_an_image_that_the_server_refuses_does_not_brick_the_session(editor, model, project, tmp_path):
    session = await editor.new_session(project)
    bad = plain(colour="blue")
    refusal = "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum"
    model.script(lambda body: fail(400, refusal) if in_base64(bad) in str(body["messages"]) else None)
    assert await send(editor, session, text("look"), block(bad)) == "end_turn"
    assert refusal in editor.text(session)
    assert await send(editor, session, text("and this"), block(plain())) == "end_turn"
    assert len(all_pictures(model.requests[-1])) == 1
    await editor.close()
    async with open_editor(tmp_path / "home", model.url) as second:
        await second.initialize()
        await second.request("session/load", open_params(session, project))
        assert await second.prompt(session, "plain text") == "end_turn"
        assert len(all_pictures(model.requests[-1])) == 1


async def test_p4_a_small_file_that_would_fill_the_memory_is_refused_with_its_size(editor, model, project):
    bomb = encoded(Pillow.new("1", (9000, 9000)))
    assert len(bomb) < 20_000
    (project / "bomb.png").write_bytes(bomb)
    model.say("What picture?", Say(calls=[Call("read_file", {"path": "bomb.png"})]), "Too large.")
    session = await editor.new_session(project)
    assert await send(editor, session, text("look"), block(bomb)) == "end_turn"
    assert await editor.prompt(session, "look at bomb.png") == "end_turn"
    for request in (model.requests[0], model.requests[2]):
        assert all_pictures(request) == []
        assert "9000x9000 pixels" in words(request.messages[-1])
