"""The servers of a session: joined, lost, started again, ended."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from hermes_acp.errors import ToolError
from hermes_acp.mcp.servers import MOST_TOOLS, Servers
from hermes_acp.mcp_servers import ProgramServer
from tests.mcp.conftest import Call, small
from tests.support.processes import lives, until

MARK = "open('starts', 'a').write(f'{os.getpid()}\\n')"


def starts(folder: Path) -> list[int]:
    file = folder / "starts"
    return list(map(int, file.read_text().split())) if file.exists() else []


def titles(notices: Any) -> list[str]:
    return [notice.title for notice in notices]


async def joined(servers: Servers) -> list[str]:
    """The titles of all notices until no server is starting any more."""
    told = titles(await servers.join())
    while any(server.busy for server in servers.servers):
        told += titles(await servers.join())
    return told


async def test_a_join_waits_for_a_server_that_starts_and_takes_in_its_tools(servers: Servers, call: Call) -> None:
    servers.use([small(before="time.sleep(0.3)")])
    assert servers.toolbox == {}
    assert await servers.join() == []
    assert list(servers.toolbox) == ["mcp__small__echo"]
    assert (await call(text="hello")).text == "hello"


async def test_without_servers_nothing_is_waited_for(servers: Servers) -> None:
    servers.use([])
    assert (await servers.join(), servers.toolbox) == ([], {})


async def test_a_server_that_answers_something_else_has_failed(servers: Servers) -> None:
    servers.use(
        [small("odd", before="print('Welcome!'); print('[1, 2'); print('\\u00ff\\u0000'); sys.exit('no such option')")]
    )
    assert await joined(servers) == ["MCP server odd is not connected"]
    assert servers.servers[0].reason == "It closed the connection. It ended with exit code 1. no such option"


async def test_lines_that_are_no_messages_are_passed_over(servers: Servers, call: Call) -> None:
    servers.use([small(before="print('Welcome!'); print(); print('{}', flush=True)")])
    assert await joined(servers) == []
    assert (await call(text="hello")).text == "hello"


async def test_a_lost_server_is_started_again_and_given_up_when_it_does_not_last(
    servers: Servers, call: Call, tmp_path: Path
) -> None:
    servers.use([small(before=MARK, call="os._exit(3) if params['arguments']['text'] == 'die' else None")])
    await joined(servers)
    for _ in range(3):
        assert (await call(text="works")).text == "works"
        with pytest.raises(ToolError, match=r"has gone during the call.*exit code 3"):
            await call(text="die")
    assert len(starts(tmp_path)) == 3
    with pytest.raises(ToolError, match="has gone"):
        await call(text="die")
    with pytest.raises(ToolError, match=r"is not connected.*exit code 3"):
        await call(text="works")
    assert await joined(servers) == ["MCP server small is not connected"]
    assert servers.toolbox == {}
    assert len(starts(tmp_path)) == 4


async def test_a_server_that_ends_between_prompts_is_there_again_for_the_next(
    servers: Servers, call: Call, tmp_path: Path
) -> None:
    servers.use([small(before=MARK, call="import threading; threading.Timer(0.1, os._exit, [0]).start()")])
    await joined(servers)
    assert (await call(text="bye")).text == "bye"
    assert await asyncio.to_thread(until, lambda: not lives(starts(tmp_path)[0]))
    await asyncio.sleep(0.5)
    assert await joined(servers) == []
    assert len(starts(tmp_path)) == 2
    assert (await call(text="hello")).text == "hello"


async def test_a_call_without_a_sign_of_life_ends(servers: Servers, call: Call) -> None:
    servers.use([small(call="time.sleep(30)", timeout=0.2)])
    await joined(servers)
    with pytest.raises(ToolError, match=r"No answer came within 0\.2 seconds"):
        await call(text="hello")


async def test_a_cancelled_call_does_not_wait_for_a_server_that_reads_nothing(servers: Servers, call: Call) -> None:
    servers.use([small(call="time.sleep(30)")])
    await joined(servers)
    calls = [asyncio.ensure_future(call(text="x" * 300_000)) for _ in range(5)]
    await asyncio.sleep(0.2)
    began = time.monotonic()
    for each in calls:
        each.cancel()
    await asyncio.wait(calls)
    assert time.monotonic() - began < 5


async def test_answers_of_many_calls_at_once_find_their_calls(servers: Servers, call: Call) -> None:
    servers.use([small()])
    await joined(servers)
    texts = [f"{number}" * 1000 for number in range(50)]
    assert [result.text for result in await asyncio.gather(*(call(text=text) for text in texts))] == texts


async def test_an_answer_of_many_megabytes_arrives(servers: Servers, call: Call) -> None:
    servers.use([small(call="params['arguments']['text'] *= 20_000_000")])
    await joined(servers)
    result = await call(text="x")
    assert result.text.startswith("xxx")
    assert len(result.text) <= 32_000


async def test_a_message_that_is_too_long_ends_its_call_at_once_and_the_server_comes_again(
    servers: Servers, call: Call
) -> None:
    servers.use(
        [small(call="params['arguments']['text'] *= 40_000_000 if len(params['arguments']['text']) == 1 else 1")]
    )
    await joined(servers)
    with pytest.raises(ToolError, match="more than 32 MiB"):
        async with asyncio.timeout(20):
            await call(text="x")
    assert (await call(text="hello")).text == "hello"


async def test_a_secret_that_is_written_in_two_pieces_is_hidden_as_well(servers: Servers) -> None:
    pieces = "sys.stderr.write('the key is sek'); sys.stderr.flush(); time.sleep(0.2); sys.stderr.write('rit\\n')"
    servers.use([small("leaks", before=f"{pieces}; sys.stderr.flush(); sys.exit(1)", env=(("A_KEY", "sekrit"),))])
    await joined(servers)
    assert servers.servers[0].reason.endswith("the key is ***")


async def test_a_flood_on_stderr_fills_neither_memory_nor_the_pipe(servers: Servers, call: Call) -> None:
    servers.use([small(call="sys.stderr.write('noise' * 4_000_000)")])
    await joined(servers)
    assert (await call(text="hello")).text == "hello"


async def test_the_tools_are_limited_and_what_is_left_out_is_told_once(servers: Servers) -> None:
    servers.use([small(tools=tuple(f"t{number}" for number in range(MOST_TOOLS + 7)))])
    [title] = await joined(servers)
    assert title == f"Only {MOST_TOOLS} tools of MCP servers are used"
    assert len(servers.toolbox) == MOST_TOOLS
    assert await joined(servers) == []


async def test_only_the_tools_that_are_chosen_are_there(servers: Servers) -> None:
    servers.use(
        [
            small(
                tools=("a", "b", "c"),
            )
        ]
    )
    await joined(servers)
    assert len(servers.toolbox) == 3
    chosen = small("chosen", tools=("a", "b"))
    servers.use([ProgramServer(chosen.name, chosen.command, chosen.args, tools=frozenset({"b"}))])
    await joined(servers)
    assert list(servers.toolbox) == ["mcp__chosen__b"]


async def test_other_servers_are_started_and_those_not_named_any_more_are_ended(
    servers: Servers, tmp_path: Path
) -> None:
    servers.use([small("a", before=MARK), small("b", before=MARK)])
    await joined(servers)
    old = starts(tmp_path)
    servers.use([small("a", before=MARK), small("c")])
    await joined(servers)
    assert set(servers.toolbox) == {"mcp__a__echo", "mcp__c__echo"}
    assert await asyncio.to_thread(until, lambda: sum(map(lives, old)) == 1)
    assert starts(tmp_path) == old


async def test_closing_while_servers_start_and_while_calls_run_leaves_nothing(
    servers: Servers, call: Call, tmp_path: Path
) -> None:
    servers.use([small(before=MARK, call="time.sleep(30)")])
    await joined(servers)
    running = asyncio.ensure_future(call(text="hello"))
    await asyncio.sleep(0.1)
    servers.use([small(before=MARK, call="time.sleep(30)"), small("slow", before=MARK + "; time.sleep(30)")])
    assert await asyncio.to_thread(until, lambda: len(starts(tmp_path)) == 2)
    began = time.monotonic()
    await servers.close()
    assert time.monotonic() - began < 10
    with pytest.raises(ToolError, match="small"):
        await running
    assert not any(map(lives, starts(tmp_path)))


async def test_wrong_arguments_do_not_reach_the_server_and_nulls_are_left_out(servers: Servers, call: Call) -> None:
    servers.use([small()])
    await joined(servers)
    with pytest.raises(ToolError, match="'text' is a required property"):
        await call()
    with pytest.raises(ToolError, match="text: 5 is not of type 'string'"):
        await call(text=5)
    assert (await call(text="\ud800", more=None)).text == "\ufffd"


async def test_servers_are_told_that_the_folders_are_others(servers: Servers, call: Call) -> None:
    servers.tell_roots()
    servers.use([small(call="params['arguments']['text'] = ' '.join(heard)")])
    await joined(servers)
    servers.tell_roots()
    told = "notifications/initialized notifications/roots/list_changed"
    async with asyncio.timeout(5):
        while (await call(text="")).text != told:
            await asyncio.sleep(0.01)


async def test_arguments_that_are_nested_too_deeply_are_refused(servers: Servers, call: Call) -> None:
    servers.use([small()])
    await joined(servers)
    deep: Any = "x"
    for _ in range(900):
        deep = {"a": deep}
    with pytest.raises(ToolError, match="levels deep"):
        await call(text="x", more=deep)


async def test_the_name_of_a_server_is_shown_without_what_could_deceive(servers: Servers) -> None:
    servers.use([ProgramServer("a\u202e\n" + "x" * 5_000, "/no/such/program")])
    [title] = await joined(servers)
    assert title.startswith("MCP server a\\u{202e} xxx")
    assert len(title) < 200


async def test_the_package_is_imported_only_for_a_server(tmp_path: Path) -> None:
    script = (
        "import sys, asyncio, hermes_acp.protocol.server, hermes_acp.mcp.servers;"
        "print([name for name in ('mcp', 'mcp_types', 'jsonschema', 'httpx2') if name in sys.modules])"
    )
    import sys

    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    assert said == b"[]\n"
