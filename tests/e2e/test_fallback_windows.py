"""The context is fitted to the window of the model that answers."""

import asyncio

import pytest

from tests.fakes.model_server import fail
from tests.support.reserves import start
from tests.support.small_model import SmallModel

pytestmark = pytest.mark.slow


def sizes_told(editor, session):
    """The windows that the editor was told of, in order, without repetitions."""
    sizes = [update["size"] for update in editor.updates(session, "usage_update")]
    return [size for at, size in enumerate(sizes) if at == 0 or size != sizes[at - 1]]


SMALL, BIG = 12_000, 64_000


WINDOWS = f"context_window = {SMALL}\n[compression]\nprotect_last_n = 4\n"


async def talk_on(editor, session, count):
    for number in range(count):
        assert await editor.prompt(session, f"Go on, {number}.") == "end_turn"


async def test_while_a_reserve_answers_the_context_is_fitted_to_its_window(
    tmp_path, configure, model, reserve, project
):
    small, big = SmallModel(SMALL), SmallModel(BIG)
    configure(WINDOWS)
    model.script(big)
    reserve.script(small)
    async with start(tmp_path, HERMES_ACP_CONTEXT_WINDOW=str(BIG)) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "Remember FACT-one.")
        model.script(lambda body: fail(401, "no such key"))
        await talk_on(editor, session, 30)
        assert small.refused == 0
        assert small.summaries >= 1
        assert "FACT-one" in str(reserve.requests[-1].messages)
        assert sizes_told(editor, session) == [BIG, SMALL]
        assert "can hold 12,000 tokens" in await said(editor, session, "/context")


async def test_a_reserve_whose_window_is_not_known_is_given_no_more_than_the_model_was(
    tmp_path, configure, model, reserve, project
):
    small = SmallModel(SMALL)
    configure("[compression]\nprotect_last_n = 4\n")
    model.say("Begun.", fail(401, "no such key"))
    model.default = fail(401, "no such key")
    reserve.script(small)
    async with start(tmp_path, HERMES_ACP_CONTEXT_WINDOW=str(SMALL)) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "Remember FACT-one.")
        await talk_on(editor, session, 30)
        assert small.refused == 0
        assert small.summaries >= 1
        assert sizes_told(editor, session) == [SMALL]


async def test_a_conversation_that_is_too_long_for_the_reserve_is_compacted_for_it_and_the_model_keeps_its_window(
    tmp_path, configure, model, reserve, project
):
    small, big = SmallModel(SMALL), SmallModel(BIG)
    configure(WINDOWS, cooldown=1)
    model.script(big)
    reserve.script(small)
    async with start(tmp_path, HERMES_ACP_CONTEXT_WINDOW=str(BIG)) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        await editor.prompt(session, "Remember FACT-one.")
        await talk_on(editor, session, 40)
        assert big.summaries == 0
        model.script(lambda body: fail(401, "no such key"))
        assert await editor.prompt(session, "And now?") == "end_turn"
        assert small.refused == 1
        assert "FACT-one" in str(reserve.requests[-1].messages)
        assert sizes_told(editor, session) == [BIG, SMALL]
        model.script(big)
        await asyncio.sleep(1.2)
        await talk_on(editor, session, 20)
        assert big.summaries == 0
        assert sizes_told(editor, session) == [BIG, SMALL, BIG]


async def said(editor, session, command):
    """What is answered to a command."""
    before = len(editor.text(session))
    await editor.prompt(session, command)
    return editor.text(session)[before:]
