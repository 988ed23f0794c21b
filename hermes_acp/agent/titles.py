"""A conversation's title, asked of its model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import aclosing

from hermes_acp.agent.providers.base import Pay, Provider, Reply, Request, free
from hermes_acp.events import StatusChanged, TextDelta
from hermes_acp.messages import AssistantMessage, Message, UserMessage, user
from hermes_acp.text import clean, head_and_tail, plain, shorten, without_unseen

MAX_CHARACTERS = 60
"""Of a title."""

MAX_WORDS = 12
"""A longer answer is no title."""

_SYSTEM = "You name conversations."
_QUESTION = """\
Give the conversation below a title of at most six words, in the language of the user. Answer with the title alone: \
one line, without quotation marks and without a full stop.

<user>
{prompt}
</user>
<assistant>
{answer}
</assistant>"""

_PROMPT_CHARACTERS = 2000
_ANSWER_CHARACTERS = 1000
_ENOUGH = 200
"""Characters of an answer that are waited for."""

_MARKS = "\"'`*_#„“”«»‚‘’「」『』 "
_LABEL = re.compile(r"^(title|titel|titre|título|titolo)\s*[:：]\s*", re.IGNORECASE)


def first_title(prompt: str) -> str:
    """The first words of a prompt that can be seen, by which a session is called until it has a better title."""
    return shorten(without_unseen(" ".join(plain(clean(prompt)).split())).strip(), MAX_CHARACTERS)


def title_question(messages: Sequence[Message]) -> str:
    """What a model is asked for the title of a conversation; "" as long as it has no answer in it."""
    prompt = next((message.text for message in messages if isinstance(message, UserMessage) and message.text), "")
    answers = (message for message in messages if isinstance(message, AssistantMessage) and not message.synthetic)
    answer = next((message.text for message in answers if message.text.strip()), "")
    if not answer:
        return ""
    return _QUESTION.format(
        prompt=head_and_tail(prompt, _PROMPT_CHARACTERS), answer=head_and_tail(answer, _ANSWER_CHARACTERS)
    )


async def ask_title(provider: Provider, question: str, pay: Pay = free) -> str:
    """The title that the model gives, "" when it gives none. One request, not tried again; `pay` counts what it costs.

    Raises:
        ProviderError: the model could not be asked.
    """
    text = ""
    async with aclosing(provider.stream(Request(_SYSTEM, [user(question)]))) as deltas:
        async for delta in deltas:
            if isinstance(delta, StatusChanged) and delta.kind == "retrying":
                break  # It failed, and would be tried again.
            if isinstance(delta, TextDelta):
                text += delta.text
            if isinstance(delta, Reply):
                pay(delta)
            if len(text) > _ENOUGH or "\n" in text.lstrip():
                break
    return as_title(text)


def as_title(text: str) -> str:
    """A model's answer as a title: one line of at most `MAX_CHARACTERS`, without marks around it.

    Empty when nothing in it can be a title.
    """
    lines = [line.strip() for line in plain(clean(text)).splitlines()]
    line = next((line for line in lines if line.strip(_MARKS + "-=<>")), "")
    line = _LABEL.sub("", without_unseen(line).strip(_MARKS)).strip(_MARKS).rstrip(".。")
    words = line.split()
    return shorten(" ".join(words), MAX_CHARACTERS) if len(words) <= MAX_WORDS else ""
