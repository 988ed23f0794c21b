"""The first line, through real processes: answered before anything is loaded, or left to the peer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor import Editor, agent_env
from tests.support.schema import faults

AGENT = [sys.executable, "-m", "tests.support.small_agent", "--stdio"]
HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
ECHO = {"jsonrpc": "2.0", "id": 1, "method": "_echo", "params": {"a": "é"}}
HEAVY = {
    *("asyncio", "pydantic", "openai", "anthropic", "pygls", "jsonrpcserver"),
    *("dataclasses", "inspect", "logging", "socket", "subprocess", "typing"),
}


@dataclass
class Ran:
    """A finished process: its status, the messages on its stdout, what boot knew, and the rest of stderr."""

    status: int
    messages: list[Any]
    booted: dict[str, Any]
    stderr: str


def line(message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def run(data: bytes, command: list[str] | None = None, **options: Any) -> Ran:
    given = {"input": data} if "stdin" not in options else {}
    done = subprocess.run(
        command or AGENT, **given, capture_output=True, timeout=20, env=agent_env(Path("/nonexistent")), **options
    )
    return read(done.returncode, done.stdout, done.stderr.decode())


def read(status: int, stdout: bytes, stderr: str) -> Ran:
    states = [each for each in stderr.splitlines() if each.startswith("{")]
    rest = "".join(each + "\n" for each in stderr.splitlines() if not each.startswith("{"))
    messages = [json.loads(each) for each in stdout.splitlines()]
    return Ran(status, messages, json.loads(states[0]) if states else {}, rest)


def ids(ran: Ran) -> list[Any]:
    return [message["id"] for message in ran.messages]


def test_initialize_is_answered_before_anything_heavy_is_imported() -> None:
    """The real command, with a stand-in for the server that tells what had been loaded by then."""
    program = """if True:
        import json, sys, time
        from types import ModuleType
        server = ModuleType("hermes_acp.protocol.server")
        server.serve = lambda booted: print(json.dumps([time.process_time(), sorted(sys.modules)])) or 7
        sys.modules[server.__name__] = server
        sys.argv = ["hermes-acp", "--stdio"]
        from hermes_acp.__main__ import main
        sys.exit(main())
    """
    done = subprocess.run([sys.executable, "-c", program], input=line(HELLO), capture_output=True, timeout=20)
    answer = json.loads(done.stdout)
    assert (answer["id"], done.returncode) == (0, 7)
    assert not faults("InitializeResponse", answer["result"])
    cpu, modules = json.loads(done.stderr)
    assert not HEAVY & set(modules)
    assert cpu < 0.2


def test_what_follows_in_the_same_write_is_left_to_the_peer() -> None:
    ran = run(line(HELLO) + line(ECHO))
    assert ids(ran) == [0, 1]
    assert ran.booted["greeting"] == {"protocolVersion": 1}
    assert json.loads(ran.booted["leftover"]) == {**ECHO, "params": {"a": "é"}}


@pytest.mark.slow
@pytest.mark.parametrize("version", [0, 1, 2, 99, 65535])
def test_any_version_is_answered_with_ours(version: int) -> None:
    ran = run(line({**HELLO, "params": {"protocolVersion": version}}))
    assert ran.messages[0]["result"]["protocolVersion"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "before", [b"\n", b"\r\n", b"   \n", b"\xef\xbb\xbf", b"hello\n", b"[]\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n"]
)
def test_whatever_comes_before_initialize_it_is_answered(before: bytes) -> None:
    ran = run(before + line(HELLO) + line(ECHO))
    assert [id_ for id_ in ids(ran) if id_ is not None] == [0, 1]
    assert ran.status == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "message",
    [
        {**HELLO, "id": "é"},
        {**HELLO, "id": None},
        {**HELLO, "params": {"protocolVersion": 1, "clientCapabilities": [], "clientInfo": 5, "_meta": "x", "new": {}}},
        {**HELLO, "params": {"protocolVersion": 1, "clientCapabilities": None}},
        {**HELLO, "id": "s-1"},
    ],
)
def test_an_unusual_initialize_is_answered_all_the_same(message: dict[str, Any]) -> None:
    ran = run(line(message) + line(ECHO))
    assert ids(ran) == [message["id"], 1]
    assert "result" in ran.messages[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({**HELLO, "params": {"protocolVersion": "1"}}, -32602),
        ({**HELLO, "params": {}}, -32602),
        ({**HELLO, "params": [1]}, -32602),
        ({**HELLO, "jsonrpc": "1.0"}, -32600),
        ({**HELLO, "id": 1.5}, -32600),
        (ECHO, -32600),
    ],
)
def test_a_wrong_first_line_is_refused_and_initialize_still_answered(message: dict[str, Any], code: int) -> None:
    ran = run(line(message) + line({**HELLO, "id": 9}))
    assert ran.messages[0]["error"]["code"] == code
    assert ran.messages[1]["id"] == 9
    assert "result" in ran.messages[1]


def test_a_first_line_without_end_is_left_to_the_peer() -> None:
    text = "x" * 3_000_000
    ran = run(line({**HELLO, "params": {"protocolVersion": 1, "padding": text}}))
    assert ran.booted["greeting"] is None
    assert "result" in ran.messages[0]


def test_an_initialize_that_arrives_in_pieces_is_answered() -> None:
    with subprocess.Popen(
        AGENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=agent_env(Path("/nonexistent")),
    ) as process:
        assert process.stdin is not None
        for byte in line(HELLO):
            process.stdin.write(bytes([byte]))
            process.stdin.flush()
        stdout, stderr = process.communicate(timeout=20)
    assert ids(read(process.returncode, stdout, stderr.decode())) == [0]


def test_an_editor_that_says_nothing_costs_nothing() -> None:
    ran = run(b"")
    assert (ran.status, ran.messages, ran.stderr, ran.booted) == (0, [], "", {})


def test_a_first_line_without_a_newline_is_answered_by_the_peer() -> None:
    ran = run(line(HELLO).rstrip())
    assert ids(ran) == [0]


async def test_nothing_but_messages_reaches_the_editor_whoever_writes(tmp_path: Path) -> None:
    editor = await Editor.start(AGENT, env=agent_env(tmp_path))
    try:
        await editor.initialize()
        assert await editor.request("_noise") == {}
        assert await editor.close() == 0
    finally:
        await editor.kill()
    editor.assert_clean()
    for words in ("printed by a library", "written to descriptor 1", "said by a child"):
        assert words in editor.stderr


def test_no_child_inherits_the_wire() -> None:
    assert run(line(HELLO)).booted["inherited"] == [False, False]


def test_files_can_stand_for_both_sides(tmp_path: Path) -> None:
    asked, answered = tmp_path / "asked", tmp_path / "answered"
    asked.write_bytes(line(HELLO) + line(ECHO))
    with asked.open("rb") as stdin, answered.open("wb") as stdout:
        done = subprocess.run(
            AGENT, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=20, env=agent_env(tmp_path)
        )
    assert done.returncode == 0
    assert [json.loads(each)["id"] for each in answered.read_bytes().splitlines()] == [0, 1]


def test_a_wire_that_was_made_non_blocking_works_and_stays_so() -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with subprocess.Popen(
        AGENT, stdin=reader, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=agent_env(Path("/nonexistent"))
    ) as process:
        assert process.stdout is not None
        os.write(writer, line(HELLO))
        assert json.loads(process.stdout.readline())["id"] == 0
        os.write(writer, line(ECHO))
        os.close(writer)
        assert json.loads(process.stdout.readline())["id"] == 1
        assert process.wait(20) == 0
    assert not os.get_blocking(reader)
    os.close(reader)


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_a_closed_standard_stream_is_one_clear_line(closed: str) -> None:
    ran = run(line(HELLO), ["sh", "-c", f'exec "$@" {closed}', "sh", *AGENT])
    assert ran.status == 1
    assert len(ran.stderr.splitlines()) == 1
    assert "standard input and output" in ran.stderr


def test_an_output_that_takes_nothing_is_one_clear_line(tmp_path: Path) -> None:
    ran = run(line(HELLO), ["sh", "-c", 'ulimit -f 0; exec "$@" >"$0"', str(tmp_path / "full"), *AGENT])
    assert ran.status == 1
    assert ran.stderr == "hermes-acp: the editor cannot be talked to: File too large\n"


def test_a_closed_stderr_does_not_let_other_output_onto_the_wire() -> None:
    noise = {"jsonrpc": "2.0", "id": 2, "method": "_noise", "params": {}}
    ran = run(line(HELLO) + line(noise), ["sh", "-c", 'exec "$@" 2>&-', "sh", *AGENT])
    assert (ran.status, ids(ran)) == (0, [0, 2])


def test_an_editor_that_is_gone_before_the_answer_leaves_no_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        AGENT, input=line(HELLO), stdout=writer, stderr=subprocess.PIPE, timeout=20, env=agent_env(Path("/nonexistent"))
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("locale", [{"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}, {}])
def test_any_locale_gives_utf8_on_the_wire(locale: dict[str, str]) -> None:
    echo = {"jsonrpc": "2.0", "id": 2, "method": "_echo", "params": {"text": "héllo 💫 你好"}}
    data = json.dumps(HELLO).encode() + b"\n" + json.dumps(echo, ensure_ascii=False).encode() + b"\n"
    env = agent_env(Path("/nonexistent"), **locale)
    done = subprocess.run(AGENT, input=data, capture_output=True, timeout=20, env=env)
    assert "héllo 💫 你好".encode() in done.stdout


def test_it_does_not_matter_what_the_program_is_called(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    link = folder / "agent of another name"
    link.symlink_to(Path(sys.executable).parent / "hermes-acp")
    capabilities = {"terminal": False, "_meta": {"terminal-auth": True}}
    hello = {**HELLO, "params": {"protocolVersion": 1, "clientCapabilities": capabilities}}
    with subprocess.Popen(
        [link, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line(hello))
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        process.kill()
    assert "result" in answer
