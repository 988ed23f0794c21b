"""The check of files: what it accepts, and the line and words of each fault."""

import json
from pathlib import Path

import pytest

from hermes_acp.agent.sharegpt.checking import find_faults
from hermes_acp.agent.trajectory import to_sharegpt

CASES = (Path(__file__).parents[1] / "data" / "trajectory_cases.jsonl").read_text("utf-8").split("\n")
STAMP = "2026-01-02T03:04:05.678901"
CALLED = '<think>\n</think>\n<tool_call>\n{"name": "t", "arguments": {}}\n</tool_call>'
ANSWERED = '<tool_response>\n{"tool_call_id": "a", "name": "t", "content": ""}\n</tool_response>'


def entry(*turns, **changes):
    conversation = to_sharegpt([{"role": "user", "content": "q"}], None)
    conversation += [{"from": speaker, "value": value} for speaker, value in turns]
    return {"conversations": conversation, "timestamp": STAMP, "model": "m", "completed": True, **changes}


def batch(**changes):
    zero = {"count": 0, "success": 0, "failure": 0}
    return {
        "prompt_index": 0,
        "conversations": entry(("gpt", "<think>\n</think>\na"))["conversations"],
        "metadata": {"difficulty": "hard", "batch_num": 1, "timestamp": STAMP, "model": "m"},
        "completed": True,
        "partial": False,
        "api_calls": 1,
        "toolsets_used": [],
        "tool_stats": {"terminal": zero},
        "tool_error_counts": {"terminal": 0},
        **changes,
    }


def line(value):
    return json.dumps(value, ensure_ascii=False).encode("utf-8") + b"\n"


def faults(*lines):
    return [(fault.line, fault.text) for fault in find_faults(lines)]


@pytest.mark.parametrize("judged", ["ok", "weak", "bug"])
def test_every_conversation_that_is_made_of_the_cases_is_right(judged):
    cases = [case for case in (json.loads(text) for text in CASES if text) if case["judged"] == judged]
    assert cases
    lines = [line(entry() | {"conversations": to_sharegpt(case["messages"], case.get("tools"))}) for case in cases]
    assert faults(*lines) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("args-contains-think", "conversations[2]: there is no <think> block"),
        ("plain-mentions-think-in-prose", "conversations[2]: its <think> block is not closed"),
        ("plain-scratchpad-unclosed", "conversations[2]: its <think> block is not closed"),
        ("plain-both-reasoning-and-scratchpad", "conversations[2]: there are two <think> blocks"),
        ("args-null", "conversations[2]: a <tool_call> has arguments that are no object"),
        ("args-nan", "conversations[2]: a <tool_call> holds no strict JSON: NaN is not JSON"),
        ("content-json-nan", "conversations[3]: a <tool_response> holds no strict JSON: NaN is not JSON"),
    ],
)
def test_known_faults_of_files_made_elsewhere_are_found(name, text):
    [case] = [case for case in (json.loads(text) for text in CASES if text) if case["id"] == name]
    assert (1, text) in faults(line(entry() | {"conversations": case["expected"]}))


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", "not strict JSON: Expecting value: line 1 column 1 (char 0)"),
        (b"{", "not strict JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (b"[]", "not an object"),
        (b'{"a": NaN}', "not strict JSON: NaN is not JSON"),
        (b'{"a": 1, "a": 2}', "not strict JSON: an object has a key twice"),
        (b'{"a": "\xff"}', "not UTF-8: byte 8 of the line"),
        (b"{}\r", "the line ends in CR LF, not LF"),
        (b"[" * 100_000, "not usable: nested too deeply"),
        (b'{"a": ' + b"[" * 200 + b"]" * 200 + b"}", "not usable: nested too deeply"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(raw, text):
    good = line(entry(("gpt", "<think>\n</think>")))
    assert faults(good, raw + b"\n", good) == [(2, text)]


def test_a_last_line_that_was_cut_off_is_named():
    whole = line(entry(("gpt", "<think>\n</think>")))
    assert faults(whole, whole[:-1]) == [(2, "the line is not ended: the file was cut off here")]


@pytest.mark.parametrize(
    ("turns", "text"),
    [
        ([("tool", ANSWERED)], "conversations[2]: a tool turn after human; only gpt calls tools"),
        (
            [("gpt", "<think>\n</think>"), ("tool", ANSWERED)],
            "conversations[3]: results stand after a turn that called nothing",
        ),
        ([("system", "\n<tools>\n[]\n</tools>\n")], "conversations[2]: a second system turn"),
        ([("user", "q")], "conversations[2]: from must be one of system, human, gpt, tool"),
        ([("gpt", None)], "conversations[2]: value must be a text"),
        (
            [("gpt", CALLED), ("tool", "")],
            "conversations[3]: a tool turn must hold <tool_response> blocks and nothing else",
        ),
        (
            [("gpt", CALLED), ("tool", ANSWERED + "\nx")],
            "conversations[3]: a tool turn must hold <tool_response> blocks and nothing else",
        ),
        ([("gpt", CALLED + "\n</tool_call>")], "conversations[2]: a </tool_call> closes nothing"),
        (
            [("gpt", "<think>\n</think>\n<tool_call>\n{}")],
            "conversations[2]: a <tool_call> is not closed two lines further on",
        ),
        (
            [("gpt", CALLED.replace("{}", "{}, 1"))],
            "conversations[2]: a <tool_call> holds no strict JSON: "
            "Expecting property name enclosed in double quotes: line 1 column 32 (char 31)",
        ),
        (
            [("gpt", CALLED.replace('"name": "t", ', ""))],
            "conversations[2]: a <tool_call> must hold name, arguments in this order, not arguments",
        ),
    ],
)
def test_a_turn_out_of_order_or_form_is_named(turns, text):
    assert (1, text) in faults(line(entry(*turns)))


def test_keys_types_and_timestamps_are_checked():
    good = entry(("gpt", "<think>\n</think>"))
    assert faults(line({**good, "timestamp": "2026-01-02T03:04:05"})) == [
        (1, "timestamp: must be local time with microseconds, such as 2026-03-30T14:22:31.456789")
    ]
    assert faults(line({**good, "completed": 1})) == [(1, "completed: must be true or false")]
    swapped = {"model": "m", **good}
    assert faults(line(swapped)) == [
        (
            1,
            "the keys must be conversations, timestamp, model, completed in this order, "
            "not model, conversations, timestamp, completed",
        )
    ]
    assert faults(line({**good, "conversations": []})) == [
        (1, "conversations: must begin with system, human, not nothing")
    ]
    other = [{"from": "system", "value": "be brief"}, *good["conversations"][1:]]
    assert faults(line({**good, "conversations": other})) == [(1, "conversations[0]: there is no <tools> block")]


def test_batch_entries_of_one_schema_are_right():
    assert (
        faults(line(batch()), line(batch(prompt_index=1, metadata={**batch()["metadata"], "difficulty": None}))) == []
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"metadata": {**batch()["metadata"], "difficulty": 3}},
            "metadata.difficulty: is a whole number, but a text in line 1",
        ),
        ({"tool_stats": {}}, "tool_stats: has other fields than in line 1 (terminal)"),
        ({"api_calls": 2**63}, "api_calls: is a number of more than 64 bits"),
        ({"toolsets_used": ["a", 1]}, "toolsets_used[]: is a whole number, but a text in line 2"),
        (
            {"tool_error_counts": {"terminal": 0.5}},
            "tool_error_counts.terminal: is a fraction, but a whole number in line 1",
        ),
    ],
)
def test_what_has_no_one_schema_is_named_with_both_lines(changes, text):
    assert faults(line(batch()), line(batch(**changes))) == [(2, text)]
