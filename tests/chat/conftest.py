"""Chats in a terminal that is made of pipes: what is typed goes in, what is drawn comes out."""

import asyncio
import io
import logging
import os
import re
import time
from contextlib import asynccontextmanager

import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output

from hermes_acp.chat.run import Terminal, converse
from hermes_acp.library.arguments import read_arguments

KEY = "sk-test-0123456789"
PAST_THE_GUARD = 0.5
"""Seconds after which a key that answers a question is taken."""
ENTER, ALT_ENTER = "\r", "\x1b\r"
CTRL_C, CTRL_D, CTRL_E, CTRL_O, CTRL_R, CTRL_U = "\x03", "\x04", "\x05", "\x0f", "\x12", "\x15"

_FORWARD = re.compile(r"\x1b\[(\d*)C")
_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|.)")


class Paper(io.StringIO):
    """What a terminal is sent."""

    encoding = "utf-8"

    def __init__(self):
        super().__init__()
        self._nowhere = os.open(os.devnull, os.O_WRONLY)

    def fileno(self):
        return self._nowhere

    def close(self):
        if not self.closed:
            os.close(self._nowhere)
        super().close()


class Typist:
    """A person at the terminal."""

    def __init__(self, pipe, paper):
        self._pipe = pipe
        self._paper = paper
        self._seen = 0

    @property
    def shown(self):
        """Everything that was drawn, without codes."""
        moved = _FORWARD.sub(lambda match: " " * int(match[1] or 1), self._paper.getvalue())
        return _CODES.sub("", moved)

    @property
    def raw(self):
        return self._paper.getvalue()

    def type(self, text):
        self._pipe.send_text(text)

    async def sees(self, *texts, seconds=30.0):
        """Wait until each of the texts was drawn, since the last of these waits."""
        await self.waits_for(*texts, seconds=seconds)
        self._seen = len(self.shown)

    async def waits_for(self, *texts, seconds=30.0):
        """As `sees`, and what was drawn with them may still be seen."""
        deadline = time.monotonic() + seconds
        while not all(text in self.shown[self._seen :] for text in texts):
            assert time.monotonic() < deadline, f"{texts} are not in:\n{self.shown[self._seen :]}"
            await asyncio.sleep(0.02)


@pytest.fixture
def model(model_in_thread):
    return model_in_thread


@pytest.fixture
def project(project, tmp_path, monkeypatch):
    """The folder of the chat; the person's settings are elsewhere."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("HERMES_ACP_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HERMES_ACP_LOCAL_SERVERS", "off")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    return project


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def handlers():
    """The log as it was before the chat."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = before, level


@pytest.fixture
def chat(model, project):
    """Begins a chat and ends it."""

    @asynccontextmanager
    async def chat(session_id=None, columns=80, rows=30, dumb=False, **arguments):
        given = {"model": "fake-model", "base_url": model.url, "api_key": KEY, **arguments}
        paper = Paper()
        with create_pipe_input() as pipe:
            output = Vt100_Output(paper, lambda: Size(rows=rows, columns=columns), term="xterm", enable_cpr=False)
            terminal = Terminal(pipe, output, colour=False, dumb=dumb)
            task = asyncio.create_task(
                converse(lambda: read_arguments(given, os.environ)[0], session_id, terminal), name="chat"
            )
            typist = Typist(pipe, paper)
            await typist.waits_for("\n> " if dumb else "›")
            try:
                yield typist
                typist.type("/quit\n" if dumb else CTRL_U + CTRL_D)
                assert await asyncio.wait_for(asyncio.shield(task), 30) == 0
            finally:
                task.cancel()

    return chat
