"""What the rules read in the output of unittest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.agent.rules.report import Failure, Report, read_report

TESTS = """\
import unittest

class T(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(1 + 1, 3)

    def test_lists(self):
        self.assertEqual([1, 2], [1, 2, 3], "all of them")

    def test_raises(self):
        {}["key"]

    def test_passes(self):
        pass
"""


def run_unittest(folder: Path, text: str) -> str:
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-B", "-m", "unittest"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stderr


def failure_named(report: Report, name: str) -> Failure:
    return next(failure for failure in report.failures if failure.name == name)


def test_a_real_run_is_read_with_tests_places_and_values(tmp_path: Path) -> None:
    report = read_report(run_unittest(tmp_path, TESTS))
    assert report is not None
    assert report.ran == 4
    assert report.failing == {"test_it.T.test_equal", "test_it.T.test_lists", "test_it.T.test_raises"}
    equal = failure_named(report, "test_equal")
    assert (equal.error, equal.values()) == ("AssertionError", (2, 3))
    frame = equal.frames[-1]
    assert (frame.path, frame.line, frame.function) == (str(tmp_path / "test_it.py"), 5, "test_equal")
    assert frame.code == "self.assertEqual(1 + 1, 3)"
    assert failure_named(report, "test_lists").values() == ([1, 2], [1, 2, 3])
    assert failure_named(report, "test_raises").error == "KeyError"


def test_a_file_that_cannot_be_imported_is_known_as_such(tmp_path: Path) -> None:
    report = read_report(run_unittest(tmp_path, "import unittest\nfrom json import lods\n"))
    assert report is not None
    (failure,) = report.failures
    assert failure.is_import
    assert failure.is_about_a_name
    assert failure.message.startswith("cannot import name 'lods' from 'json'")


def test_passing_tests_leave_no_failures_and_no_tests_no_report(tmp_path: Path) -> None:
    passing = read_report(run_unittest(tmp_path, TESTS.replace("3)", "2)").replace('[1, 2, 3], "all', '[1, 2], "all')))
    assert passing is not None
    assert passing.failing == {"test_it.T.test_raises"}
    assert read_report("sh: 1: python: not found\n[exit code 127]") is None


def failing(*tests: str, error: str = "AssertionError", message: str = "1 != 2") -> Report:
    return Report(9, tuple(Failure(test, (), error, message) for test in tests))


def test_a_run_is_better_only_when_nothing_new_fails() -> None:
    assert failing("a").is_better_than(failing("a", "b"))
    assert failing().is_better_than(failing("a"))
    assert not failing("a").is_better_than(failing("a"))
    assert not failing("c").is_better_than(failing("a", "b"))


def test_a_run_is_better_when_it_gets_past_an_unknown_name_or_a_failed_import() -> None:
    unknown = failing("a", error="NameError", message="name 'x' is not defined")
    assert failing("a", message="1 != 2").is_better_than(unknown)
    assert not failing("a", "b", message="1 != 2").is_better_than(unknown)
    assert failing("test_it.T.a", "test_it.T.b").is_better_than(failing("unittest.loader._FailedTest.test_it"))


@given(st.text())
def test_no_output_makes_reading_fail(text: str) -> None:
    head = "=" * 70 + "\nFAIL: a (b.c)\n"
    for output in (
        text,
        f"{head}{text}\nRan 3 tests in 1s",
        f"{head}AssertionError: {text} != {text}\nRan 1 test in 0",
    ):
        report = read_report(output)
        for failure in report.failures if report else ():
            assert failure.test
            assert failure.values() is None or len(failure.values()) == 2
