"""What is kept of a tool's doings is bounded, and says what it leaves out."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.agent.abridging import KEPT_OF_DIFF, REPLAYED_PICTURES, for_replay, for_transcript
from hermes_acp.agent.store.codec import encode_event
from hermes_acp.cards import SHOWN_CHARACTERS, Diff, ToolResult
from hermes_acp.events import TextDelta, ToolFinished, ToolPrepared, UserPrompted
from hermes_acp.messages import Image, Text, UserMessage
from tests.agent.store.strategies import events


def finished(text, call_id="c", **more):
    return ToolFinished(call_id, "terminal", ToolResult(text, **more))


def prepared(arguments=None, call_id="c", diffs=()):
    return ToolPrepared(call_id, "write_file", "edit", "Write", arguments or {}, diffs=diffs)


def numbered(count):
    return "".join(f"line {number}\n" for number in range(count))


@given(st.lists(events, max_size=8))
@settings(max_examples=50)
def test_what_fits_stays_as_it_is(shown):
    ended = {event.call_id for event in shown if isinstance(event, ToolFinished)}
    for event, kept in zip(shown, for_replay(shown), strict=True):
        if not isinstance(event, ToolPrepared) or event.call_id not in ended:
            assert kept == event


def test_a_long_output_keeps_both_ends_and_a_note():
    kept = for_transcript(finished("BEGIN" + "x" * 1_000_000 + "END"))
    assert len(kept.result.text) < SHOWN_CHARACTERS + 100
    assert kept.result.text.startswith("BEGIN")
    assert kept.result.text.endswith("END")
    assert "characters left out" in kept.result.text


def test_of_a_large_file_the_lines_around_the_change_are_kept():
    lines = numbered(100_000).splitlines(keepends=True)
    changed = [*lines[:50_000], "something else\n", *lines[50_001:]]
    diff = Diff("/p/a", "".join(lines), "".join(changed))
    [kept] = for_transcript(prepared(diffs=(diff,))).diffs
    assert kept.old_text == "".join(lines[49_997:50_004])
    assert kept.new_text == "".join(changed[49_997:50_004])


def test_lines_put_in_or_taken_out_at_either_end_are_kept():
    long = numbered(20_000)
    for old, new in (
        (long, "first\n" + long),
        (long, long + "last\n"),
        ("first\n" + long, long),
        (long + "last", long),
    ):
        [kept] = for_transcript(finished("", diffs=(Diff("/p/a", old, new),))).result.diffs
        assert len(kept.old_text) + len(kept.new_text) < 200
        longer = max(kept.old_text, kept.new_text, key=len)
        assert ("first" in longer) or ("last" in longer)


def test_a_change_of_everything_keeps_both_ends_of_both_sides():
    [kept] = for_transcript(prepared(diffs=(Diff("/p/a", "old\n" * 200_000, "new\n" * 200_000),))).diffs
    assert len(kept.old_text) < KEPT_OF_DIFF + 100
    assert len(kept.new_text) < KEPT_OF_DIFF + 100
    assert "left out" in kept.old_text
    [new] = for_transcript(prepared(diffs=(Diff("/p/a", None, "new\n" * 200_000),))).diffs
    assert new.old_text is None
    assert "left out" in new.new_text


def test_long_arguments_are_cut_whatever_their_form():
    kept = for_transcript(prepared({"path": "a", "content": "x" * 1_000_000})).arguments
    assert kept["path"] == "a"
    assert len(json.dumps(kept)) < 2 * SHOWN_CHARACTERS
    odd = for_transcript(prepared({"edits": [{"text": "x" * 1000}] * 1000})).arguments
    assert len(json.dumps(odd)) < 2 * SHOWN_CHARACTERS


def size(shown):
    return sum(len(encode_event(event)[1]) for event in shown)


def test_a_session_of_long_cards_is_replayed_within_a_bound():
    shown = []
    for number in range(2000):
        shown += [prepared({"content": "y" * 9_000}, str(number)), finished("z" * 16_000, str(number))]
    assert size(for_replay(shown, 1_000_000)) < 2_000_000


def test_short_cards_are_not_cut_because_of_long_ones():
    shown = [finished("short " * 20, str(number)) for number in range(100)] + [finished("x" * 50_000, "long")] * 100
    replayed = list(for_replay(shown, 200_000))
    assert replayed[:100] == shown[:100]
    assert all("left out" in event.result.text for event in replayed[100:])


def test_words_are_never_cut():
    shown = [TextDelta("w" * 1_000_000, "m"), finished("x" * 50_000)]
    assert next(iter(for_replay(shown, 1_000))) == shown[0]


def test_an_ended_card_shows_its_diff_once_and_an_open_one_its_proposal():
    diff = Diff("/p/a", "old", "new")
    shown = [
        prepared(call_id="1", diffs=(diff,)),
        finished("", "1", diffs=(diff,)),
        prepared(call_id="2", diffs=(diff,)),
    ]
    first, second, third = for_replay(shown)
    assert first.diffs == ()
    assert second == shown[1]
    assert third == shown[2]


def test_of_many_pictures_the_newest_are_shown_again_and_the_others_named():
    heavy = Image("x" * (REPLAYED_PICTURES // 3), "image/png")
    prompts = [UserPrompted(UserMessage((Text(str(number)), heavy)), f"msg_{number}") for number in range(5)]
    replayed = list(for_replay([*prompts, UserPrompted(UserMessage((Text("last"),)), "msg_5")]))
    shown = [[type(part) for part in event.message.parts] for event in replayed]
    assert shown == [[Text, Text]] * 2 + [[Text, Image]] * 3 + [[Text]]
    assert replayed[0].message.text == "0\n\n[A picture (image/png), not shown again.]"
