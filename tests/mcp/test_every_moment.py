"""An end after each single step of a server's start: no process of it is left."""

import asyncio

from hermes_acp.mcp.server import Server, Surroundings
from tests.mcp.conftest import small
from tests.support.mcp_servers import gone, leaving_child, pids
from tests.support.stepping import after_steps


async def test_a_server_that_is_ended_while_it_starts_leaves_no_process(tmp_path):
    started = tmp_path / "pids"
    program = small(before=leaving_child(started))
    place = Surroundings(tmp_path, lambda: (tmp_path,))
    for steps in range(1, 1_000):
        started.unlink(missing_ok=True)
        server, ending = Server(program, place), []
        with after_steps(steps) as left:
            left.do = lambda ending=ending, server=server: ending.append(asyncio.ensure_future(server.close()))
            server.start()
            await server.settled()
        await asyncio.gather(*ending, server.close())
        assert await gone(pids(started))
        if left.count > 0:
            assert server.listed
            return
    raise AssertionError("it never came to its end")
