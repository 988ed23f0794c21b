"""Values that JSON can say and nobody expects: in each API they cost their call, and never the session."""

import pytest

from hermes_acp.agent.history import find_disorder
from hermes_acp.config import API_MODES
from hermes_acp.messages import ToolMessage, user
from hermes_acp.nesting import DEEPEST
from tests.fakes.anthropic_replies import BEGIN, delta, end, events, start, stop
from tests.fakes.model_server import Call, ModelServer, Raw, Say, chunk, sse
from tests.modes.stage import connected, endpoint, staged
from tests.modes.talks import Talk


def nested(depth):
    return "[" * depth + "]" * depth


ARGUMENTS = {
    "deep": '{"path": ' + nested(DEEPEST) + "}",
    "deeper": '{"path": ' + nested(600) + "}",
    "deepest": '{"path": ' + nested(100_000) + "}",
    "a long number": '{"path": ' + "9" * 5_000 + "}",
    "an infinite number": '{"path": "a", "offset": 1e999}',
}


@pytest.fixture(params=API_MODES)
def mode(request):
    return request.param


@pytest.fixture
async def server():
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def stage(mode, server, tmp_path):
    async with (
        connected(mode, endpoint(server.url)) as provider,
        staged(provider, tmp_path / "project", Talk((), (), "")) as stage,
    ):
        yield stage


@pytest.mark.parametrize("name", ARGUMENTS)
async def test_hostile_arguments_fail_their_call_and_the_session_goes_on(stage, server, name):
    server.say(Say(calls=[Call("read_file", ARGUMENTS[name])]), "Seen.", "Again.")
    await stage.prompt(user("go"))
    await stage.prompt(user("again"))
    assert stage.stops == ["end_turn", "end_turn"]
    assert (stage.shown, server.problems) == ("Seen.Again.", [])
    assert [result.is_error for result in await stage.messages() if isinstance(result, ToolMessage)] == [True]


async def test_edits_that_are_nested_without_end_fail_their_call(stage, server):
    server.say(Say(calls=[Call("patch", {"path": "a", "edits": nested(100_000)})]), "Seen.")
    await stage.prompt(user("go"))
    assert (stage.stops, stage.shown, server.problems) == (["end_turn"], "Seen.", [])


def thought(extra):
    """What each API gives as thoughts to be given back, with this beside it."""
    detail = '{"type": "reasoning.text", "text": "hm", "index": 0, "extra": ' + extra + "}"
    chat = chunk({"reasoning_details": "@", "content": "One."}, "stop")
    item = '{"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "gA==", "extra": ' + extra + "}"
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One."}]}
    responses = {"type": "response.completed", "response": {"status": "completed", "output": ["@", said]}}
    block = '{"type": "redacted_thinking", "data": "gA==", "extra": ' + extra + "}"
    text = (start(1, type="text", text=""), delta(1, "text_delta", text="One."), stop(1))
    opening = {"type": "content_block_start", "index": 0, "content_block": "@"}
    return {
        "chat_completions": sse(chat).replace(b'"@"', f"[{detail}]".encode()),
        "codex_responses": events(responses).replace(b'"@"', item.encode()),
        "anthropic_messages": events(BEGIN, opening, stop(0), *text, *end()).replace(b'"@"', block.encode()),
    }


@pytest.mark.parametrize("extra", ["1e999", "-1e999", "NaN", nested(60)], ids=["inf", "-inf", "nan", "nested"])
async def test_thoughts_with_hostile_values_go_back_and_the_session_goes_on(stage, server, mode, extra):
    server.say(Raw((thought(extra)[mode],)), "Two.", "Three.")
    for _ in range(3):
        await stage.prompt(user("go"))
    assert stage.stops == ["end_turn"] * 3
    assert "gA==" in str(server.requests[1].body) or "hm" in str(server.requests[1].body)


async def test_thoughts_that_are_nested_too_deeply_are_no_answer(stage, server, mode):
    server.say(*[Raw((thought(nested(700))[mode],))] * 3, "Two.")
    await stage.prompt(user("go"))
    await stage.prompt(user("go"))
    assert stage.stops == ["malformed", "end_turn"]
    assert find_disorder(await stage.messages()) is None
