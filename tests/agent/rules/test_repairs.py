"""The repairs that each rule offers, and the order they come in."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.rules.names import name_repairs
from hermes_acp.agent.rules.repairs import repairs
from hermes_acp.agent.rules.report import Failure, Frame
from hermes_acp.agent.rules.source import Function, Project, Source


def offered(text: str, message: str = "1 != 2", error: str = "AssertionError") -> list[str]:
    """The texts of a file after each repair of its functions."""
    source = Source("a.py", text)
    suspects = [Function(source, node) for node in source.functions]
    failure = Failure("t.T.test_it", (), error, message)
    return [repair.applied() for repair in repairs(suspects, failure)]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("return a < b", "return a <= b"),
        ("return a >= b", "return a > b"),
        ("return a == b", "return a != b"),
        ("return a > b", "return a < b"),
        ("return a in b", "return a not in b"),
        ("return a + b", "return a - b"),
        ("return (a) * (b)", "return (a) + (b)"),
        ("return a // b", "return a % b"),
        ("a += b\n    return a", "a -= b\n    return a"),
        ("return range(a, b)", "return range(a, b + 1)"),
        ("return range(len(a) - 1)", "return range(len(a))"),
        ("return a[1]", "return a[0]"),
        ("return a[1:]", "return a[:]"),
        ("return a[b:a - 1]", "return a[b:a]"),
        ("return min(a, b)", "return max(a, b)"),
        ("return a.ljust(b)", "return a.rjust(b)"),
        ("return a and b", "return a or b"),
        ("return not a", "return a"),
        ("return True", "return False"),
        ("for x in b:\n        a += x\n        return a", "for x in b:\n        a += x\n    return a"),
    ],
)
def test_common_slips_are_among_what_is_offered(wrong: str, right: str) -> None:
    head = "def f(a, b):\n    "
    assert f"{head}{right}\n" in offered(f"{head}{wrong}\n")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("a + b", "return a + b"),
        ("c = a + b", "c = a + b\n    return c"),
        ("c = []\n    for x in a:\n        c.append(x)", "c = []\n    for x in a:\n        c.append(x)\n    return c"),
    ],
)
def test_a_missing_return_comes_first_when_none_was_got(wrong: str, right: str) -> None:
    head = "def f(a, b):\n    "
    assert offered(f"{head}{wrong}\n", "None != 3")[0] == f"{head}{right}\n"
    assert f"{head}{right}\n" not in offered(f"{head}{wrong}\n", "2 != 3")


def test_the_sign_that_goes_the_right_way_is_tried_first() -> None:
    text = "def f(a, b):\n    return a + b\n"
    assert offered(text, "5 != 6")[0] == "def f(a, b):\n    return a * b\n"
    assert offered(text, "5 != 1")[0] == "def f(a, b):\n    return a - b\n"


def test_every_piece_is_tried_once_before_any_is_tried_again() -> None:
    first_two = offered("def f(a, b):\n    return a + b\n\ndef g(a, b):\n    return a + b\n", "5 != 1")[:2]
    assert first_two == [
        "def f(a, b):\n    return a - b\n\ndef g(a, b):\n    return a + b\n",
        "def f(a, b):\n    return a + b\n\ndef g(a, b):\n    return a - b\n",
    ]


def test_types_defaults_and_strings_are_left_alone() -> None:
    assert offered('def f(a: list[int] = [1]) -> dict[str, int]:\n    b: list[int]\n    return a["x > 1"]\n') == []


def test_columns_are_counted_in_characters_however_many_bytes_they_have() -> None:
    assert 'def f(a):\n    return "é💫" if a <= 1 else a\n' in offered('def f(a):\n    return "é💫" if a < 1 else a\n')


@given(st.text(max_size=60))
def test_what_is_offered_is_always_valid_and_a_change(text: str) -> None:
    body = ["c = " + repr(text), "if a[1:] < b + 1 and not c:", "    return range(a, b)", "return a - b"]
    source = "def f(a, b):\n" + "".join(f"    {line}\n" for line in body)
    changed = offered(source, f"{text} != 1")
    assert changed
    assert source not in changed
    assert len(set(changed)) == len(changed)
    for each in changed:
        ast.parse(each)


def test_an_unknown_name_is_put_right_by_what_python_suggests() -> None:
    project = Project({"shop/a.py": "def total(items):\n    return len(itms)\n"})
    frames = (Frame("/x/shop/a.py", 2, "total", "return len(itms)"),)
    failure = Failure("t.T.a", frames, "NameError", "name 'itms' is not defined. Did you mean: 'items'?")
    assert [repair.applied() for repair in name_repairs(project, failure)] == [
        "def total(items):\n    return len(items)\n"
    ]


def test_a_definition_with_another_spelling_than_the_test_is_renamed() -> None:
    project = Project({"a.py": "def dubble(x):\n    return 2 * x\n", "test_a.py": "from a import double\n"})
    frames = (Frame("/x/test_a.py", 1, "<module>", "from a import double"),)
    failure = Failure("t", frames, "ImportError", "cannot import name 'double' from 'a' (/x/a.py)")
    assert [repair.applied() for repair in name_repairs(project, failure)] == ["def double(x):\n    return 2 * x\n"]


def test_what_all_failing_tests_use_and_few_passing_ones_is_suspected_first() -> None:
    project = Project(
        {
            "a.py": "def f():\n    return g() + h()\n\ndef g():\n    return 1\n\ndef h():\n    return 2\n",
            "test_a.py": "def test_one():\n    f()\n\ndef test_two():\n    g()\n\ndef test_three():\n    h()\n",
        }
    )
    assert [suspect.name for suspect in project.suspects(frozenset({"m.test_one", "m.test_two"}))] == ["g", "f", "h"]
