"""T: what the wire is exposed to. Each test is named for the hazard."""

import asyncio
import base64
import json
import os
from pathlib import Path

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, Editor, agent_command, agent_env, open_editor
from tests.support.pipes import open_pipes
from tests.support.talk import open_params

pytestmark = pytest.mark.slow
shared = pytest.mark.asyncio(loop_scope="session")

NOISY = {"PYTHONDEVMODE": "1", "PYTHONWARNINGS": "always", "OPENAI_LOG": "debug"}
NOISY_LIBRARY = """
import os, sys
print("hi from a library", flush=True)
os.write(1, b"raw bytes\\n")
print("the old stdout", file=sys.__stdout__, flush=True)
sys.path.remove(os.path.dirname(__file__))
del sys.modules["openai"]
import openai
"""


async def test_t1_nothing_that_is_logged_warned_or_printed_reaches_stdout(model, project, tmp_path):
    """A fresh home, all logs and warnings on, a library that prints, a command that writes to our own stdout."""
    library = tmp_path / "library"
    library.mkdir()
    (library / "openai.py").write_text(NOISY_LIBRARY)
    command = "echo to our stdout > /proc/$PPID/fd/1; echo out; echo err >&2"
    model.say(Say(calls=[Call("terminal", {"command": command})]), "Done.")
    env = agent_env(tmp_path / "home", model.url, **NOISY)
    env["PYTHONPATH"] = f"{library}:{env['PYTHONPATH']}"
    editor = await Editor.start(agent_command("--log-level", "debug"), env=env)
    try:
        await editor.initialize()
        assert await editor.prompt(await editor.new_session(project), "run") == "end_turn"
        assert await editor.close() == 0
        editor.assert_clean()
        for word in ("hi from a library", "raw bytes", "the old stdout", "to our stdout", "DEBUG"):
            assert word in editor.stderr
    finally:
        await editor.kill()


@shared
async def test_t1_a_command_inherits_no_end_of_the_wire(one_editor, one_model, project):
    def pipe(number):
        end = one_editor.process._transport.get_pipe_transport(number).get_extra_info("pipe")
        return f"pipe:[{os.fstat(end.fileno()).st_ino}]"

    one_model.say(Say(calls=[Call("terminal", {"command": "ls -l /proc/self/fd /proc/$$/fd"})]), "Done.")
    await one_editor.prompt(await one_editor.new_session(project), "run")
    listed = one_model.requests[1].messages[-1]["content"]
    assert "/dev/null" in listed, "the listing was made"
    assert pipe(0) not in listed
    assert pipe(1) not in listed


@shared
async def test_t2_a_prompt_longer_than_64_kib_arrives_whole(one_editor, one_model, project):
    text = "".join(f"{n} é\n" for n in range(12_000))
    assert len(text) > 70_000
    await one_editor.prompt(await one_editor.new_session(project), text)
    assert one_model.requests[0].messages[-1]["content"] == text


@shared
async def test_t2_an_image_of_8_mb_is_one_line_and_is_answered(one_editor, one_model, project):
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + os.urandom(6_000_000)).decode()
    session = await one_editor.new_session(project)
    blocks = [{"type": "text", "text": "look"}, {"type": "image", "mimeType": "image/png", "data": data}]
    answer = await one_editor.request("session/prompt", {"sessionId": session, "prompt": blocks})
    assert answer["stopReason"] == "end_turn"
    assert "look" in str(one_model.requests[0].messages[-1]["content"])


async def test_t2_a_file_of_3_mb_comes_from_the_editor_on_one_line(model, project, tmp_path):
    text = "".join(f"line {n}\n" for n in range(300_000))
    (project / "big.txt").write_text("old\n")
    model.say(Say(calls=[Call("read_file", {"path": "big.txt", "offset": 299_990})]), "Read.")
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize({"fs": {"readTextFile": True}})
        editor.handlers["fs/read_text_file"] = lambda params: {"content": text}
        await editor.prompt(await editor.new_session(project), "read")
        assert len(text) > 3_000_000
        assert "line 299999" in model.requests[1].messages[-1]["content"]


async def test_t2_a_line_over_the_limit_costs_one_error_and_no_memory(model, project, tmp_path):
    """As a request, and as the answer to one of ours: 40 MB of it."""
    (project / "a.txt").write_text("from the disk\n")
    model.say(Say(calls=[Call("read_file", {"path": "a.txt"})]), "Read.")
    huge = "x" * 40_000_000
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize({"fs": {"readTextFile": True}})
        editor.handlers["fs/read_text_file"] = lambda params: {"content": huge}
        session = await editor.new_session(project)
        with pytest.raises(AgentError) as error:
            await editor.prompt(session, huge)
        assert error.value.code == -32600
        before = peak_memory(editor.process.pid)
        assert await editor.prompt(session, "read") == "end_turn"
        assert "from the disk" in model.requests[0].messages[-1]["content"] + model.requests[1].messages[-1]["content"]
        assert peak_memory(editor.process.pid) < before + 60_000
        assert [line for line in editor.lines if "error" in line and line["id"] is None] == []


def peak_memory(pid):
    """The most memory that the process has had, in KiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


UNKNOWN = [
    ({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {}}, 7),
    ({"jsonrpc": "2.0", "id": "s-1", "method": "_vendor.x/foo"}, "s-1"),
    ({"jsonrpc": "2.0", "id": "8", "method": "$/unknown"}, "8"),
    ({"jsonrpc": "2.0", "id": -9, "method": "", "params": None}, -9),
    ({"jsonrpc": "2.0", "method": "_vendor.x/evt"}, None),
    ({"jsonrpc": "2.0", "method": "$/unknown"}, None),
    ({"jsonrpc": "2.0", "method": "session/unknown", "params": [1]}, None),
]


async def test_t3_unknown_requests_are_not_found_by_their_own_id_unknown_notifications_are_silent(model, tmp_path):
    async with open_pipes(tmp_path / "home", model.url) as pipes:
        pipes.ask("hello", "initialize", {"protocolVersion": 1})
        pipes.send(*(message for message, _ in UNKNOWN))
        pipes.ask("last", "session/list")
        await pipes.answer("last")
        errors = [(line["id"], line["error"]["code"]) for line in pipes.lines if "error" in line]
        assert errors == [(id_, -32601) for _, id_ in UNKNOWN if id_ is not None]
        assert [type(id_) for id_, _ in errors] == [int, str, str, int]
        assert len(pipes.stderr.splitlines()) <= len(UNKNOWN)
        assert "Traceback" not in pipes.stderr


BAD_LINES = [
    (b"", None),
    (b"   \t ", None),
    (b"\r", None),
    (b"hello", -32700),
    (b"42", -32600),
    (b"[]", -32600),
    (b'{"a":1}', -32600),
    (b"null", -32600),
    (b'{"jsonrpc":"2.0","id":1,"met', -32700),
    (b"\xc3\x28\xff", -32700),
    (b"\x00\x00", -32700),
    (b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":NaN}}', -32700),
]


@pytest.mark.parametrize("first", [True, False], ids=["before initialize", "after initialize"])
async def test_t4_no_bad_line_breaks_the_channel(model, tmp_path, first):
    hello = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}).encode()
    bad = b"\n".join(line for line, _ in BAD_LINES)
    async with open_pipes(tmp_path / "home", model.url) as pipes:
        pipes.send_raw(b"\n".join([bad, hello] if first else [hello, bad]) + b"\n")
        pipes.send_raw(b'{"jsonrpc":"2.0","id":"crlf","method":"session/list"}\r\n')
        pipes.send_raw(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":"bom","method":"session/list"}\n')
        await pipes.answer("bom")
        answers = [line for line in pipes.lines if "result" in line]
        assert [line["id"] for line in answers] == [0, "crlf", "bom"]
        errors = [(line["id"], line["error"]["code"]) for line in pipes.lines if "error" in line]
        assert errors == [(None, code) for _, code in BAD_LINES if code]


async def test_t4_a_channel_that_begins_with_a_byte_order_mark_is_served(model, tmp_path):
    hello = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}).encode()
    async with open_pipes(tmp_path / "home", model.url) as pipes:
        pipes.send_raw(b"\xef\xbb\xbf" + hello + b"\r\n")
        assert (await pipes.answer(0))["result"]["protocolVersion"] == 1


LOCALES = {
    "ascii": {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"},
    "none": {"LANG": "", "LC_ALL": "", "PYTHONUTF8": "0"},
    "unknown": {"LANG": "xx_XX.cp1252", "LC_ALL": "xx_XX.cp1252", "PYTHONUTF8": "0"},
}


@pytest.mark.parametrize("locale", LOCALES)
async def test_t5_no_locale_changes_what_is_read_written_logged_stored_and_run(model, tmp_path, locale):
    project = tmp_path / "Projekt ü 你好"
    project.mkdir()
    (project / "größe.txt").write_text("héllo 💫\n", encoding="utf-8")
    said, written = "héllo 💫 你好", "▐ ok 💫\n"
    model.say(
        Say(text=["▐ ok 💫"], calls=[Call("read_file", {"path": "größe.txt"}), Call("list_files", {})]),
        Say(calls=[Call("write_file", {"path": "neu ▐.txt", "content": written})]),
        Say(calls=[Call("terminal", {"command": "cat 'neu ▐.txt'; echo 'héllo 💫'; echo $LC_ALL"})]),
        Say(calls=[Call("search_files", {"pattern": "héllo"})]),
        "Done ▐.",
    )
    log = tmp_path / "log ü.txt"
    arguments = ("--log-level", "debug", "--log-file", str(log))
    async with open_editor(tmp_path / "home ü", model.url, arguments=arguments, **LOCALES[locale]) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await editor.prompt(session, said) == "end_turn"
        shown = editor.text(session)
        await editor.close()
    assert shown == "▐ ok 💫Done ▐."
    assert model.requests[0].messages[-1]["content"] == said
    assert (project / "neu ▐.txt").read_bytes() == written.encode()
    results = [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"]
    assert "héllo 💫" in results[0]
    assert "größe.txt" in results[1]
    assert "▐ ok 💫" in results[3]
    assert "héllo 💫" in results[3]
    assert LOCALES[locale]["LC_ALL"] in results[3], "commands see the person's own locale"
    assert "größe.txt" in results[4]
    assert log.read_bytes().decode("utf-8")
    async with open_editor(tmp_path / "home ü", model.url, **LOCALES[locale]) as editor:
        await editor.initialize()
        params = open_params(session, project)
        await editor.request("session/load", params)
        assert editor.text(session, "user_message_chunk") == said
        assert editor.text(session) == shown


async def test_t5_a_lone_surrogate_is_replaced_wherever_it_comes_in(model, project, tmp_path):
    model.say(
        Say(calls=[Call("write_file", '{"path": "a.txt", "content": "a\\ud835b"}')]),
        Say(calls=[Call("terminal", {"command": "printf 'caf\\351\\n'"})]),
        Say(text=["x\ud83d", "y"]),
    )
    async with open_editor(tmp_path / "home", model.url) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await editor.prompt(session, "half \ud83d") == "end_turn"
        assert editor.text(session).startswith("x\ufffd")
    assert model.requests[0].messages[-1]["content"] == "half \ufffd"
    assert (project / "a.txt").read_text(encoding="utf-8") == "a\ufffdb"


async def test_t5_a_prompt_is_served_though_the_home_has_no_name_that_the_locale_can_write(model, tmp_path):
    async with open_pipes(tmp_path / "höme 💫", model.url, **LOCALES["ascii"]) as pipes:
        session = await pipes.open(tmp_path)
        pipes.ask("go", "session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]})
        assert (await pipes.answer("go"))["result"]["stopReason"] == "end_turn"
        await asyncio.sleep(0)
        assert list((tmp_path / "höme 💫").rglob("*.db"))
