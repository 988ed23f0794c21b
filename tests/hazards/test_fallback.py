"""L11: the fallback engages, whatever the failure; it tells, and it is not for ever. I1: a rejected key is no login."""

import asyncio

import pytest

from tests.fakes.model_server import Say, Status, fail
from tests.support.editor import AgentError
from tests.support.reserves import PRIMARY_KEY, RESERVE, asked, models_told, start

pytestmark = pytest.mark.slow

OVERLOADED = Status(529, headers={"retry-after": "0"})


@pytest.mark.parametrize(
    "failures",
    [
        pytest.param([OVERLOADED] * 3, id="529"),
        pytest.param([fail(401, "no such key")], id="401"),
        pytest.param([fail(403, "forbidden")], id="403"),
        pytest.param([fail(400, "Provider returned error")], id="400 of the provider"),
    ],
)
async def test_l11_the_fallback_engages_in_the_same_turn_and_the_primary_is_tried_later(
    tmp_path, configure, model, reserve, project, failures
):
    configure(cooldown=0.5)
    model.say("One.", *failures, "Three.")
    reserve.say("Two.")
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        for prompt in ("first", "second"):
            assert await editor.prompt(session, prompt) == "end_turn"
        assert [message["content"] for message in reserve.requests[0].messages[1:]] == ["first", "One.", "second"]
        assert f"Now answered by {RESERVE}" in editor.text(session)
        await asyncio.sleep(0.6)
        await editor.prompt(session, "third")
        assert [last for *_, last in asked(model)] == ["first", *["second"] * len(failures), "third"]
        assert [last for *_, last in asked(reserve)] == ["second"]
        history = [message["content"] for message in model.requests[-1].messages[1:]]
        assert history == ["first", "One.", "second", "Two.", "third"]
        assert models_told(editor, session) == [RESERVE, "big-model"]


async def test_l11_a_400_of_our_own_payload_fails_over_nowhere(tmp_path, configure, model, reserve, project):
    model.say(fail(400, "Invalid value for 'messages[1].content'", param="messages"), "Fine.")
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        with pytest.raises(AgentError) as error:
            await editor.prompt(session, "first")
        assert "Invalid value" in error.value.message
        assert await editor.prompt(session, "second") == "end_turn"
        assert reserve.requests == []


async def test_l11_a_reserve_that_failed_once_is_used_again(tmp_path, configure, model, reserve, project):
    configure(cooldown=0.3)
    model.keys = ("sk-another-0123456789",)
    reserve.say(fail(403, "not now"))
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        with pytest.raises(AgentError):
            await editor.prompt(session, "first")
        await asyncio.sleep(0.4)
        assert await editor.prompt(session, "second") == "end_turn"
        assert asked(reserve)[-1][2] == "second"


@pytest.mark.parametrize(
    "failure", [fail(401, "no such key"), fail(403, "forbidden"), fail(429, "quota", code="insufficient_quota")]
)
async def test_i1_a_key_that_is_rejected_in_mid_turn_is_an_error_with_its_reason_and_no_login(
    tmp_path, configure, model, reserve, project, failure
):
    reserve.keys = ("sk-another-0123456789",)
    model.say(Say(reasoning="hm"), failure)
    async with start(tmp_path) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        with pytest.raises(AgentError) as error:
            await editor.prompt(session, "hi")
        assert error.value.code == -32603
        assert failure.body["error"]["message"] in error.value.message
        assert PRIMARY_KEY not in str(editor.lines) + editor.stderr
