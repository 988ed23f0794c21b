"""The files and terminals of an editor in tests: real ones, every call counted."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

from tests.support.editor import AgentError


class Buffers:
    """The files of an editor: buffers over the disk, saved at once when written."""

    def __init__(self, editor):
        self.open = {}
        self.calls = []
        self.write_answer = {}
        self.drops_last_newline = False
        self.saves = True
        self.encoding = "utf-8"
        editor.handlers["fs/read_text_file"] = self.read
        editor.handlers["fs/write_text_file"] = self.write

    def read(self, params):
        self.calls.append(("read", params["path"]))
        path = Path(params["path"])
        if params["path"] in self.open:
            text = self.open[params["path"]]
        elif path.exists():
            text = path.read_bytes().decode(self.encoding, "replace")
        else:
            raise AgentError(-32002, "not found")
        return {"content": text.removesuffix("\n") if self.drops_last_newline else text}

    def write(self, params):
        self.calls.append(("write", params["path"]))
        self.open[params["path"]] = params["content"]
        if self.saves:
            Path(params["path"]).write_bytes(params["content"].encode())
        return self.write_answer

    def writes(self):
        return [path for kind, path in self.calls if kind == "write"]


class Terminals:
    """The terminals of an editor, run for real, counted at every step; `aclose` leaves no process of theirs."""

    def __init__(self, editor):
        self.created, self.released, self.killed = [], [], []
        self.processes, self.outputs, self.ends = {}, {}, {}
        for name in ("create", "output", "wait_for_exit", "kill", "release"):
            editor.handlers[f"terminal/{name}"] = getattr(self, name)

    async def create(self, params):
        self.created.append(params)
        terminal = f"t{len(self.created)}"
        self.processes[terminal] = await asyncio.create_subprocess_exec(
            params["command"],
            *params["args"],
            cwd=params["cwd"],
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        self.ends[terminal] = asyncio.create_task(self.end(terminal))
        return {"terminalId": terminal}

    async def end(self, terminal):
        self.outputs[terminal] = (await self.processes[terminal].communicate())[0].decode()
        code = self.processes[terminal].returncode
        return {"exitCode": code if code >= 0 else None, "signal": None if code >= 0 else "SIGKILL"}

    async def wait_for_exit(self, params):
        return await asyncio.shield(self.ends[params["terminalId"]])

    def output(self, params):
        assert params["terminalId"] not in self.released
        return {"output": self.outputs.get(params["terminalId"], ""), "truncated": False}

    def kill(self, params):
        self.killed.append(params["terminalId"])
        self.stop(params["terminalId"])
        return {}

    def stop(self, terminal):
        with suppress(ProcessLookupError):
            os.killpg(self.processes[terminal].pid, signal.SIGKILL)

    def release(self, params):
        self.released.append(params["terminalId"])
        return

    async def aclose(self):
        for terminal, end in self.ends.items():
            if not end.done():
                self.stop(terminal)
        await asyncio.gather(*self.ends.values())
