"""The examples of docs/library.md run as they stand, and print what stands below them."""

import re
from pathlib import Path

import pytest

from tests.fakes.model_server import Call, Say
from tests.library.conftest import KEY

PAGE = Path(__file__).parents[2] / "docs" / "library.md"
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```python$", re.MULTILINE)

ANSWERS = {
    "Which files are here?": [Say(calls=[Call("list_files", {})]), "There is one: main.py."],
    "Fix the bug in main.py": [
        Say(calls=[Call("patch", {"path": "main.py", "edits": [{"old_text": "1", "new_text": "0"}]})]),
        "Fixed: the sum begins at 0 now.",
    ],
    "What is it?": ["7"],
    "Are you sure?": ["Yes."],
    "Count to a million.": [Say(text=[f"{number} " for number in range(10_000)], token_delay=0.01)],
    "Just the first three.": ["1 2 3"],
    "Run main.py": [Say("I run it.", calls=[Call("terminal", {"command": "python3 main.py"})]), "It prints 6."],
}


def examples():
    text = PAGE.read_text("utf-8")
    found = EXAMPLE.findall(text)
    assert len(found) == len(BLOCK.findall(text)), "an example has no output"
    return found


def answer(body):
    """The next reply to the newest question, by how many results it has had."""
    question = max(at for at, message in enumerate(body["messages"]) if message["role"] == "user")
    results = len(body["messages"]) - question - 1
    return ANSWERS[body["messages"][question]["content"]][(results + 1) // 2]


@pytest.mark.parametrize(("program", "output"), examples(), ids=lambda text: text.splitlines()[-1][:40])
def test_an_example_prints_what_stands_below_it(program, output, model, project, monkeypatch, capsys):
    (project / "main.py").write_text("print(sum([1, 2, 3], 0))\n")
    monkeypatch.setenv("HERMES_ACP_BASE_URL", model.url)
    monkeypatch.setenv("HERMES_ACP_MODEL", "fake-model")
    monkeypatch.setenv("HERMES_ACP_API_KEY", KEY)
    model.script(answer)
    exec(compile(program.replace("http://127.0.0.1:11434/v1", model.url), str(PAGE), "exec"), {})
    assert capsys.readouterr().out == output
