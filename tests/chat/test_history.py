"""What was typed before, and who can read it."""

import os

from hermes_acp.chat import history
from hermes_acp.chat.history import TypedHistory


def test_it_comes_back_in_order_with_its_lines(tmp_path):
    path = tmp_path / "state" / "history"
    for text in ("one", "two\nlines", "ü \ud800"):
        TypedHistory(path).store_string(text)
    assert list(TypedHistory(path).load_history_strings()) == ["ü \ufffd", "two\nlines", "one"]


def test_only_its_owner_can_read_it_whatever_it_was_before(tmp_path):
    path = tmp_path / "history"
    path.write_text("")
    os.chmod(path, 0o644)
    TypedHistory(path).store_string("secret")
    assert path.stat().st_mode & 0o777 == 0o600


def test_it_does_not_grow_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(history, "MOST_BYTES", 1_000)
    path = tmp_path / "history"
    for number in range(500):
        TypedHistory(path).store_string(f"entry {number}")
    assert path.stat().st_size < 3_000
    assert next(iter(TypedHistory(path).load_history_strings())) == "entry 499"


def test_a_file_that_cannot_be_used_stops_nothing(tmp_path):
    (tmp_path / "history").mkdir()
    broken = tmp_path / "broken"
    broken.write_bytes(b'\xff\n{"a"\n"kept"\n7\n')
    TypedHistory(tmp_path / "history").store_string("x")
    assert list(TypedHistory(tmp_path / "history").load_history_strings()) == []
    assert list(TypedHistory(broken).load_history_strings()) == ["kept"]
    assert list(TypedHistory(None).load_history_strings()) == []
