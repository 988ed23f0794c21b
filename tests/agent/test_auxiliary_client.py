"""One question to a side task's models, and pictures in words."""

import asyncio

import pytest

from hermes_acp.agent.auxiliary_client import AuxiliaryClient
from hermes_acp.agent.descriptions import Descriptions
from hermes_acp.agent.providers.base import free
from hermes_acp.agent.providers.cooldown import Cooldown
from hermes_acp.agent.providers.described import described
from hermes_acp.agent.providers.fallback import Fallback, Link
from hermes_acp.agent.providers.scripted import Scripted
from hermes_acp.agent.providers.sight import MAX_PICTURES
from hermes_acp.errors import ProviderError
from hermes_acp.messages import AssistantMessage, Image, Text, ToolMessage, UserMessage, user
from tests.support.pictures import picture

FAILED = ProviderError("no key", kind="auth")


def client(*replies, **more):
    model = Scripted(*replies, **more)
    return AuxiliaryClient("vision", model), model


async def test_the_question_goes_alone_and_the_text_comes_back():
    auxiliary, model = client(AssistantMessage("An answer.", reasoning="hm"))
    assert await auxiliary.ask("A question?", "Be brief.") == "An answer."
    [request] = model.requests
    assert (request.system, request.messages, request.tools) == ("Be brief.", [user("A question?")], ())


async def test_its_chain_is_asked_in_order():
    first, second = Scripted(FAILED), Scripted(AssistantMessage("From the second."))
    chain = Fallback([Link("a", first, Cooldown()), Link("b", second, Cooldown())])
    assert await AuxiliaryClient("title", chain).ask("A question?") == "From the second."
    assert len(first.requests) == len(second.requests) == 1


async def test_a_failure_is_raised_or_only_logged(caplog):
    auxiliary, _ = client(FAILED, FAILED)
    with pytest.raises(ProviderError):
        await auxiliary.ask("A question?")
    assert await auxiliary.try_to_ask("A question?") == ""
    assert "the side task vision failed: no key" in caplog.text


async def test_an_answer_that_does_not_come_in_time_is_none(caplog):
    auxiliary, model = client(AssistantMessage("late"), delay=30)
    assert await auxiliary.try_to_ask("A question?", seconds=0.05) == ""
    assert "has not answered in time" in caplog.text
    assert model.closed == 1


async def test_a_picture_is_described_once_however_many_ask():
    auxiliary, model = client(AssistantMessage(" A red square. "), AssistantMessage("A blue one."), delay=0.01)
    descriptions = Descriptions(auxiliary)
    assert set(await asyncio.gather(*(descriptions.of(picture(), free) for _ in range(10)))) == {"A red square."}
    assert await descriptions.of(picture("blue"), free) == "A blue one."
    assert await descriptions.of(picture(), free) == "A red square."
    assert len(model.requests) == 2


async def test_one_that_could_not_be_described_is_left_alone_for_a_while():
    auxiliary, model = client(FAILED, AssistantMessage("late"))
    descriptions = Descriptions(auxiliary)
    assert [await descriptions.of(picture(), free) for _ in range(3)] == ["", "", ""]
    assert len(model.requests) == 1


async def test_words_stand_in_the_place_of_pictures_and_those_without_stay():
    async def describe(image, pay):
        return "red" if image == picture() else ""

    other = picture("blue")
    messages = [
        UserMessage((Text("look"), picture(), other)),
        AssistantMessage("ok"),
        ToolMessage("call_1", "read_file", "The file.", images=(picture(), other)),
    ]
    asked, reply, result = await described(messages, describe)
    assert [type(part) for part in asked.parts] == [Text, Text, Image]
    assert asked.parts[1].text.endswith("says of it:]\nred")
    assert reply == messages[1]
    assert result.text.startswith("The file.\n\n[A picture (image/png)")
    assert result.images == (other,)


async def test_only_the_newest_pictures_are_described():
    seen = []

    async def describe(image, pay):
        seen.append(image.data)
        return "words"

    pictures = tuple(Image(str(number), "image/png") for number in range(MAX_PICTURES + 5))
    [message] = await described([UserMessage(pictures)], describe)
    assert seen == [str(number) for number in range(5, MAX_PICTURES + 5)]
    assert [type(part) for part in message.parts] == [Image] * 5 + [Text] * MAX_PICTURES


async def test_without_pictures_the_messages_stay_as_they_are():
    messages = [user("hello")]
    assert await described(messages, None) is messages
