"""The table of duties names tests that exist, and leaves no line out."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent.parent
TABLE = TESTS.parent / "docs" / "conformance.md"
ROW = re.compile(r"^\| (\d+) ([MSP]) \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = ROW.findall(TABLE.read_text(encoding="utf-8"))


def functions(path):
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_line_has_its_row():
    assert [int(number) for number, kind, *_ in ROWS if (number, kind) not in (("22", "P"), ("53", "P"))] == list(
        range(1, 75)
    )
    assert len(ROWS) == 76


def test_every_test_that_is_named_exists():
    named = {reference for *_, held in ROWS for reference in re.findall(r"`([^`]+\.py)::(test_\w+)`", held)}
    assert len(named) > 70
    assert {(path, name) for path, name in named if name not in functions(path)} == set()


def test_every_row_names_a_test_or_what_it_waits_for():
    assert [number for number, *_, held in ROWS if "::test_" not in held and "waits for" not in held] == []


def test_every_test_of_the_suite_has_its_row():
    held = " ".join(row[-1] for row in ROWS)
    suite = {name for path in Path(__file__).parent.glob("test_*.py") for name in functions(path.relative_to(TESTS))}
    assert [name for name in suite if re.match(r"test_\d\d_", name) and name not in held] == []
