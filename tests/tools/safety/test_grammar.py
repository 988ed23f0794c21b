"""Whatever is read of a line of shell is what real shells would read of it; the rest is opaque."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_acp.tools.safety.grammar import LONGEST, MOST_COMMANDS, CommandList, Opaque, read
from tests.tools.safety.cases import COMMANDS
from tests.tools.safety.shells import BUILTINS, PIECES, SHELLS, quoted

NAMES = [
    "prog",
    "a-b",
    "if",
    "done",
    "!",
    "{",
    "[[",
    "time",
    "A=b",
    "a b",
    "it's",
    "~",
    "*",
    "-x",
    "$x",
    "#",
    "=c",
    "für",
]
LINES = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map(" ".join) | st.lists(
    st.sampled_from(PIECES), max_size=10
).map("".join)


@pytest.mark.parametrize(
    ("line", "commands", "joints"),
    [
        ("ls", [("ls",)], []),
        (" ls  -la\tsrc \n", [("ls", "-la", "src")], []),
        ("a && b || c | d; e\nf;", [("a",), ("b",), ("c",), ("d",), ("e",), ("f",)], ["&&", "||", "|", ";", ";"]),
        ("a &&\n\n b |\n c", [("a",), ("b",), ("c",)], ["&&", "|"]),
        ("rg 'a  b' \"c d\" e'f'\"g\"", [("rg", "a  b", "c d", "efg")], []),
        (r"""grep "a\.b\"c\\d\$e" """, [("grep", r'a\.b"c\d$e')], []),
        ("git diff HEAD~1 HEAD^", [("git", "diff", "HEAD~1", "HEAD^")], []),
        ("echo '' \"\"", [("echo", "", "")], []),
        ("echo 'für' '▐'", [("echo", "für", "▐")], []),
    ],
)
def test_plain_words_quotes_and_joints_are_read(line, commands, joints):
    found = read(line)
    assert found == CommandList(tuple(commands), tuple(joints))
    assert read(found.text()) == found


@pytest.mark.parametrize(
    "line",
    [
        *("", "   ", "\n", ";", "&& a", "a &&", "a ;; b", "a | | b", "a & b", "a &", "a |& b", "a ||| b"),
        *("a > f", "a < f", "a 2>&1", "a <<E\nE", "a <<< b", "a >> f", "a >| f", "<(a)", "a <(b)"),
        *("$x", "a $x", 'a "$x"', "a $(b)", "a `b`", 'a "`b`"', "a ${x}", "$'a'", 'a $"b"', "a $((1))", "a '$x'\"$x\""),
        *("a *", "a ?", "a [x]", "a {b,c}", "{ a; }", "( a )", "a ~", "a ~/x", "a x=~", "~/a", "a b:~"),
        *("r\\m x", "a \\", "a \\\nb", "a \\*", 'a "b\\\nc"', "a 'b", 'a "b', "a 'b\"", "'"),
        *("A=b", "A=b c", "A+=b c", "! a", "if a", "for x in y", "while a", "time a", "[[ a ]]", "function f", "a() b"),
        *("a #b", "# a", "a\0b", "a\x01", "a\x7f", "a\x1b[2K", "a\rb", "a \u202eb", "a\u200b", "a '\u200b'", "a\ufeff"),
        *("r\uff4d x", "a '\uff4d'", "für", "a für", "a\u00a0b", "a '\u00a0'", "'a\ud800'", "'' a", "%1", "'%1'"),
    ],
)
def test_everything_else_is_opaque(line):
    with pytest.raises(Opaque):
        read(line)


def test_lines_have_a_limit():
    assert len(read("; ".join(["a"] * MOST_COMMANDS)).commands) == MOST_COMMANDS
    for line in ("; ".join(["a"] * (MOST_COMMANDS + 1)), "a " + "b" * LONGEST):
        with pytest.raises(Opaque):
            read(line)


def test_names_that_mean_something_to_a_shell_are_written_in_quotes():
    assert CommandList((("if", "if"), ("A=b", "A=b"), ("~",)), (";", "|")).text() == "'if' if; 'A=b' A=b | '~'"


@given(LINES)
@settings(max_examples=300, deadline=None)
def test_what_is_read_is_read_the_same_when_it_was_written_again(line):
    try:
        found = read(line)
    except Opaque:
        return
    assert read(found.text()) == found
    assert found.text().isprintable() or "\n" in line or "\t" in line


WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.lists(WORDS, max_size=4)), min_size=1, max_size=12))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_words_reach_a_program_as_they_are(tmp_path, commands):
    given_words = [(name, *others) for name, others in commands]
    line = CommandList(tuple(given_words), (";",) * (len(given_words) - 1)).text()
    for shell in SHELLS:
        assert ran(shell, [line], NAMES, tmp_path) == [sorted(given_words)]


def ran(shell, lines, names, folder):
    """For each line, the words that the programs which it started were given."""
    stubs, records = folder / "stubs", folder / "records"
    for made in (stubs, records):
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
    for name in names:
        (stubs / name).write_text('#!/bin/sh\nprintf "%s\\0" "${0##*/}" "$@" >"$RECORDS/$$"\n')
        (stubs / name).chmod(0o755)
    for number in range(len(lines)):
        (records / str(number)).mkdir()
    script = "".join(
        f"RECORDS='{records}/{number}'; export RECORDS\neval {quoted(' ' + line)}\n"
        for number, line in enumerate(lines)
    )
    env = {"PATH": str(stubs), "LC_ALL": "C.UTF-8"}
    path = shutil.which(shell)
    subprocess.run([path], input=script.encode(), env=env, cwd=folder, stderr=subprocess.DEVNULL, timeout=120)
    return [sorted(map(told, (records / str(number)).iterdir())) for number, _ in enumerate(lines)]


def told(file: Path):
    return tuple(file.read_bytes().decode().split("\0")[:-1])


def expected(found: CommandList):
    """What runs when every program succeeds: a command behind `||` does not, nor what it is piped into."""
    started, runs = [], True
    for joint, command in zip(("", *found.joints), found.commands, strict=True):
        runs = runs if joint == "|" else joint != "||"
        started += [command] if runs else []
    return sorted(started)


def mutants(count, seed):
    """Lines of shell, most of them broken in one place or two."""
    chance = random.Random(seed)
    seeds = [case["command"] for case in COMMANDS] + ["prog 'a b' | prog \"c\\d\" && prog x=1; prog HEAD~1\nprog ''"]
    for _ in range(count):
        line = list(chance.choice(seeds) if chance.random() < 0.5 else " ".join(chance.choices(PIECES[:16], k=4)))
        for _ in range(chance.randint(0, 3)):
            at = chance.randint(0, len(line))
            line[at : at + chance.randint(0, 2)] = chance.choice(PIECES)
        yield "".join(line)


def judged(lines):
    for line in lines:
        try:
            found = read(line)
        except Opaque:
            continue
        names = {command[0] for command in found.commands}
        if not names & BUILTINS and not any("/" in name for name in names):
            yield line, found, names


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("rewritten", [False, True])
def test_mutants_run_with_exactly_the_words_that_were_judged(shell, rewritten, tmp_path):
    count = max(5000, int(os.environ.get("HERMES_FUZZ_EXAMPLES", "0")))
    cases = list(judged(mutants(count, f"{shell} {rewritten}")))
    assert len(cases) > count // 10
    for start in range(0, len(cases), 200):
        batch = cases[start : start + 200]
        lines = [found.text() if rewritten else line for line, found, _ in batch]
        names = set().union(*(names for *_, names in batch))
        results = ran(shell, lines, names, tmp_path)
        for (line, found, _), result in zip(batch, results, strict=True):
            assert result == expected(found), line
