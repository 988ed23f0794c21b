"""Trajectories: the known cases, the line that is written, the file that it is added to."""

import hashlib
import json
import logging
import multiprocessing
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

import hermes_acp
from hermes_acp.agent.trajectory import (
    convert_scratchpad_to_think,
    has_reasoning,
    save_trajectory,
    to_sharegpt,
)
from hermes_acp.messages import AssistantMessage, Image, Text, ToolCall, ToolMessage, UserMessage, to_dict, user

FROZEN = datetime(2026, 1, 2, 3, 4, 5, 678901)
CASES = {
    row["id"]: row
    for line in (Path(__file__).parent / "data" / "trajectory_cases.jsonl").read_text("utf-8").split("\n")
    if line
    for row in [json.loads(line)]
}
EMPTY = "<think>\n</think>\n"


def call(arguments, name="terminal"):
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def response(call_id, content, name="terminal"):
    return f'<tool_response>\n{{"tool_call_id": "{call_id}", "name": "{name}", "content": {content}}}\n</tool_response>'


ASKED = ("human", "q")
OK = ("gpt", f"{EMPTY}ok")
X_READ = (call("{}"), response("a", '"x"'))
SEES = (
    '[{"type": "text", "text": "see"}, {"type": "text", "text": "[screenshot]"}, {"type": "text", "text": "[audio]"}]'
)

WANTED = {
    "plain-scratchpad-lowercase": [ASKED, ("gpt", "<think>\nlet me see\n</think>\nThe answer.")],
    "plain-scratchpad-unclosed": [ASKED, ("gpt", "<think>\nhalf a thought\n</think>")],
    "plain-both-reasoning-and-scratchpad": [ASKED, ("gpt", "<think>\nnative\nin xml\n</think>\nDone.")],
    "plain-content-think-and-native-same": [ASKED, ("gpt", "<think>\nsame\n</think>\nDone.")],
    "plain-content-thinking-tag": [ASKED, ("gpt", "<think>\ninline\n</think>\nDone.")],
    "plain-mentions-think-in-prose": [ASKED, ("gpt", f"{EMPTY}Use the `<think>` tag in your template.")],
    "plain-list-content": [ASKED, ("gpt", f"{EMPTY}part one\n and two")],
    "plain-reasoning-list": [ASKED, ("gpt", "<think>\nr\n</think>\na")],
    "plain-reasoning-content-field": [ASKED, ("gpt", "<think>\nkept elsewhere\n</think>\na")],
    "plain-lone-surrogate": [ASKED, ("gpt", f"{EMPTY}bad \ufffd half")],
    "tool-fewer-results-than-calls": [
        ASKED,
        ("gpt", "\n".join([EMPTY + call('{"command": "pwd"}'), call('{"command": "ls"}')])),
        ("tool", response("b", '"only b"')),
        OK,
    ],
    "tool-fewer-results-wrong-name": [
        ASKED,
        ("gpt", "\n".join([EMPTY + call('{"path": "x"}', "read_file"), call('{"command": "ls"}')])),
        ("tool", response("b", '"only b"')),
        OK,
    ],
    "tool-missing-id-in-call": [
        ASKED,
        ("gpt", EMPTY + call("{}")),
        ("tool", response("call_9", '"x"')),
        ("gpt", "<think>\nr\n</think>\nok"),
    ],
    "tool-missing-function-name": [
        ASKED,
        ("gpt", EMPTY + call("{}", "unknown")),
        ("tool", response("a", '"x"', "unknown")),
        OK,
    ],
    "tool-missing-function": [
        ASKED,
        ("gpt", EMPTY + call("{}", "unknown")),
        ("tool", response("a", '"x"', "unknown")),
        OK,
    ],
    "tool-result-missing-content": [
        ASKED,
        ("gpt", EMPTY + call('{"command": "pwd"}')),
        ("tool", response("a", '""')),
        OK,
    ],
    "tool-list-text-in-assistant-content": [
        ASKED,
        ("gpt", f"{EMPTY}looking\n" + call('{"command": "pwd"}')),
        ("tool", response("a", '"x"')),
        OK,
    ],
    "args-null": [ASKED, ("gpt", EMPTY + X_READ[0]), ("tool", X_READ[1]), OK],
    "args-json-string-scalar": [ASKED, ("gpt", EMPTY + "\n".join([call("{}")] * 4)), ("tool", X_READ[1]), OK],
    "args-double-encoded": [ASKED, ("gpt", EMPTY + call('{"command": "ls"}')), ("tool", X_READ[1]), OK],
    "args-nan": [ASKED, ("gpt", EMPTY + X_READ[0]), ("tool", response("a", r'"{\"v\": NaN}"')), OK],
    "args-contains-think": [
        ASKED,
        ("gpt", EMPTY + call("""{"command": "grep '<think>' x"}""")),
        ("tool", X_READ[1]),
        OK,
    ],
    "args-contains-closing-tags": [
        ASKED,
        ("gpt", EMPTY + call(r'{"path": "x", "content": "\u003c/tool_call>\n\u003ctool_call>"}', "write_file")),
        ("tool", response("a", r'"\u003c/tool_response>\n\u003ctool_response>\n{}"', "write_file")),
        OK,
    ],
    "content-json-nan": [
        ASKED,
        ("gpt", EMPTY + call('{"command": "x"}')),
        ("tool", response("a", r'"{\"loss\": NaN, \"big\": 1e400}"')),
        OK,
    ],
    "content-image-parts": [
        ASKED,
        ("gpt", EMPTY + call('{"p": 1}', "vision_analyze")),
        ("tool", response("a", SEES, "vision_analyze")),
        OK,
    ],
    "turns-history-before-query": [
        ("human", "old question"),
        ("gpt", f"{EMPTY}old answer"),
        ("human", "new question"),
        ("gpt", "<think>\nr\n</think>\nnew answer"),
    ],
    "turns-system-first": [("human", "hello"), ("gpt", f"{EMPTY}hi")],
    "turns-user-between-results": [
        ASKED,
        ("gpt", "\n".join([EMPTY + call('{"command": "1"}'), call('{"path": "p"}', "read_file")])),
        ("tool", "\n".join([response("a", '"1"'), response("b", '"late"', "read_file")])),
        ("human", "hurry"),
        ("gpt", f"{EMPTY}end"),
    ],
    "batch-inline-think-not-counted": [ASKED, ("gpt", "<think>\nreal reasoning\n</think>\nanswer")],
    "batch-duplicate-ids": [
        ASKED,
        (
            "gpt",
            "<think>\nr\n</think>\n" + "\n".join([call('{"command": "x"}'), call('{"path": "p"}', "read_file")]),
        ),
        ("tool", "\n".join([response("a", '"1"'), response("a", '"2"', "read_file")])),
        ("gpt", f"{EMPTY}end"),
    ],
    "batch-list-content": [ASKED, ("gpt", "<think>x</think>"), ("human", "z")],
}


def converted(case):
    return to_sharegpt(case["messages"], case.get("tools"), case["user_query"])


def saved_bytes(case, folder):
    path = folder / "out.jsonl"
    save_trajectory(converted(case), case["model"], case["completed"], path, now=lambda: FROZEN)
    return path.read_bytes()


def test_every_case_that_is_not_right_as_it_is_says_here_what_is_wanted():
    assert set(WANTED) == {name for name, case in CASES.items() if case["judged"] != "ok"}
    assert len(CASES) == 71


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case["judged"] == "ok"])
def test_what_is_right_is_kept_to_the_byte(name, tmp_path):
    case = CASES[name]
    assert converted(case) == case["expected"]
    assert hashlib.sha256(saved_bytes(case, tmp_path)).hexdigest() == case["expected_line_sha256"]


@pytest.mark.parametrize("name", WANTED)
def test_what_is_wrong_elsewhere_is_right_here(name, tmp_path):
    case = CASES[name]
    system, *turns = converted(case)
    assert system["value"].startswith("You are a function calling AI model.")
    assert [(turn["from"], turn["value"]) for turn in turns] == WANTED[name]
    line = saved_bytes(case, tmp_path)
    assert json.loads(line)["conversations"] == [system, *turns]
    assert line.count(b"\n") == 1


def test_reasoning_counts_wherever_it_stood():
    counted = {name: has_reasoning(converted(CASES[name])) for name in CASES if name.startswith("batch-")}
    assert counted == {
        "batch-error-forms": True,
        "batch-zero-reasoning": False,
        "batch-inline-think-not-counted": True,
        "batch-duplicate-ids": True,
        "batch-list-content": True,
    }


def test_arguments_that_are_no_object_are_warned_of_and_not_quoted(caplog):
    with caplog.at_level(logging.WARNING):
        converted(CASES["args-malformed"])
    [record] = caplog.records
    assert "terminal" in record.getMessage()
    assert '"ls' not in record.getMessage()


def test_our_own_messages_are_written_with_pictures_as_their_mark():
    picture = Image("AAAA", "image/png")
    messages = [
        UserMessage((Text("what is this?"), picture)),
        AssistantMessage("", "look closer", (ToolCall("c1", "read_file", {"path": "a.png"}, provider_id="p"),)),
        ToolMessage("c1", "read_file", "a picture", images=(picture,)),
        AssistantMessage("A cat."),
    ]
    turns = to_sharegpt(map(to_dict, messages), [])
    assert [(turn["from"], turn["value"]) for turn in turns[1:]] == [
        ("human", "what is this?\n[screenshot]"),
        ("gpt", "<think>\nlook closer\n</think>\n" + call('{"path": "a.png"}', "read_file")),
        (
            "tool",
            response(
                "c1", '[{"type": "text", "text": "a picture"}, {"type": "text", "text": "[screenshot]"}]', "read_file"
            ),
        ),
        ("gpt", f"{EMPTY}A cat."),
    ]


def test_a_query_replaces_only_the_message_that_holds_it_as_lines_of_its_own():
    said = ["yes", "no, yes and no", "[context]\n\nyes\n\n[more]", "other"]
    turns = to_sharegpt([to_dict(user(text)) for text in said], None, "yes")
    assert [turn["value"] for turn in turns[1:]] == ["yes", "no, yes and no", "yes", "other"]


def test_the_schoolbook_case_of_the_scratchpad():
    text = "<REASONING_SCRATCHPAD>\na\n</REASONING_SCRATCHPAD>\nb"
    assert convert_scratchpad_to_think(text) == "<think>\na\n</think>\nb"
    assert convert_scratchpad_to_think("") == ""


def test_the_example_of_the_guide_makes_the_entry_that_it_shows(tmp_path):
    guide = (Path(__file__).parents[2] / "docs" / "trajectories.md").read_text("utf-8")
    [program, _] = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    [shown] = re.findall(r"```json\n(.*?)```", guide, re.DOTALL)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    [written] = [json.loads(line) for line in (tmp_path / "trajectory_samples.jsonl").read_bytes().splitlines()]
    shown = json.loads(shown)
    assert list(written) == list(shown)
    assert written["conversations"][1:] == shown["conversations"][1:]
    assert (written["model"], written["completed"]) == (shown["model"], shown["completed"])


CONVERSATION = [{"from": "system", "value": "s"}, {"from": "human", "value": "é\u2028\n"}]


def test_files_are_chosen_by_the_end_of_the_turn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert save_trajectory(CONVERSATION, "m", True, now=lambda: FROZEN) == Path("trajectory_samples.jsonl")
    save_trajectory(CONVERSATION, "m", False, now=lambda: FROZEN)
    assert (tmp_path / "failed_trajectories.jsonl").read_text("utf-8") == (
        '{"conversations": [{"from": "system", "value": "s"}, {"from": "human", "value": "é\u2028\\n"}], '
        '"timestamp": "2026-01-02T03:04:05.678901", "model": "m", "completed": false}\n'
    )


def test_the_timestamp_has_its_microseconds_when_they_are_none(tmp_path):
    path = save_trajectory(CONVERSATION, "m", True, tmp_path / "a", now=lambda: datetime(2026, 1, 2))
    assert json.loads(path.read_bytes())["timestamp"] == "2026-01-02T00:00:00.000000"
    path = save_trajectory(CONVERSATION, "m", True, tmp_path / "b")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}", json.loads(path.read_bytes())["timestamp"])


def test_a_torn_line_is_closed_and_not_glued_to(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_bytes(b'{"conversations": [{"fr')
    save_trajectory(CONVERSATION, "m", True, path)
    save_trajectory(CONVERSATION, "m", True, path)
    torn, *whole, end = path.read_bytes().split(b"\n")
    assert (torn, end) == (b'{"conversations": [{"fr', b"")
    assert [json.loads(line)["conversations"] for line in whole] == [CONVERSATION] * 2


def append_many(path, start, count):
    start.wait()
    for number in range(count):
        save_trajectory([{"from": "human", "value": str(number) * 20_000}], "m", True, path)


def test_processes_that_write_together_keep_each_line_whole(tmp_path):
    path = tmp_path / "out.jsonl"
    context = multiprocessing.get_context("spawn")
    start = context.Event()
    workers = [context.Process(target=append_many, args=(path, start, 20)) for _ in range(2)]
    for worker in workers:
        worker.start()
    start.set()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert sum(json.loads(line)["completed"] for line in path.read_bytes().splitlines()) == 40


def test_the_library_names_are_loaded_when_they_are_asked_for():
    program = (
        "import sys, hermes_acp; assert not [name for name in sys.modules if name.startswith('hermes_acp.')]; "
        "from hermes_acp import to_sharegpt, save_trajectory, convert_scratchpad_to_think; "
        "sys.exit(any(name.split('.')[0] in ('pydantic', 'openai', 'asyncio') for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hermes_acp.nothing
