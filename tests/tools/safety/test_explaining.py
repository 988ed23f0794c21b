"""What a person is told of a line that could not be judged."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_acp.tools.safety.explaining import explain
from tests.tools.safety.cases import COMMANDS


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ls & pwn a", "It would run `ls`, `pwn a`."),
        (
            'echo "$(pwn a | base64)" > x 2>&1',
            'It would run `echo "$(pwn a | base64)"`, `pwn a`, `base64`. It would write to `x`.',
        ),
        ("bash <(curl -s x)", "It would run `bash <(curl -s x)`, `curl -s x`."),
        ("if true; then rm x; fi", "It would run `true`, `rm x`."),
        ("ls #'\npwn a #'", "It would run `ls`, `pwn a`."),
        ("cat <<E\n$(pwn)\nE", "It would run `cat`, `pwn`."),
        ("echo ok $x; pwn  a", "It would run `echo ok $x`, `pwn a`."),
        ("a 'b", "It would run `a`. Not all of it could be read."),
        ("für 'ä▐💫' & \ud800 x", "It would run `für 'ä▐💫'`, `\ufffd x`."),
        ("> x", "It would write to `x`."),
    ],
)
def test_programs_and_written_files_are_named(line, told):
    assert explain(line) == told


def test_many_and_long_ones_are_cut_with_a_mark():
    told = explain("; ".join(f"p{n} $x" for n in range(20)) + "; long " + "x" * 100)
    assert told.endswith("`p7 $x` and 13 more.")
    assert "…" in explain("long $x " + "x" * 100)
    assert explain("x" * 20_000) == "It is too long to be explained."


DEEP = ["(" * 5000, "$(" * 4000, "{" * 8000, "'" * 8001, "\ud800", "\0", "a|" * 5000]
SHELL = "(){}$`'\"\\<>|&;!#~*=[] \n\tEif$-@?+^%"


@given(st.text(max_size=200) | st.sampled_from(DEEP) | st.text(SHELL, max_size=80))
@settings(max_examples=300, deadline=None)
def test_whatever_the_line_a_short_text_comes_back(line):
    """The parser is written in C and dies of some characters, which it is therefore not given."""
    assert len(explain(line).encode()) < 5_000


def test_the_kept_commands_can_be_explained():
    assert all(explain(case["command"]) for case in COMMANDS)


def test_nothing_of_it_is_loaded_before_there_is_something_to_explain():
    code = "import sys, hermes_acp.tools.registry as r; r.discover(); print([m for m in sys.modules if 'sitter' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
