"""Reasoning in a text: what is a block, what only speaks of one, and where it goes."""

import time

import pytest

from hermes_acp.agent.sharegpt.thinking import find_blocks, split_thinking

EMPTY = "<think>\n</think>\n"


@pytest.mark.parametrize(
    ("text", "front", "rest"),
    [
        ("plain", EMPTY, "plain"),
        ("<think>a</think>b", "", "<think>a</think>b"),
        ("<THINKING>a</THINKING>\nb", "", "<think>\na\n</think>\nb"),
        ("b\n<reasoning>a</reasoning>\nc", "", "b\n<think>\na\n</think>\nc"),
        ("so <REASONING_SCRATCHPAD>a</REASONING_SCRATCHPAD> b", "", "so <think>a</think> b"),
        ("<think>a</think>\n<think>b</think>\nc", "<think>\na\nb\n</think>\n", "c"),
        ("<think>a</think>x\n<thought>b</thought>y", "<think>\na\nb\n</think>\n", "x\ny"),
        ("<think>\n\n</think>\n\nc", EMPTY, "c"),
        ("<think>\ncut off", "", "<think>\ncut off\n</think>"),
        ("<think>", EMPTY, ""),
        ("use <think> and </think> here", EMPTY, "use <think> and </think> here"),
        (
            "`<REASONING_SCRATCHPAD>` a</REASONING_SCRATCHPAD>",
            EMPTY,
            "`<REASONING_SCRATCHPAD>` a</REASONING_SCRATCHPAD>",
        ),
        ("```\n<think>\na\n</think>\n```", EMPTY, "```\n<think>\na\n</think>\n```"),
        ("<think> is a tag", EMPTY, "<think> is a tag"),
        ("<thinking>say </think></thinking>", "", "<think>\nsay &lt;/think>\n</think>"),
    ],
)
def test_one_block_in_its_place_and_more_in_front(text, front, rest):
    assert split_thinking(text, "") == (front, rest)


@pytest.mark.parametrize(
    ("text", "front", "rest"),
    [
        ("b", "<think>\nn\n</think>\n", "b"),
        ("  b\n\n", "<think>\nn\n</think>\n", "  b\n\n"),
        ("<think>n</think>\nb", "<think>\nn\n</think>\n", "b"),
        ("<think>a</think>\nb", "<think>\nn\na\n</think>\n", "b"),
        (
            "<th<REASONING_SCRATCHPAD>a</REASONING_SCRATCHPAD>ink>x</think>",
            "<think>\nn\na\n</think>\n",
            "<th\nink>x</think>",
        ),
    ],
)
def test_native_reasoning_comes_first_and_once(text, front, rest):
    assert split_thinking(text, "n") == (front, rest)


@pytest.mark.parametrize(
    "text", ["<think>\n", "x<think>", "<th", "\n ", "x\n<thinking>", "<reasoning_scratchpad>", "```\n"]
)
def test_a_megabyte_of_tags_is_read_at_once(text):
    started = time.process_time()
    find_blocks("a" + text * (1_000_000 // len(text)))
    assert time.process_time() - started < 1.5
