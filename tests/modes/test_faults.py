"""What servers do in the middle of an answer: the right retry or error, nothing shown twice, no half call run."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

import pytest

from hermes_acp.agent.providers import reading
from hermes_acp.agent.providers.retry import Backoff
from hermes_acp.config import API_MODES
from hermes_acp.events import ReasoningDelta, StatusChanged, ToolDrafted, ToolFinished
from hermes_acp.messages import user
from tests.fakes.model_server import Call, ModelServer, Raw, Reply, Say, Status
from tests.modes.stage import connected, endpoint, staged
from tests.modes.talks import INTERRUPTED, Talk, told

QUICK = Backoff(first=0.01)
STALL = 0.8
OVERLOADED = {"type": "overloaded_error", "message": "Overloaded", "code": "server_is_overloaded"}
PATHS = {
    "chat_completions": "/chat/completions",
    "codex_responses": "/responses",
    "anthropic_messages": "/v1/messages",
}
WRITE = Call("write_file", {"path": "new.txt", "content": "x" * 200})


@dataclass(frozen=True)
class Broken:
    """A fault: how an answer that has begun breaks, and the kind of error that it is."""

    ending: str
    kind: str
    bytes: bytes = b""


FAULTS = {
    "a cut without an end": Broken("cut", "incomplete"),
    "an error event": Broken("error", "overloaded"),
    "a stall with pings": Broken("ping", "stalled"),
    "silence": Broken("stall", "stalled"),
    "bad JSON": Broken("bytes", "malformed", b'event: message_start\ndata: {"type": "message_start", \n\n'),
    "a page in the stream": Broken("bytes", "malformed", b"data: <html><body>Bad gateway</body></html>\n\n"),
    "a reset": Broken("reset", "network"),
    "a closed connection": Broken("drop", "network"),
}
ALIKE = ("silence", "a page in the stream", "a closed connection")
"""Faults that another one stands for in the fast tests."""


class Script:
    """The replies of one mode's server."""

    def __init__(self, server: ModelServer, mode: str) -> None:
        self._wire = server.wire(PATHS[mode])

    def broken(self, said: Say, fault: Broken) -> Reply:
        """What is said, up to the fault."""
        match fault.ending:
            case "error":
                return replace(said, error=OVERLOADED)
            case "bytes":
                return self.raw(said, fault.bytes)
            case _:
                return replace(said, ending=fault.ending)

    def raw(self, said: Say, end: bytes | None = None) -> Raw:
        """The bytes of what is said, with another end."""
        pieces = self._wire.pieces(said, {"model": "fake", "messages": [], "input": []}, 1_000_000)
        return Raw((pieces.head + b"".join(pieces.deltas) + (pieces.end if end is None else end),))


@pytest.fixture(params=API_MODES)
def mode(request):
    return request.param


@pytest.fixture
def patience(request):
    """Seconds that a stream may stand still: few only where it does, since a loaded machine is slow too."""
    fault = request.node.callspec.params.get("fault")
    return STALL if fault is not None and fault.kind == "stalled" else 20.0


@pytest.fixture
async def held(mode, tmp_path, patience):
    """Holds a turn with a model that answers as scripted; gives the stage and the server."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(ModelServer("(the script is over)"))
        place = endpoint(server.url, stall_timeout=patience)
        provider = await stack.enter_async_context(connected(mode, place, QUICK))
        stage = await stack.enter_async_context(staged(provider, tmp_path / "project", Talk((), (), "")))

        async def hold(*replies):
            server.say(*replies)
            await stage.prompt(user("go"))
            assert server.problems == []
            return stage

        yield hold, server, Script(server, mode)


BEFORE = [
    pytest.param(Say(calls=[WRITE], reasoning="hm"), id="a call"),
    pytest.param(Say(reasoning="hm hm"), id="a thought", marks=pytest.mark.slow),
    pytest.param(Say(), id="nothing", marks=pytest.mark.slow),
]
EACH = [pytest.param(fault, id=name, marks=[pytest.mark.slow] * (name in ALIKE)) for name, fault in FAULTS.items()]


@pytest.mark.parametrize("said", BEFORE)
@pytest.mark.parametrize("fault", EACH)
async def test_before_the_first_word_a_fault_is_asked_again_and_no_half_call_runs(held, tmp_path, fault, said):
    hold, server, script = held
    stage = await hold(script.broken(said, fault), script.broken(said, fault), Say("At last."))
    assert stage.stops == ["end_turn"]
    assert stage.shown == "At last."
    assert told(await stage.messages()) == ("user: go", "assistant: At last.")
    assert len(server.requests) == 3
    assert [event.kind for event in stage.host.of(StatusChanged)].count("retrying") == 2
    assert {event.call_id for event in stage.host.of(ToolDrafted)} == {
        event.call_id for event in stage.host.of(ToolFinished) if event.result.is_error
    }
    assert len({event.message_id for event in stage.host.of(ReasoningDelta)}) == 2 * bool(said.reasoning)
    assert not (tmp_path / "project" / "new.txt").exists()


@pytest.mark.parametrize("fault", EACH)
async def test_a_fault_that_stays_is_an_error_of_its_kind(held, fault):
    hold, server, script = held
    stage = await hold(*[script.broken(Say(reasoning="hm"), fault)] * 3)
    assert stage.stops == [fault.kind]
    assert stage.shown == ""
    assert told(await stage.messages()) == ("user: go", f"assistant: {INTERRUPTED.text}")
    assert len(server.requests) == 3


@pytest.mark.parametrize("calls", [(), (WRITE,)], ids=["text", "text and a call"])
@pytest.mark.parametrize("fault", EACH)
async def test_after_the_first_word_a_fault_is_an_error_and_nothing_is_shown_twice(held, tmp_path, fault, calls):
    hold, server, script = held
    stage = await hold(script.broken(Say("some text", calls, "hm"), fault))
    assert stage.stops == [fault.kind]
    assert stage.shown == "some text"
    assert told(await stage.messages()) == ("user: go", f"assistant: {INTERRUPTED.text}")
    assert len(server.requests) == 1
    assert not (tmp_path / "project" / "new.txt").exists()
    await stage.prompt(user("again"))
    assert stage.stops[-1] == "end_turn"


@pytest.mark.parametrize(
    "answer", [Status(200, "<html><title>Sign in</title></html>"), Status(200, {"error": OVERLOADED})]
)
async def test_a_page_or_an_error_with_status_200_is_asked_again(held, answer):
    hold, server, _ = held
    stage = await hold(answer, answer, Say("At last."))
    assert (stage.stops, stage.shown) == (["end_turn"], "At last.")
    assert len(server.requests) == 3


async def test_bytes_that_are_not_utf_8_are_replaced_and_the_answer_is_whole(held):
    hold, server, script = held
    whole = script.raw(Say("a@b"))
    stage = await hold(Raw((whole.pieces[0].replace(b"@", b"\xff"),)))
    assert (stage.stops, stage.shown) == (["end_turn"], "a\ufffdb")
    assert told(await stage.messages()) == ("user: go", "assistant: a\ufffdb")
    assert len(server.requests) == 1


async def test_one_byte_a_write_is_the_same_answer(held):
    hold, server, script = held
    (data,) = script.raw(Say("北京🌍", reasoning="hm")).pieces
    stage = await hold(Raw([data[at : at + 1] for at in range(len(data))]))
    assert (stage.stops, stage.shown) == (["end_turn"], "北京🌍")
    assert len(server.requests) == 1


@pytest.mark.parametrize("ending", ["stall", "ping", "reset", "drop", "cut"])
async def test_a_stream_that_only_fails_to_end_after_its_last_event_is_whole(held, monkeypatch, ending):
    monkeypatch.setattr(reading, "LAST_WORDS", 0.2)
    hold, server, script = held
    stage = await hold(replace(script.raw(Say("hi")), ending=ending))
    assert (stage.stops, stage.shown) == (["end_turn"], "hi")
    assert len(server.requests) == 1


async def test_a_stop_amid_pings_closes_the_connection_and_the_next_prompt_is_served(held):
    hold, server, _ = held
    stage = await hold()
    server.say(Say("some text", ending="ping"))
    await stage.interrupt(user("wait"), "some text")
    await server.until(lambda one: one.aborted)
    await asyncio.sleep(0)
    await stage.prompt(user("and now?"))
    assert stage.stops[-2:] == ["cancelled", "end_turn"]
