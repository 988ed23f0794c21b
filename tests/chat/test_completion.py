"""Commands and files that are completed."""

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from hermes_acp.chat.completion import Offer, Typing


@pytest.fixture
def complete(tmp_path):
    (tmp_path / "src").mkdir()
    for name in ("main.py", "a name.md", ".env", "src/mend.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "zoo of files").mkdir()
    (tmp_path / "zoo of files" / "b.txt").write_text("")
    typing = Typing(lambda: [Offer("help", "Show"), Offer("model", "Choose")], lambda: tmp_path)

    def complete(text):
        document = Document(text)
        return [
            text[: len(text) + each.start_position] + each.text
            for each in typing.get_completions(document, CompleteEvent())
        ]

    return complete


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("/", ["/help", "/model"]),
        ("/mo", ["/model"]),
        ("see /mo", []),
        ("/model x", []),
        ("@", ['@"a name.md"', "@main.py", "@src/", '@"zoo of files/']),
        ('@"zoo of files/', ['@"zoo of files/b.txt"']),
        ("read @ma", ["read @main.py"]),
        ("@MA", ["@main.py"]),
        ("@src/", ["@src/mend.py"]),
        ('@"a n', ['@"a name.md"']),
        ("@.e", ["@.env"]),
        ("me@ma", []),
        ("@missing/", []),
    ],
)
def test_what_is_typed_is_completed(complete, typed, completed):
    assert complete(typed) == completed
