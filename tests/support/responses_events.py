"""Items and events of the Responses API, as a test tells them."""

import pytest

from hermes_acp.agent.providers.codex_responses import API
from tests.fakes.responses_replies import event, raw_events
from tests.support.asking import ask


@pytest.fixture
def api():
    return API


@pytest.fixture
def say(server, provider):
    """Lets the server send these events, and gives what the provider makes of them."""

    async def answered(*told):
        server.say(raw_events(*told))
        return await ask(provider)

    return answered


def message(text, number=0, **fields):
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [part], **fields}


def call(arguments, number=0, name="read_file", **fields):
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": name,
        "arguments": arguments,
    } | fields


def reasoning(text, number=0, **fields):
    summary = [{"type": "summary_text", "text": text}]
    return {"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": "gAAA"} | fields


def added(item, number=0):
    return event("output_item.added", number, item=item)


def done(item, number=0):
    return event("output_item.done", number, item=item)


def said(delta, number=0, **fields):
    return event("output_text.delta", number, delta=delta, content_index=0, **fields)


def written(delta, number=0, **fields):
    return event("function_call_arguments.delta", number, delta=delta, **fields)


WHOLE = '{"path":"x"}'
