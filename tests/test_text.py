"""Plain functions on text."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.text import clean, head_and_tail, plain, shorten, visible


@given(st.text(max_size=400), st.integers(60, 200))
def test_cutting_twice_is_cutting_once_and_never_longer_than_asked(text, limit):
    cut = head_and_tail(text, limit)
    assert len(cut) <= limit
    assert head_and_tail(cut, limit) == cut
    assert cut[:5] == text[:5]
    assert cut[-5:] == text[-5:]


@given(st.text(st.characters(), max_size=50))
def test_clean_text_can_be_written_as_utf8(text):
    assert clean(text).encode().decode() == clean(text)


def test_escape_codes_and_controls_are_taken_out():
    assert plain("\x1b[31mred\x1b[0m\x07 \x1b]0;title\x07plain\ttab\n") == "red plain\ttab\n"


def test_what_cannot_be_seen_is_written_out():
    shown = visible("rm \u202efdp.exe\u200b\x1b[8m")
    assert not any(character in shown for character in "\u202e\u200b\x1b")
    assert "rm " in shown


def test_a_short_text_stays_and_a_long_one_ends_in_an_ellipsis():
    assert shorten("abc", 3) == "abc"
    assert shorten("abcd", 3) == "ab…"
