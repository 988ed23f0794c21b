"""What an editor offers, each answered some steps later: its files, its terminals, and a person who is asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from tests.support.editor import AgentError, Editor, Handler, choose, never

CAPABILITIES = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}},
    "session": {"notices": {}, "compaction": {}},
}


class Offers:
    """The handlers of one editor.

    `broken` is set when it answers with errors from then on, `deaf` when it answers no question and gives no file any
    more, unless the request is taken back. `opened` are its terminals; `released` how often each was
    let go of; `ended` those whose command has ended, `failed` those of which it could not say; `stray` those that were
    asked for after that.
    """

    def __init__(self, editor: Editor) -> None:
        self.broken = False
        self.deaf = False
        self.opened: list[str] = []
        self.released: Counter[str] = Counter()
        self.ended: set[str] = set()
        self.failed: set[str] = set()
        self.stray: list[str] = []
        self.permit = choose("allow_once")
        editor.handlers |= {
            "fs/read_text_file": self._with_time(self._read),
            "fs/write_text_file": self._with_time(self._write),
            "terminal/create": self._later(self._open),
            "terminal/wait_for_exit": self._wait,
            "terminal/output": self._later(self._output),
            "terminal/kill": self._later(self._kill),
            "terminal/release": self._later(self._release),
            "session/request_permission": self._with_time(lambda params: self.permit(params)),
            "elicitation/create": self._with_time(lambda params: {"action": "accept", "content": {"choice": "red"}}),
        }

    def _later(self, handle: Handler) -> Handler:
        async def answer(params: dict[str, Any]) -> Any:
            await asyncio.sleep(0)
            found = handle(params)
            self._check()
            await asyncio.sleep(0)
            return found

        return answer

    def _with_time(self, handle: Handler) -> Handler:
        async def answer(params: dict[str, Any]) -> Any:
            await asyncio.sleep(0)
            if self.deaf:
                await never(params)
            self._check()
            found = handle(params)
            await asyncio.sleep(0)
            return found

        return answer

    def _check(self) -> None:
        if self.broken:
            raise AgentError(-32603, "the editor is broken")

    def _read(self, params: dict[str, Any]) -> Any:
        path = Path(params["path"])
        if not path.exists():
            raise AgentError(-32002, "there is no such file")
        return {"content": path.read_text()}

    def _write(self, params: dict[str, Any]) -> Any:
        Path(params["path"]).write_text(params["content"])
        return {}

    def _open(self, params: dict[str, Any]) -> Any:
        self._check()
        self.opened.append(f"terminal {len(self.opened) + 1}")
        return {"terminalId": self.opened[-1]}

    async def _wait(self, params: dict[str, Any]) -> Any:
        """A command of four steps, if nobody kills it."""
        terminal = self._known(params)
        for _ in range(4):
            await asyncio.sleep(0)
            if self.deaf:
                await never(params)
            if self.broken:
                self.failed.add(terminal)
            self._check()
        self.ended.add(terminal)
        return {"exitCode": 0}

    def _output(self, params: dict[str, Any]) -> Any:
        self._known(params)
        return {"output": "two files\n", "truncated": False}

    def _kill(self, params: dict[str, Any]) -> Any:
        self.ended.add(self._known(params))
        return {}

    def _release(self, params: dict[str, Any]) -> Any:
        self.released[self._known(params)] += 1
        return {}

    def _known(self, params: dict[str, Any]) -> str:
        terminal = str(params["terminalId"])
        if terminal in self.released:
            self.stray.append(terminal)
        return terminal
