"""The heads of Markdown files as people write them, and as nobody should."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.front_matter import read_document


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Deploys the site", "Deploys the site"),
        ('"Deploys: \\"all\\" of it"', 'Deploys: "all" of it'),
        ("'It''s here'", "It's here"),
        ("Deploys the site # not to production", "Deploys the site"),
        ("Uses C# and F#", "Uses C# and F#"),
        ("time: 10:30", "time: 10:30"),
        (">\n  Deploys\n  the site.\n\n  Then rests.", "Deploys the site.\nThen rests."),
        ("|-\n  Deploys\n    the site", "Deploys\n  the site"),
        ("Deploys\n  the site", "Deploys the site"),
        ("", ""),
        ("[a, b]", "[a, b]"),
    ],
)
def test_a_field_is_read_as_it_is_meant(written, read):
    document = read_document(f"---\nname: x\ndescription: {written}\nother: y\n---\nBody\n")
    assert document.fields == {"name": "x", "description": read, "other": "y"}
    assert document.body == "Body"


def test_windows_line_ends_and_a_mark_of_byte_order_change_nothing():
    document = read_document("\ufeff---\r\nName: x\r\n---\r\nBody\r\nmore")
    assert (document.fields, document.body) == ({"name": "x"}, "Body\nmore")


@pytest.mark.parametrize("text", ["Just text", "---\nname: x\nno end", "text\n---\nname: x\n---", "----\nname: x\n---"])
def test_without_a_whole_head_all_is_body(text):
    document = read_document(text)
    assert (document.fields, document.body) == ({}, text)


def test_what_is_no_field_is_passed_over():
    document = read_document("---\n- item\n{{{\n: x\nname: a\nname: b\n\tname: c\n---\nBody")
    assert (document.fields, document.body) == ({"name": "a"}, "Body")


HEADS = st.text(alphabet="ab:-|>#'\"\\ \t\n[]{}&*!%@`", max_size=200)


@given(st.one_of(st.text(), HEADS.map(lambda head: f"---\n{head}\n---\nBody")))
def test_no_head_raises_or_loses_the_body(text):
    document = read_document(text)
    assert all(isinstance(value, str) for value in document.fields.values())
    if not text.startswith("---"):
        assert document.body == text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").strip()


def test_a_head_made_to_be_slow_is_read_soon():
    started = time.process_time()
    read_document("---\n" + "description: " + " \t#" * 30_000 + "\n---\n")
    read_document("---\n" + "a" * 100_000 + "\n" + "name:" + " " * 100_000 + "x\n---\n")
    assert time.process_time() - started < 1
