"""Ctrl-C, and Ctrl-D, after each single step of what the person has typed: it ends, and the next is answered."""

import asyncio
import os
import secrets
from functools import partial

import pytest

from hermes_acp.agent.history import find_disorder
from hermes_acp.chat.chat import Chat
from hermes_acp.chat.drawing import Pen
from hermes_acp.chat.host import TerminalHost
from hermes_acp.chat.run import _session
from hermes_acp.library.arguments import read_arguments
from hermes_acp.workspace import Command
from tests.chat.conftest import KEY
from tests.fakes.model_server import Call, Say
from tests.support.processes import TAG, processes_tagged
from tests.support.stepping import after_steps


class Sheet:
    """A terminal that keeps what is written, and says yes a step later."""

    pen = Pen(80, colour=False)
    keeps_typing = True

    def __init__(self):
        self.text = ""
        self._asked = None

    def write(self, text):
        self.text += text

    def refresh(self): ...

    def clear_input(self): ...

    def close(self): ...

    def give_up(self):
        return self._asked is not None and not self._asked.done() and not self._asked.set_result(None)

    async def ask_key(self, prompt, keys):
        self._asked = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(lambda asked=self._asked: asked.done() or asked.set_result(keys["y"]))
        return await self._asked


@pytest.fixture
def begun(model, project):
    """A chat without a screen."""
    replies = {"go": Say(calls=[Call("write_file", {"path": "a", "content": "new\n"})]), "again": "Hello."}
    model.script(lambda body: replies.get(body["messages"][-1]["content"], "Done."))

    def begin():
        given = {"model": "fake-model", "base_url": model.url, "api_key": KEY, "mode": "ask"}
        host = TerminalHost(Sheet())
        chat = Chat(host, partial(_session, lambda: read_arguments(given, os.environ)[0], host))
        chat.begin(None)
        return chat

    return begin


async def over(chat):
    async with asyncio.timeout(10):
        await asyncio.gather(*chat._tasks)


async def test_the_next_message_is_answered_after_an_interrupt(begun):
    for steps in range(1, 1_000):
        chat = begun()
        await over(chat)
        with after_steps(steps) as left:
            left.do = chat.interrupt
            chat.submit("go")
            await over(chat)
        assert chat.host.live is None
        chat.submit("again")
        await over(chat)
        assert "Hello." in chat.screen.text
        assert "internal error" not in chat.screen.text
        await chat.aclose()
        if left.count > 0:
            return
    raise AssertionError("it never came to its end")


async def test_a_chat_that_is_left_keeps_what_was_said_in_order(begun):
    for steps in range(1, 1_000):
        chat, leaving = begun(), []
        with after_steps(steps) as left:
            left.do = lambda chat=chat, leaving=leaving: leaving.append(asyncio.ensure_future(chat.aclose()))
            chat.submit("go")
            await over(chat)
        await asyncio.gather(*(leaving or [chat.aclose()]))
        if opened := chat.session.talk.opened:
            assert find_disorder(opened.conversation.messages) is None
            assert opened.conversation.journal.settled
        assert "internal error" not in chat.screen.text
        if left.count > 0:
            return
    raise AssertionError("it never came to its end")


async def test_an_interrupt_while_another_session_is_taken_up_leaves_no_process_of_the_one_before(begun, monkeypatch):
    tag = secrets.token_hex(8)
    monkeypatch.setenv(TAG, tag)
    other = begun()
    other.submit("again")
    await over(other)
    await other.aclose()
    for steps in range(1, 1_000):
        chat = begun()
        await over(chat)
        before = chat.session
        workspace = before.conversation.workspace
        await workspace.start(Command("sleep 60", workspace.cwd, 60))
        with after_steps(steps) as left:
            left.do = chat.interrupt
            chat.submit(f"/resume {other.session.conversation.id}")
            await over(chat)
        assert chat.session is before or processes_tagged(tag) == []
        await chat.aclose()
        assert processes_tagged(tag) == []
        if left.count > 0:
            return
    raise AssertionError("it never came to its end")
