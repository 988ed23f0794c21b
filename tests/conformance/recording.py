"""A conversation that makes the agent say everything it can say, kept message by message."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from hermes_acp import __version__
from hermes_acp.local.environment import shell
from tests.fakes.model_server import Call, ModelServer, Say, fail
from tests.support.editor import AgentError, Editor, never, open_editor
from tests.support.talk import open_params

EVERYTHING = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}},
    "session": {"notices": {}, "compaction": {}},
    "auth": {"terminal": True},
    "_meta": {"terminal-auth": True},
}
USAGE = {"prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234}
SERVER = {"name": "files", "command": "/no/such/program", "args": [], "env": []}
CONTEXT = {"HERMES_ACP_CONTEXT_WINDOW": "100000"}


async def record(folder: Path) -> list[dict[str, Any]]:
    """Every message of two agents, in the order it was said: one whose editor offers nothing, one whose
    editor offers all. Ids, times and paths are replaced."""
    project = folder / "project"
    project.mkdir()
    said: list[dict[str, Any]] = []
    talks = ((_plainly, CONTEXT), (_with_everything, {}), (_compacting, CONTEXT), (_without_a_model, {}))
    async with ModelServer() as model:
        for talk, more in talks:
            url = None if talk is _without_a_model else model.url
            async with open_editor(folder / talk.__name__, url, **more) as editor:
                (project / "a.txt").write_text("one\n")
                await talk(editor, model, project)
                said += [_named(line, editor.sent, project) for line in editor.lines]
    return said


async def _plainly(editor: Editor, model: ModelServer, project: Path) -> None:
    await _refused(editor.request("session/list"))
    await editor.initialize()
    session = await editor.new_session(project, mcpServers=[SERVER])
    await _a_turn_of_everything(editor, model, project, session)
    await _a_plan_and_a_question(editor, model, session)
    await _every_way_in(editor, project, session)
    await _failures(editor, model, session)
    await editor.request("session/set_mode", {"sessionId": session, "modeId": "plan"})
    model.say(Say(calls=[Call("leave_plan_mode", {"plan": "Write a file."})]), "Done.")
    await editor.prompt(session, "plan")
    await editor.request("session/set_config_option", {"sessionId": session, "configId": "mode", "value": "ask"})
    for method in ("session/close", "session/delete"):
        await editor.request(method, {"sessionId": session})
    await editor.request("logout")
    await editor.request("authenticate", {"methodId": "credentials"})


async def _a_turn_of_everything(editor: Editor, model: ModelServer, project: Path, session: str) -> None:
    running = "echo first; while [ ! -e go ]; do sleep 0.02; done"
    model.say(
        Say(reasoning=["A thought."], text=["Some text."], calls=[Call("read_file", {"path": "a.txt"})], usage=USAGE),
        Say(calls=[Call("patch", {"path": "a.txt", "old_text": "one", "new_text": "two"})], usage=USAGE),
        Say(calls=[Call("terminal", {"command": running})], usage=USAGE),
        Say(calls=[Call("read_file", {"path": "missing.txt"})], usage=USAGE),
        Say(text=["Done."], usage=USAGE),
    )
    prompt = editor.begin_prompt(session, "do everything")
    await editor.wait_update(lambda update: "rawOutput" not in update and "first" in str(update.get("content")))
    (project / "go").touch()
    await prompt
    (project / "go").unlink()


async def _a_plan_and_a_question(editor: Editor, model: ModelServer, session: str) -> None:
    todos = [{"id": "1", "content": "Ask", "status": "in_progress"}, {"id": "2", "content": "Paint"}]
    question = {"question": "Which colour?", "choices": ["red", "blue"]}
    model.say(Say(calls=[Call("todo", {"todos": todos}), Call("clarify", question)]), "Done.")
    await editor.prompt(session, "plan and ask")


async def _every_way_in(editor: Editor, project: Path, session: str) -> None:
    await editor.request("session/list")
    for method in ("session/load", "session/resume", "session/fork"):
        await editor.request(method, open_params(session, project))


async def _failures(editor: Editor, model: ModelServer, session: str) -> None:
    await _refused(editor.request("ping"))
    await _refused(editor.request("session/prompt", {"sessionId": session, "prompt": []}))
    await _refused(editor.request("session/close", {"sessionId": "nope"}))
    model.say(fail(404, "there is no such model"))
    await _refused(editor.prompt(session, "fail"))
    editor.send(
        {"jsonrpc": "2.0", "id": "cancelled", "method": "session/list", "params": {}},
        {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "cancelled"}},
    )
    await editor.wait_line(lambda line: line.get("id") == "cancelled")
    editor.send_raw(b"not json\n")
    await editor.request("session/list")


async def _with_everything(editor: Editor, model: ModelServer, project: Path) -> None:
    held = {str(project / "a.txt"): "one\n"}

    def write(params: dict[str, Any]) -> dict[str, Any]:
        Path(params["path"]).write_text(params["content"])
        return {}

    editor.handlers |= {
        "elicitation/create": lambda params: {"action": "accept", "content": {"choice": "red"}},
        "fs/read_text_file": lambda params: {"content": held[params["path"]]},
        "fs/write_text_file": write,
        "terminal/create": lambda params: {"terminalId": "t1"},
        "terminal/output": lambda params: {"output": "hi\n", "truncated": False},
        "terminal/wait_for_exit": lambda params: {"exitCode": 0},
        "terminal/kill": lambda params: {},
        "terminal/release": lambda params: {},
    }
    await editor.initialize(EVERYTHING)
    session = await editor.new_session(project, mcpServers=[SERVER])
    model.say(
        Say(calls=[Call("patch", {"path": "a.txt", "old_text": "one", "new_text": "two"})]),
        Say(calls=[Call("terminal", {"command": "echo hi; exit 0"})]),
        "Done.",
    )
    await editor.prompt(session, "edit and run")
    await _a_plan_and_a_question(editor, model, session)
    model.say(Say(calls=[Call("terminal", {"command": "sleep 60"})]))
    editor.handlers["terminal/wait_for_exit"] = never
    prompt = editor.begin_prompt(session, "run for long")
    await editor.wait_line(lambda line: line.get("method") == "terminal/wait_for_exit" and line != _first_wait(editor))
    editor.notify("session/cancel", {"sessionId": session})
    await prompt


def _first_wait(editor: Editor) -> dict[str, Any]:
    return next(line for line in editor.lines if line.get("method") == "terminal/wait_for_exit")


async def _compacting(editor: Editor, model: ModelServer, project: Path) -> None:
    """A context that is compacted, one that cannot be, and one whose compaction is cancelled."""
    await editor.initialize(EVERYTHING)
    for outcome in (Say(text=["What was said."]), fail(400, "no"), Say(text=["late"], first_delay=30)):
        session = await editor.new_session(project)
        for number in range(12):
            model.say("word " * 200)
            await editor.prompt(session, f"Prompt {number}.")
        model.say(outcome)
        asked = len(model.requests)
        compacting = editor.begin_prompt(session, "/compact")
        await model.until(lambda server, asked=asked: len(server.requests) > asked)
        if isinstance(outcome, Say) and outcome.first_delay:
            editor.notify("session/cancel", {"sessionId": session})
        await compacting


async def _without_a_model(editor: Editor, model: ModelServer, project: Path) -> None:
    await editor.initialize()
    await _refused(editor.new_session(project))


async def _refused(answer: Any) -> None:
    try:
        await answer
    except AgentError:
        return
    raise AssertionError("this was to be refused")


def _named(line: dict[str, Any], sent: list[dict[str, Any]], project: Path) -> dict[str, Any]:
    """The message as it can be compared, and the name of its shape."""
    methods = {message["id"]: message["method"] for message in sent if "method" in message and "id" in message}
    return {"name": shape(line, methods), "message": _plain(line, project)}


def shape(line: dict[str, Any], methods: dict[Any, str]) -> str:
    """What kind of message it is: "answer session_new", "error -32602", "update plan", "request fs_…"."""
    if "error" in line:
        return f"error {line['error']['code']}"
    if "method" not in line:
        terminal = " terminal" if len(line["result"].get("authMethods", ())) > 1 else ""
        return f"answer {_word(methods[line['id']])}{terminal}"
    if line["method"] == "session/update":
        return f"update {_update_shape(line['params']['update'])}"
    if line["method"] == "session/request_permission":
        return f"request session_request_permission {line['params']['toolCall']['kind']}"
    return f"{'request' if 'id' in line else 'notification'} {_word(line['method'])}"


def _update_shape(update: dict[str, Any]) -> str:
    kind: str = update["sessionUpdate"]
    if kind == "compaction_update":
        return f"{kind} {update['status']}"
    if kind == "session_info_update":
        return " ".join([kind, *sorted(update.keys() - {"sessionUpdate"})])
    if kind not in ("tool_call", "tool_call_update"):
        return kind
    parts = sorted({part["type"] for part in update.get("content") or ()})
    return " ".join([kind, str(update.get("status", "running")), *parts])


def _word(method: str) -> str:
    return method.strip("_$/").replace("/", "_")


_REPLACED = {
    r"\b(?:call|msg|thought|compaction)_[0-9a-f]{24}\b": "<id>",
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b": "<session>",
    r"\b\d{4}-\d\d-\d\dT[\d:.]+Z\b": "<time>",
}


def _plain(line: dict[str, Any], project: Path) -> dict[str, Any]:
    text = json.dumps(line, ensure_ascii=False)
    program = shell("")[0].decode()
    for own, name in ((str(project), "<project>"), (sys.executable, "<python>"), (program, "<shell>")):
        text = text.replace(own, name)
    text = text.replace(f'"{__version__}"', '"<version>"')
    for pattern, name in _REPLACED.items():
        text = re.sub(pattern, name, text)
    message: dict[str, Any] = json.loads(re.sub(r'("(?:id|requestId)": )\d+', r'\1"<number>"', text))
    return message
