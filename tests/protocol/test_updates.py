"""Events as updates: pure, safe and quick whatever a tool has written."""

import time

from hermes_acp.protocol.updates import text_content


def fence_of(text):
    [block] = text_content(text)
    return block["content"]["text"].split("\n", 1)[0]


def test_nothing_in_an_output_can_close_its_fence():
    assert fence_of("plain") == "```"
    assert fence_of("a\n```\nb") == "````"
    assert fence_of("   `````\n") == "``````"


def test_blank_lines_take_no_time_to_speak_of():
    began = time.process_time()
    text_content("a" + "\n" * 200_000 + "b" + " " * 200_000 + "\t" * 200_000)
    assert time.process_time() - began < 1
