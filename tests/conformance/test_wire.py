"""Lines 1 to 12: transport, errors, extensions."""

import json

import pytest

from tests.fakes.model_server import Call, Say
from tests.support.editor import AgentError, open_editor
from tests.support.talk import cards, prompt_params

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_01_messages_are_utf8_and_one_a_line(editor, model, project):
    text = 'one\ntwo\r\n\u2028three\u2029 \x85 💫 你好 \x00 \\n "quoted"'
    model.say(Say(text=[text]))
    session = await editor.new_session(project)
    await editor.prompt(session, text)
    assert editor.text(session) == text
    assert model.requests[0].messages[-1]["content"] == text


async def test_02_stdout_carries_only_acp(model, project, tmp_path):
    """Whatever is logged and printed on the way: each line of stdout is judged as it arrives."""
    model.say(Say(calls=[Call("terminal", {"command": "echo out; echo err >&2"})]), "Done.")
    async with open_editor(tmp_path / "home", model.url, arguments=("--log-level", "debug")) as editor:
        await editor.initialize()
        session = await editor.new_session(project)
        assert await editor.prompt(session, "run") == "end_turn"
        editor.notify("session/cancel", {"nonsense": 1})
        await editor.close()
        assert editor.stderr, "something was logged"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("_vendor.x/event", {}),
        ("$/unknown", {}),
        ("unknown", {}),
        ("session/cancel", {"sessionId": "nope"}),
        ("session/cancel", {"sessionId": 5}),
        ("$/cancel_request", {"requestId": "nope"}),
        ("$/cancel_request", {"requestId": {"a": 1}}),
        ("session/new", {"cwd": "/"}),
        ("initialize", {"protocolVersion": 1}),
        ("session/prompt", {}),
    ],
)
async def test_03_notifications_are_never_answered(editor, method, params):
    before = len(editor.lines)
    editor.notify(method, params)
    await editor.request("session/list")
    assert [line["id"] for line in editor.lines[before:]] == [editor.last_id]


@pytest.mark.parametrize(
    "line",
    [b"hello", b"{", b'{"jsonrpc":"2.0","id":1,', b"\xff\xfe", b'{"id":NaN}', b"{'id':1}", b"[" * 100_000, b'"\\ud8"'],
)
async def test_04_what_is_not_json_is_a_parse_error_and_the_connection_lives(raw_editor, line):
    before = len(raw_editor.lines)
    raw_editor.send_raw(line + b"\n")
    await raw_editor.request("session/list")
    error, answer = raw_editor.lines[before:]
    assert (error["id"], error["error"]["code"]) == (None, -32700)
    assert "result" in answer


@pytest.mark.parametrize(
    ("message", "id_"),
    [
        (42, None),
        ([], None),
        ("text", None),
        (None, None),
        ([{"jsonrpc": "2.0", "id": 1, "method": "session/list"}], None),
        ({"a": 1}, None),
        ({"jsonrpc": "1.0", "id": "v", "method": "session/list"}, "v"),
        ({"id": "w", "method": "session/list"}, "w"),
        ({"jsonrpc": "2.0", "id": {}, "method": "session/list"}, None),
        ({"jsonrpc": "2.0", "id": "m", "method": 5}, "m"),
    ],
)
async def test_05_what_is_no_request_is_an_invalid_request(raw_editor, message, id_):
    before = len(raw_editor.lines)
    raw_editor.send_raw(json.dumps(message).encode() + b"\n")
    await raw_editor.request("session/list")
    error, _ = raw_editor.lines[before:]
    assert (error["id"], error["error"]["code"]) == (id_, -32600)


async def test_05_nothing_is_served_before_initialize(model, project, tmp_path):
    async with open_editor(tmp_path / "home", model.url) as editor:
        editor.notify("session/cancel", {"sessionId": "x"})
        for method, params in (("session/list", {}), ("session/new", {"cwd": str(project), "mcpServers": []})):
            with pytest.raises(AgentError) as error:
                await editor.request(method, params)
            assert error.value.code == -32600
        assert len(editor.lines) == 2
        await editor.initialize()
        assert (await editor.request("session/list"))["sessions"] == []


HELLO = {"jsonrpc": "2.0", "id": "hello", "method": "initialize"}


@pytest.mark.parametrize(
    "hello", [{**HELLO, "params": {"protocolVersion": "1"}}, {**HELLO, "params": {}}, {**HELLO, "jsonrpc": "1.0"}]
)
async def test_05_an_initialize_that_is_refused_opens_nothing(model, tmp_path, hello):
    async with open_editor(tmp_path / "home", model.url) as editor:
        editor.dialogue = None
        editor.send_raw(json.dumps(hello).encode() + b"\n")
        with pytest.raises(AgentError) as error:
            await editor.request("session/list")
        assert error.value.code == -32600
        assert "error" in editor.lines[0]


async def test_05_a_second_request_of_an_open_id_is_invalid_and_the_first_is_answered(raw_editor, model, project):
    model.say(Say(text=["late"], first_delay=0.5))
    session = await raw_editor.new_session(project)
    before = len(raw_editor.lines)
    prompt = {"jsonrpc": "2.0", "id": "same", "method": "session/prompt", "params": prompt_params(session, "hi")}
    raw_editor.send(prompt, {"jsonrpc": "2.0", "id": "same", "method": "session/list", "params": {}})
    await raw_editor.wait_line(lambda line: line.get("id") == "same" and "result" in line)
    answers = [line for line in raw_editor.lines[before:] if line.get("id") == "same"]
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32600, None]


UNKNOWN = ["ping", "session/set_model", "session/set_title", "fs/read_text_file", "Session/List", ""]


@pytest.mark.parametrize("method", UNKNOWN)
async def test_06_a_method_that_is_unknown_or_not_advertised_is_not_found(editor, method):
    with pytest.raises(AgentError) as error:
        await editor.request(method, {"sessionId": "s"})
    assert error.value.code == -32601


WAYS_BACK = ("session/load", "session/resume", "session/fork")
MALFORMED = [
    ("initialize", {"protocolVersion": "1"}, "protocolVersion"),
    ("initialize", {}, "protocolVersion"),
    ("authenticate", {}, "methodId"),
    ("authenticate", {"methodId": None}, "methodId"),
    ("session/new", {"mcpServers": []}, "cwd"),
    ("session/new", {"cwd": 5, "mcpServers": []}, "cwd"),
    ("session/new", {"cwd": "relative", "mcpServers": []}, "cwd"),
    ("session/new", {"cwd": "", "mcpServers": []}, "cwd"),
    ("session/new", {"cwd": "/no/such/folder", "mcpServers": []}, "cwd"),
    ("session/new", {"cwd": "/etc/hostname", "mcpServers": []}, "cwd"),
    ("session/new", {"cwd": "/", "mcpServers": [], "additionalDirectories": ["/no/such/folder"]}, "additional"),
    ("session/load", {"sessionId": "s", "cwd": "relative", "mcpServers": []}, "cwd"),
    ("session/list", {"cwd": "relative"}, "cwd"),
    ("session/new", {"cwd": "/", "mcpServers": {}}, "mcpServers"),
    ("session/new", {"cwd": "/", "mcpServers": [{"name": "x", "type": "carrier-pigeon"}]}, "mcpServers"),
    ("session/load", {"cwd": "/", "mcpServers": []}, "sessionId"),
    ("session/resume", {"cwd": "/", "sessionId": ["s"]}, "sessionId"),
    ("session/fork", {"sessionId": "s"}, "cwd"),
    ("session/list", {"cwd": 1}, "cwd"),
    ("session/list", {"cursor": {}}, "cursor"),
    ("session/close", {}, "sessionId"),
    ("session/delete", {"sessionId": None}, "sessionId"),
    ("session/prompt", {"sessionId": "s"}, "prompt"),
    ("session/prompt", {"sessionId": "s", "prompt": "text"}, "prompt"),
    ("session/prompt", {"sessionId": "s", "prompt": [{"type": "text"}]}, "text"),
    ("session/prompt", {"sessionId": "s", "prompt": [{"text": "x"}]}, "prompt.0"),
    ("session/set_mode", {"sessionId": "s"}, "modeId"),
    ("session/set_config_option", {"sessionId": "s", "configId": "mode"}, "value"),
]


@pytest.mark.parametrize(("method", "params", "field"), MALFORMED)
async def test_07_malformed_values_are_invalid_params_that_name_their_field(editor, method, params, field):
    with pytest.raises(AgentError) as error:
        await editor.request(method, params)
    assert error.value.code == -32602
    assert field in str(error.value)


async def test_07_values_that_do_not_suit_the_session_are_invalid_params(editor, project, tmp_path):
    session = await editor.new_session(project)
    await editor.prompt(session, "hi")
    refused = [(method, {"cwd": str(tmp_path), "mcpServers": []}, "cwd") for method in WAYS_BACK]
    refused += [("session/prompt", {"prompt": prompt}, "prompt") for prompt in ([], [{"type": "text", "text": " \n"}])]
    for method, params, field in refused:
        with pytest.raises(AgentError) as error:
            await editor.request(method, {"sessionId": session, **params})
        assert (error.value.code, field in str(error.value)) == (-32602, True), method


@pytest.mark.parametrize("params", [[], "text", 5, True])
async def test_07_params_that_are_no_object_are_invalid(raw_editor, params):
    before = len(raw_editor.lines)
    raw_editor.send({"jsonrpc": "2.0", "id": "params", "method": "session/list", "params": params})
    await raw_editor.request("session/list")
    error, _ = raw_editor.lines[before:]
    assert (error["id"], error["error"]["code"]) == ("params", -32602)


async def test_08_a_session_that_is_known_but_not_open_is_named(editor, project):
    session = await editor.new_session(project)
    await editor.prompt(session, "hi")
    await editor.request("session/close", {"sessionId": session})
    for method, more in (
        ("session/prompt", prompt_params(session, "hi")),
        ("session/set_mode", {"modeId": "ask"}),
        ("session/set_config_option", {"configId": "mode", "value": "ask"}),
        ("session/close", {}),
    ):
        with pytest.raises(AgentError) as error:
            await editor.request(method, {"sessionId": session, **more})
        assert (error.value.code, error.value.data) == (-32002, {"sessionId": session})


async def test_09_paths_are_absolute_and_lines_begin_at_one(editor, model, project):
    (project / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 30)))
    model.say(
        Say(calls=[Call("read_file", {"path": "a.txt", "offset": 7}), Call("read_file", {"path": "a.txt"})]),
        Say(calls=[Call("patch", {"path": "a.txt", "old_text": "12\n", "new_text": "twelve\n"})]),
        Say(calls=[Call("write_file", {"path": "new/b.txt", "content": "x\n"})]),
        "Done.",
    )
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    shown = list(cards(editor, session).values())
    places = [place for card in shown for place in card["locations"]]
    diffs = [part for card in shown for part in card["content"] if part["type"] == "diff"]
    assert {part["path"] for part in places + diffs} == {str(project / "a.txt"), str(project / "new/b.txt")}
    assert [place.get("line") for place in places] == [7, 1, 12, 1]


async def test_11_unknown_extension_requests_are_not_found_and_notifications_ignored(editor):
    before = len(editor.lines)
    editor.notify("_vendor.x/event", {"a": 1})
    with pytest.raises(AgentError) as error:
        await editor.request("_vendor.x/question", {"a": 1})
    assert error.value.code == -32601
    assert [line["id"] for line in editor.lines[before:]] == [editor.last_id]


async def test_12_extensions_are_advertised_in_the_meta_of_a_capability(editor, model, project):
    (project / "a").write_text("x\n")
    model.say(Say(calls=[Call("read_file", {"path": "a"})]), "Done.")
    session = await editor.new_session(project)
    await editor.prompt(session, "go")
    hello = next(line["result"] for line in editor.lines if "agentCapabilities" in (line.get("result") or {}))
    advertised = set(hello["agentCapabilities"]["_meta"]["hermes"].values())
    sent = {line["method"] for line in editor.lines if str(line.get("method")).startswith("_")}
    assert sent == advertised == {"_hermes/status", "_hermes/step"}
