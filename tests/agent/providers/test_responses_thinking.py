"""What a Responses model thinks: shown once, and kept as it came."""

import pytest

from tests.fakes.responses_replies import completed, event
from tests.support.responses_events import WHOLE, api, call, done, message, reasoning, say

__all__ = ["api", "say"]


async def test_the_parts_of_a_summary_are_paragraphs(say):
    parts = [{"type": "summary_text", "text": text} for text in ("**One** first", "**Two** second")]
    told = [
        event("reasoning_summary_text.delta", delta=part["text"], summary_index=number)
        for number, part in enumerate(parts)
    ]
    asked = await say(*told, done(reasoning("", summary=parts)), completed())
    assert asked.thought == asked.message.reasoning == "**One** first\n\n**Two** second"


@pytest.mark.parametrize("streamed", [True, False])
async def test_open_models_think_in_their_own_words(say, streamed):
    item = reasoning("", summary=[], content=[{"type": "reasoning_text", "text": "hm hm"}], encrypted_content=None)
    deltas = [event("reasoning_text.delta", delta=piece, content_index=0) for piece in ("hm ", "hm")]
    asked = await say(*(deltas if streamed else ()), done(item), completed(item))
    assert asked.thought == asked.message.reasoning == "hm hm"
    (kept,) = asked.message.opaque.data["output"]
    assert kept["content"] == item["content"]


@pytest.mark.parametrize("first", ["reasoning_text", "reasoning_summary_text"])
async def test_of_a_thought_and_its_summary_the_one_that_came_first_is_shown(say, first):
    texts = {"reasoning_text": "long thought", "reasoning_summary_text": "short"}
    item = reasoning("short", content=[{"type": "reasoning_text", "text": "long thought"}])
    names = sorted(texts, key=lambda name: name != first)
    asked = await say(*(event(f"{name}.delta", delta=texts[name][:4]) for name in names), done(item), completed(item))
    assert asked.thought == asked.message.reasoning == texts[first]


async def test_reasoning_is_kept_as_it_came_with_the_order_of_the_reply(say):
    first = reasoning("hm", 0, encrypted_content="gAAAABo\u00e4==", status="completed")
    items = [first, message("one", 1, phase="commentary"), call(WHOLE, 2), reasoning("", 3, summary=[]), call("{}", 4)]
    asked = await say(*(done(item, number) for number, item in enumerate(items)), completed(*items))
    opaque = asked.message.opaque
    assert (opaque.provider, opaque.model) == ("fake", "fake")
    assert opaque.data["output"] == [
        {name: value for name, value in first.items() if name != "status"},
        {"type": "message", "length": 3, "id": "msg_1", "phase": "commentary"},
        {"type": "function_call", "id": "fc_2"},
        items[3],
        {"type": "function_call", "id": "fc_4"},
    ]


async def test_reasoning_that_is_not_self_contained_is_not_kept(say):
    bare = reasoning("hm", encrypted_content=None)
    asked = await say(done(bare), done(message("hi"), 1), completed(bare, message("hi")))
    assert (asked.message.reasoning, asked.message.opaque) == ("hm", None)
