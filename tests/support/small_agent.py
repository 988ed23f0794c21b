"""An agent of a few methods on the real boot, transport and peer: `python -m tests.support.small_agent`.

It stands in for the real server, so that what is below it can be tested through a child process.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from types import ModuleType
from typing import Any

from hermes_acp.protocol import boot
from hermes_acp.protocol.boot import Booted


def serve(booted: Booted) -> int:
    """Serve the methods below until the editor is gone."""
    state = {
        "greeting": booted.greeting,
        "leftover": booted.leftover.decode("latin-1"),
        "argv": booted.argv,
        "inherited": [os.get_inheritable(fd) for fd in (booted.reader, booted.writer)],
    }
    sys.stderr.write(json.dumps(state) + "\n")
    asyncio.run(_serve(booted))
    return 0


async def _serve(booted: Booted) -> None:
    from hermes_acp.protocol.inbound import InitializeParams, Params
    from hermes_acp.protocol.initialize import answer
    from hermes_acp.protocol.line_reader import LineReader
    from hermes_acp.protocol.line_writer import LineWriter
    from hermes_acp.protocol.peer import Call, Peer, Route, Routes

    async def initialize(call: Call[Any], params: InitializeParams) -> dict[str, Any]:
        return answer(params.model_dump(by_alias=True))

    async def echo(call: Call[Any], params: Params) -> dict[str, Any]:
        return {"echo": params.model_extra}

    async def noise(call: Call[Any], params: Params) -> dict[str, Any]:
        print("printed by a library", flush=True)
        os.write(1, b"written to descriptor 1\n")
        await asyncio.to_thread(subprocess.run, ["sh", "-c", "echo said by a child; cat"], check=True)
        return {}

    async def ask(call: Call[Any], params: Params) -> dict[str, Any]:
        return {"answer": await peer.request("_ask", {})}

    async def sleep(call: Call[Any], params: Params) -> dict[str, Any]:
        await asyncio.sleep(3600)
        return {}

    async def flood(call: Call[Any], params: Params) -> dict[str, Any]:
        for number in range(params.model_extra["count"] if params.model_extra else 0):
            peer.notify("_flood", {"number": number, "text": "x" * 1000})
            await peer.drained()
        return {}

    methods = {"_echo": echo, "_noise": noise, "_ask": ask, "_sleep": sleep, "_flood": flood}
    routes = [Route(name, Params, handle) for name, handle in methods.items()]
    everything = Routes([Route("initialize", InitializeParams, initialize), *routes])
    peer = Peer(LineReader(booted.reader), LineWriter(booted.writer), everything)
    await peer.run(_App(), leftover=booted.leftover, greeted=booted.greeting is not None)


class _App:
    async def closing(self) -> None:
        sys.stderr.write("closing\n")


def main() -> int:
    stand_in = ModuleType("hermes_acp.protocol.server")
    stand_in.serve = serve
    sys.modules[stand_in.__name__] = stand_in
    return boot.run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
