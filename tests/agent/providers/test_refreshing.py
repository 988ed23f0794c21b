"""A rejected key is read anew, once, for all who use it."""

import asyncio

import pytest

from hermes_acp.agent.providers.apis import api_of
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.keychain import Keychain
from hermes_acp.agent.providers.refreshing import Refreshing
from hermes_acp.agent.providers.remote_model import RemoteModel
from hermes_acp.errors import HermesError
from hermes_acp.events import StatusChanged
from tests.fakes.model_server import Say, Status, fail
from tests.support.asking import ask

OLD, NEW = "sk-old-0123456789", "sk-new-0123456789"


class Source:
    """Where a key is kept; `reads` counts the looks, `ended` those that came to an end of whatever kind."""

    def __init__(self, key=NEW, seconds=0.0, problem=""):
        self.key, self.seconds, self.problem = key, seconds, problem
        self.reads = self.ended = 0

    async def read(self):
        self.reads += 1
        try:
            await asyncio.sleep(self.seconds)
            if self.problem:
                raise HermesError(self.problem)
            return self.key
        finally:
            self.ended += 1


@pytest.fixture
async def make(server):
    made = []

    def refreshing(key=OLD, source=None, model="fake"):
        keychain = key if isinstance(key, Keychain) else Keychain(key, source.read if source else None)
        endpoint = Endpoint("fake", model, server.url)
        made.append(Refreshing(endpoint, keychain, lambda keyed: RemoteModel(keyed, api_of("chat_completions"))))
        return made[-1]

    yield refreshing
    for one in made:
        await one.aclose()


@pytest.fixture
def strict(server):
    """The server takes the new key alone."""
    server.keys = (NEW,)
    return server


def sent(server):
    return [request.headers["authorization"].removeprefix("Bearer ") for request in server.requests]


@pytest.mark.parametrize("status", [401, 403])
async def test_the_request_is_repeated_with_the_key_that_was_read_anew(make, server, status):
    server.say(fail(status, "no such key"), "Hello.", "Again.")
    source = Source()
    provider = make(source=source)
    asked = await ask(provider)
    assert asked.message.text == "Hello."
    assert sent(server) == [OLD, NEW]
    assert server.requests[0].body == server.requests[1].body
    assert [delta.kind for delta in asked.of(StatusChanged)] == ["calling"]
    await ask(provider)
    assert (sent(server)[2:], source.reads) == ([NEW], 1)


async def test_a_key_that_is_the_same_is_not_tried_twice(make, server):
    server.say(fail(401, "no such key"))
    source = Source(OLD)
    asked = await ask(make(source=source))
    assert (asked.error.kind, asked.error.status) == ("auth", 401)
    assert (sent(server), source.reads) == ([OLD], 1)


async def test_a_new_key_that_is_rejected_too_is_the_end(make, server):
    server.say(fail(401, "no such key"), fail(401, "nor this one"))
    source = Source()
    asked = await ask(make(source=source))
    assert "nor this one" in str(asked.error)
    assert (sent(server), source.reads) == ([OLD, NEW], 1)


async def test_why_it_could_not_be_read_is_told_without_the_key(make, server):
    server.say(fail(401, "no such key"))
    asked = await ask(make(source=Source(problem=f"The program failed on {OLD}.")))
    assert "no such key" in str(asked.error)
    assert "The program failed on [key]." in str(asked.error)


async def test_without_a_source_the_rejection_stands(make, server):
    server.say(fail(401, "no such key"))
    assert (await ask(make())).error.status == 401
    assert sent(server) == [OLD]


async def test_after_thoughts_were_shown_nothing_is_repeated(make, server):
    server.say(Say(reasoning="hm", error={"type": "authentication_error", "message": "expired"}))
    source = Source()
    asked = await ask(make(source=source))
    assert (asked.error.kind, asked.thought, source.reads) == ("auth", "hm", 0)


async def test_another_failure_reads_no_key(make, server):
    server.say(Status(503))
    source = Source()
    assert (await ask(make(source=source))).error.kind == "overloaded"
    assert source.reads == 0


async def test_twenty_sessions_read_the_key_once(make, strict):
    source = Source(seconds=0.05)
    provider = make(source=source)
    answers = await asyncio.gather(*(ask(provider) for _ in range(20)))
    assert {asked.message.text for asked in answers} == {"Done."}
    assert source.reads == 1
    assert sorted(sent(strict)) == [NEW] * 20 + [OLD] * 20


async def test_twenty_sessions_find_together_that_there_is_no_other_key(make, server):
    server.keys = (NEW,)
    source = Source(OLD, seconds=0.3)
    answers = await asyncio.gather(*(ask(make(source=source)) for _ in range(1)))
    provider = make(source=source)
    answers += await asyncio.gather(*(ask(provider) for _ in range(20)))
    assert {asked.error.status for asked in answers} == {401}
    assert source.reads == 2


async def test_other_models_of_the_address_use_the_new_key_at_once(make, strict):
    keychain = Keychain(OLD, Source().read)
    await ask(make(keychain))
    await ask(make(keychain, model="other"))
    assert [(request.body["model"], key) for request, key in zip(strict.requests, sent(strict), strict=True)] == [
        ("fake", OLD),
        ("fake", NEW),
        ("other", NEW),
    ]


async def test_a_key_that_is_read_late_is_read_by_the_first_request(make, server):
    source = Source()
    provider = make(None, source)
    assert (await ask(provider)).message.text == "Done."
    await ask(provider)
    assert (sent(server), source.reads) == ([NEW, NEW], 1)


async def test_a_late_key_that_cannot_be_read_is_a_failure_of_the_call_and_read_again_by_the_next(make, server):
    source = Source(problem="It is locked.")
    provider = make(None, source)
    asked = await ask(provider)
    assert (str(asked.error), asked.error.kind) == ("fake: It is locked.", "auth")
    assert server.requests == []
    source.problem = ""
    assert (await ask(provider)).message.text == "Done."


async def test_a_running_answer_keeps_its_connection_while_the_key_changes(make, server):
    keychain = Keychain(OLD, Source().read)
    provider = make(keychain)
    server.script(lambda body: None)
    server.say(Say("one two three four", token_delay=0.05), fail(401, "expired"), "New.")
    long = asyncio.create_task(ask(provider))
    await server.until(lambda server: server.requests)
    assert (await ask(provider)).message.text == "New."
    assert (await long).message.text == "one two three four"
    assert sent(server) == [OLD, OLD, NEW]


async def test_a_cancelled_request_ends_the_look_that_nobody_else_waits_for(make, server):
    server.say(fail(401, "no"))
    source = Source(seconds=30)
    task = asyncio.create_task(ask(make(source=source)))
    while not source.reads:
        await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert source.ended == 1


async def test_a_cancelled_request_leaves_the_look_to_those_who_still_wait(make, strict):
    source = Source(seconds=0.2)
    provider = make(source=source)
    leaving, staying = asyncio.create_task(ask(provider)), asyncio.create_task(ask(provider))
    while not source.reads or len(strict.requests) < 2:
        await asyncio.sleep(0.005)
    await asyncio.sleep(0.02)
    leaving.cancel()
    assert (await staying).message.text == "Done."
    assert source.reads == 1
    assert leaving.cancelled()
