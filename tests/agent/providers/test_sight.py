"""Pictures in requests: the newest few, none for a model that cannot see, fewer when the server refuses them."""

import pytest

from hermes_acp.agent.providers.base import Request
from hermes_acp.agent.providers.sight import Sight, in_sight, learned
from hermes_acp.errors import ProviderError
from hermes_acp.events import Notice
from hermes_acp.messages import AssistantMessage, Image, Text, ToolCall, ToolMessage, UserMessage, user
from tests.fakes.model_server import fail
from tests.support.asking import READ_FILE, ask
from tests.support.pictures import picture

PICTURES = [picture((shade, 0, 0)) for shade in range(30)]


def prompt(*pictures, text="look"):
    return UserMessage((Text(text), *pictures))


def conversation(*groups):
    """One prompt for each group of pictures, answered but for the last."""
    messages = [message for group in groups for message in (prompt(*group), AssistantMessage("seen"))]
    return messages[:-1]


def after_tool(*pictures):
    """A tool's result with pictures."""
    called = AssistantMessage(tool_calls=(ToolCall("call_1", "read_file", {}),))
    return [user("look"), called, ToolMessage("call_1", "read_file", "a.png", images=pictures)]


def sent(body):
    """The base64 of the pictures of a request, in order."""
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    parts = [part for content in contents for part in content if part["type"] == "image_url"]
    return [part["image_url"]["url"].partition(",")[2] for part in parts]


def data(*pictures):
    return [each.data for each in pictures]


async def test_only_the_newest_pictures_of_a_long_conversation_are_sent(server, provider):
    messages = conversation(PICTURES[:10], PICTURES[10:20], PICTURES[20:23])
    assert (await ask(provider, Request("", messages))).of(Notice) == []
    [request] = server.requests
    assert sent(request.body) == data(*PICTURES[3:23])
    assert str(request.body).count("An earlier picture (image/png)") == 3
    assert len(messages[0].parts) == 11, "the conversation itself is left alone"


async def test_a_model_that_cannot_see_is_told_of_pictures_and_the_person_of_that(server, connect):
    blind = connect(sees_images=False)
    asked = await ask(blind, Request("", conversation([PICTURES[0]])))
    assert server.requests[-1].messages[0]["content"] == "look\n\n[A picture (image/png) that this model cannot see.]"
    [notice] = asked.of(Notice)
    assert notice.title == "fake cannot see pictures"
    assert asked.text == "Done."
    asked = await ask(blind, Request("", after_tool(PICTURES[1]), [READ_FILE]))
    result = server.requests[-1].messages[-1]
    assert (result["role"], result["content"]) == (
        "tool",
        "a.png\n\n[A picture (image/png) that this model cannot see.]",
    )
    assert len(asked.of(Notice)) == 1
    asked = await ask(blind, Request("", [*conversation([PICTURES[0]]), AssistantMessage("no"), user("go on")]))
    assert asked.of(Notice) == [], "an old picture is not told of again"
    assert server.problems == []


REFUSALS = [
    (404, "No endpoints found that support image input"),
    (400, "Invalid content type. image_url is only supported by certain models."),
    (400, "this model does not support image input (ref: b8bd630e)"),
    (400, "Model does not support images. Please use a model that does."),
    (400, "fake is not a multimodal model"),
    (400, "At most 0 image(s) may be provided in one prompt."),
    (400, "messages[0].content must be a string"),
    (422, "messages[0]: unknown variant `image_url`, expected `text` at line 1"),
    (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"),
    (500, "this model is missing data required for image input"),
]


@pytest.mark.parametrize(("status", "words"), REFUSALS)
async def test_a_model_found_to_be_blind_is_asked_again_without_pictures_and_remembered(
    server, provider, status, words
):
    server.script(lambda body: fail(status, words) if sent(body) else None)
    asked = await ask(provider, Request("", conversation([PICTURES[0]])))
    assert asked.text == "Done."
    [notice] = asked.of(Notice)
    assert words in notice.text
    await ask(provider, Request("", conversation([PICTURES[0]], [])))
    assert [len(sent(request.body)) for request in server.requests] == [1, 0, 0]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "image 0: it exceeds 5 MB maximum: 5316852 bytes"),
        (400, "Could not process image"),
        (400, "messages.0.content.1.image.source.base64.data: a dimension exceeds 2000 pixels"),
        (400, "You uploaded an unsupported image. Please make sure your image format is one of png, jpeg"),
        (400, "This model does not support the image format image/webp"),
        (413, "Request Entity Too Large"),
    ],
)
async def test_the_older_pictures_go_first_then_all_and_what_was_refused_stays_out(server, provider, status, words):
    bad = PICTURES[0].data
    server.script(lambda body: fail(status, words) if bad in sent(body) else None)
    asked = await ask(provider, Request("", conversation([PICTURES[0]], [PICTURES[1]])))
    assert asked.text == "Done."
    [notice] = asked.of(Notice)
    assert words in notice.text
    assert [sent(request.body) for request in server.requests] == [data(*PICTURES[:2]), data(PICTURES[1])]
    assert "the model's server refused" in str(server.requests[-1].body)
    await ask(provider, Request("", conversation([PICTURES[0]], [PICTURES[1]], [PICTURES[2]])))
    assert sent(server.requests[-1].body) == data(*PICTURES[1:3])
    server.script(lambda body: fail(status, words) if sent(body) else None)
    assert (await ask(provider, Request("", conversation([PICTURES[3]])))).text == "Done."
    assert len(server.requests) == 5


async def test_a_bad_newest_picture_does_not_end_the_conversation(server, provider):
    bad = PICTURES[1].data
    server.script(lambda body: fail(400, "Invalid image data.") if bad in sent(body) else None)
    asked = await ask(provider, Request("", conversation([PICTURES[0]], [PICTURES[1]])))
    assert asked.text == "Done."
    assert len(server.requests) == 3
    await ask(provider, Request("", conversation([PICTURES[0]], [PICTURES[1]], [])))
    assert len(server.requests) == 4


async def test_a_server_that_takes_a_few_gets_the_newest_few(server, provider):
    words = "At most 2 image(s) may be provided in one prompt."
    server.script(lambda body: fail(400, words) if len(sent(body)) > 2 else None)
    await ask(provider, Request("", conversation(PICTURES[:3], PICTURES[3:5])))
    assert sent(server.requests[-1].body) == data(*PICTURES[3:5])
    await ask(provider, Request("", conversation(PICTURES[:3], PICTURES[3:6])))
    assert sent(server.requests[-1].body) == data(*PICTURES[4:6])
    assert len(server.requests) == 3


@pytest.mark.parametrize("words", ["Invalid image data.", "this model does not support image input"])
@pytest.mark.parametrize("status", [401, 403, 429])
async def test_only_refusals_of_the_request_itself_teach_anything(server, provider, status, words):
    server.say(fail(status, words))
    asked = await ask(provider, Request("", conversation([PICTURES[0]])))
    assert asked.error.status == status
    assert len(server.requests) == 1


async def test_a_refusal_that_has_nothing_to_do_with_pictures_is_an_error(server, provider):
    server.say(fail(400, "temperature must be at most 1"))
    assert (await ask(provider, Request("", conversation([PICTURES[0]])))).error.status == 400
    server.say(fail(400, "Invalid image data."))
    assert (await ask(provider, Request("", [user("no picture here")]))).error.status == 400
    assert len(server.requests) == 2


def test_the_same_picture_twice_counts_twice_and_refused_once_is_refused_everywhere():
    twin = Image(PICTURES[0].data, "image/png")
    messages = conversation([PICTURES[0]], [twin])
    error = ProviderError("Invalid image data.", kind="bad_request", status=400)
    sight = learned(Sight(), error, messages)
    assert [part for message in in_sight(messages, sight) for part in getattr(message, "parts", ())] == [
        Text("look"),
        Text("[A picture (image/png) that the model's server refused.]"),
    ] * 2
    assert learned(sight, error, messages) == sight


def test_a_conversation_without_pictures_is_the_very_same():
    messages = [user("a"), AssistantMessage("b"), user("c")]
    assert in_sight(messages, Sight()) is messages
