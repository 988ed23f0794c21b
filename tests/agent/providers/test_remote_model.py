"""Servers of every API over real HTTP: their faults, and the connections to them."""

import asyncio
import time

import pytest

from hermes_acp.agent.providers.base import Reply
from tests.agent.providers.faults import FAULTS
from tests.fakes.model_server import Say
from tests.support.asking import ask

EVERY_FAULT = [
    pytest.param(api, reply, kind, id=f"{spoken}: {name}")
    for spoken, (api, faults) in FAULTS.items()
    for name, (reply, kind) in faults.items()
]
EVERY_API = pytest.mark.parametrize("api", [pytest.param(api, id=spoken) for spoken, (api, _) in FAULTS.items()])


@pytest.mark.parametrize(("api", "reply", "kind"), EVERY_FAULT)
async def test_every_fault_is_a_provider_error_of_its_kind_and_the_next_call_works(server, connect, reply, kind):
    provider = connect(stall_timeout=1.0 if kind == "stalled" else 20)
    server.say(reply)
    failed = await ask(provider)
    assert failed.error is not None
    assert failed.error.kind == kind
    assert failed.of(Reply) == []
    assert (await ask(provider)).text == "Done."


@EVERY_API
async def test_a_connection_is_used_again_and_closed_at_the_end(server, provider):
    for _ in range(3):
        assert (await ask(provider)).text == "Done."
    assert server.connections == 1
    await provider.aclose()
    assert (await ask(provider)).text == "Done."
    assert server.connections == 2


@EVERY_API
async def test_cancelling_the_reader_closes_the_connection_at_once(server, provider):
    server.say(Say("some text", ending="stall"))
    task = asyncio.create_task(ask(provider))
    await server.until(lambda one: one.requests)
    await asyncio.sleep(0.05)
    started = time.perf_counter()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.perf_counter() - started < 5
    await server.until(lambda one: one.aborted)


@EVERY_API
@pytest.mark.parametrize("reply", [Say(first_delay=60), Say("a b c d", ending="ping")], ids=["headers", "pings"])
async def test_cancelling_before_the_headers_or_amid_pings_closes_the_connection(server, provider, reply):
    server.say(reply)
    task = asyncio.create_task(ask(provider))
    await server.until(lambda one: one.requests)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await server.until(lambda one: one.aborted)
