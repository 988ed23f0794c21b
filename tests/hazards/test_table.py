"""The table of hazards is whole: every row is held by tests that exist, and every test here has its row."""

import ast
import re
from itertools import groupby
from pathlib import Path

TESTS = Path(__file__).parent.parent
ROW = re.compile(r"^\| ([A-Z])(\d+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = ROW.findall((TESTS.parent / "docs" / "hazards.md").read_text(encoding="utf-8"))
HELD = {f"{letter}{number}": tests for letter, number, *_, tests in ROWS}


def named_hazards():
    """The hazards in the names of the tests, by the file of the test."""
    for path in TESTS.rglob("test_*.py"):
        if path.parent.name in ("conformance", "security"):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (
                found := re.match(r"test_([a-z]\d+)_", node.name)
            ):
                yield path.relative_to(TESTS), found[1].upper()


def test_each_letter_counts_from_one():
    counted = {letter: [int(number) for _, number, *_ in rows] for letter, rows in groupby(ROWS, lambda row: row[0])}
    assert len(counted) > 15
    assert counted == {letter: list(range(1, len(numbers) + 1)) for letter, numbers in counted.items()}


def test_every_row_names_tests_that_exist():
    held = {hazard: re.findall(r"`([\w/.]+)`", tests) for hazard, tests in HELD.items()}
    assert [hazard for hazard, places in held.items() if not places] == []
    assert [place for places in held.values() for place in places if not (TESTS / place).exists()] == []


def test_every_test_that_is_named_for_a_hazard_stands_in_its_row():
    named = set(named_hazards())
    assert len(named) > 60
    assert {(str(path), hazard) for path, hazard in named if str(path) not in HELD.get(hazard, "")} == set()
