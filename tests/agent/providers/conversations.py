"""Conversations in good order and full of bad text, for what is to be written of them in each API."""

from itertools import chain

from hypothesis import strategies as st

from hermes_acp.agent.providers.base import Request, new_id
from hermes_acp.messages import AssistantMessage, Text, ToolCall, ToolMessage, UserMessage
from tests.support.asking import READ_FILE
from tests.support.pictures import picture

PICTURE = picture()

texts = st.text(st.characters(), max_size=8) | st.sampled_from(["", " ", "\n", "\ud83d", "a\udcb2b"])
prompts = st.lists(st.builds(Text, texts) | st.just(PICTURE), max_size=3).map(lambda parts: UserMessage(tuple(parts)))


@st.composite
def steps(draw, opaques):
    """A reply with calls, and their results."""
    arguments = st.dictionaries(texts, texts, max_size=2)
    calls = [
        ToolCall(new_id("call"), draw(texts), draw(arguments))
        for _ in range(draw(st.integers(min_value=1, max_value=3)))
    ]
    said = AssistantMessage(draw(texts), tool_calls=tuple(calls), opaque=draw(opaques))
    failed, pictures = st.booleans(), st.sampled_from([(), (PICTURE,)])
    return [said, *(ToolMessage(call.id, call.name, draw(texts), draw(failed), draw(pictures)) for call in calls)]


@st.composite
def requests(draw, opaques):
    """A request after such a conversation; `opaques` is what messages may hold of a provider's own."""
    answers = st.builds(AssistantMessage, text=texts, opaque=opaques, synthetic=st.booleans())
    history = []
    for _ in range(draw(st.integers(0, 2))):
        history += [draw(prompts), *chain(*draw(st.lists(steps(opaques), max_size=2))), draw(answers)]
    history += [draw(prompts), *chain(*draw(st.lists(steps(opaques), max_size=2)))]
    notes = tuple(draw(st.lists(texts, max_size=2)))
    return Request(draw(texts), history, [READ_FILE], notes, draw(st.sampled_from(["auto", "none"])))
