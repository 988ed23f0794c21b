"""What the wider grammar of the mode `auto` judges is what real shells run: words, globs, files and here-documents."""

import glob
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hermes_acp.tools.safety.grammar import Opaque
from hermes_acp.tools.safety.wide import Line, Redirection, WideCommand, Word, read_wide
from tests.tools.safety.cases import COMMANDS
from tests.tools.safety.shells import BUILTINS, PIECES, SHELLS, quoted

FILES = ("one.txt", "two.txt", "-delete", "sub/three.txt", "sub/four.md", ".hidden", "a b")
WIDE = [
    *("> out", ">out", ">> out", "2> err", "2>&1", "1>&2", "&> out", "&>> out", "< one.txt", "< 'a b'", "> 'o ut'"),
    *(
        "*",
        "*.txt",
        "sub/*",
        "?ne.txt",
        "'*'",
        "s'u'b/*.md",
        "*'.t'xt",
        "{}",
        "x{}",
        "&",
        "& ",
        "3> x",
        "2>",
        ">|",
        "<>",
    ),
    *("<<'E'\nbody $x\nE", '<<"E"\n`x`\nE', "<<E\nx\nE", "<<-'E'\n\tx\n\tE", "> *", "> sub/*", "22> x", ">&2", "a2>b"),
]
TARGET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]*")
STUB = r"""#!/bin/sh
printf '%s\0' "${0##*/}" "$@" >"$RECORDS/$$"
echo "$@"
echo error >&2
"""


@pytest.mark.parametrize(
    "line",
    [
        *(
            "a > *",
            "a >",
            "a > $x",
            "* x",
            "a & & b",
            "a &| b",
            "> f",
            "A=b c > f",
            "a <<E\nE",
            "a <<-'E'\nE",
            "a < <(b)",
        ),
        *("a <<'E'\nx", "a <<'E'\nE\nb", "a \"<<'E'\"\nb\nE", "a << 'E'\nE", "a 'x' > y <<'E' <<'F'\nE\nF", "a >& f"),
        *("für > f", "\\a > f", "~/a > f", "a [x] > f", "a > f\0", "if > f", "! a > f", "a ; ; b > f", "%1 > f"),
    ],
)
def test_what_it_does_not_know_is_opaque(line):
    with pytest.raises(Opaque):
        read_wide(line)


def mutants(count, seed):
    """Lines of shell with redirections and globs, most of them broken in one place or two."""
    chance = random.Random(seed)
    seeds = [case["command"] for case in COMMANDS] + ["prog > out 2>&1", "prog *.txt | prog < one.txt && a-b sub/* &"]
    for _ in range(count):
        plain = " ".join(["prog", *chance.choices(PIECES[:20] + WIDE, k=chance.randint(1, 5))])
        line = list(chance.choice(seeds) if chance.random() < 0.3 else plain)
        for _ in range(chance.randint(0, 3)):
            at = chance.randint(0, len(line))
            line[at : at + chance.randint(0, 2)] = chance.choice(PIECES + WIDE)
        yield "".join(line)


def writes(redirection: Redirection) -> bool:
    return ">" in redirection.operator and redirection.target is not None


def playable(line: Line) -> bool:
    """Whether it can be said what comes of it: programs that a stub can stand for, files that are there or plain new
    ones, and no file that a glob might meet."""
    names = {command.texts[0] for command in line.commands}
    targets = [each for command in line.commands for each in command.redirections if each.target is not None]
    reading = all(each.target.text in FILES for each in targets if not writes(each))
    writing = [each.target.text for each in targets if writes(each)]
    named = all(TARGET.fullmatch(text) and text not in ("sub", *FILES) for text in writing)
    globbing = any(not command.is_plain for command in line.commands)
    return (
        not names & BUILTINS
        and not any("/" in name for name in names)
        and reading
        and named
        and not (globbing and writing)
    )


def expected(line: Line, folder: Path):
    """The words that each program is given, and the files that are made, when every program succeeds."""
    started, made, runs = [], set(), True
    for joint, command in zip(["", *line.joints], line.commands, strict=False):
        runs = runs if joint == "|" else joint != "||"
        if runs:
            started.append(tuple(text for word in command.words for text in expanded(word, folder)))
            made |= {each.target.text for each in command.redirections if writes(each)}
    return sorted(started), made


def expanded(word: Word, folder: Path) -> list[str]:
    if not word.is_glob:
        return [word.text]
    pattern = "".join(text if is_glob else glob.escape(text) for text, is_glob in word.pieces)
    prefix = "./" if word.pieces[0][1] else ""
    return [prefix + name for name in sorted(glob.glob(pattern, root_dir=folder))] or [prefix + word.text]


def lay(folder: Path):
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


def ran(shell, lines, names, root: Path):
    """For each line, the words that the programs which it started were given, and the files that it made with what
    they hold."""
    for part in ("stubs", "records", "places"):
        shutil.rmtree(root / part, ignore_errors=True)
        (root / part).mkdir()
    for name in names:
        (root / "stubs" / name).write_text(STUB)
        (root / "stubs" / name).chmod(0o755)
    script = []
    for number, line in enumerate(lines):
        (root / "records" / str(number)).mkdir()
        lay(root / "places" / str(number))
        script.append(
            f"cd {quoted(str(root / 'places' / str(number)))}\n"
            f"RECORDS={quoted(str(root / 'records' / str(number)))}; export RECORDS\n"
            f"eval {quoted(' ' + line)} </dev/null >/dev/null 2>&1\nwait\n"
        )
    env = {"PATH": str(root / "stubs"), "LC_ALL": "C"}
    subprocess.run(
        [shutil.which(shell)], input="".join(script).encode(), env=env, stderr=subprocess.DEVNULL, timeout=120
    )
    for number in range(len(lines)):
        records, place = root / "records" / str(number), root / "places" / str(number)
        told = sorted(tuple(each.read_bytes().decode().split("\0")[:-1]) for each in records.iterdir())
        there = {str(Path(at, name).relative_to(place)) for at, _, found in os.walk(place) for name in found}
        yield told, {name: (place / name).read_text() for name in there - set(FILES)}


@pytest.mark.slow
def test_mutants_run_with_exactly_what_was_judged(tmp_path):
    """The words, the files, and in both shells the same in each file, unless two programs write at once."""
    count = max(5000, int(os.environ.get("HERMES_FUZZ_EXAMPLES", "0")))
    lay(tmp_path / "known")
    cases = []
    for text in mutants(count, 1):
        try:
            line = read_wide(text)
        except Opaque:
            continue
        if playable(line):
            cases.append((text, line))
    assert len(cases) > count // 20
    assert sum(any(command.redirections for command in line.commands) for _, line in cases) > count // 100
    assert sum(any(not command.is_plain for command in line.commands) for _, line in cases) > count // 100
    for start in range(0, len(cases), 200):
        batch = cases[start : start + 200]
        names = {command.texts[0] for _, line in batch for command in line.commands}
        results = [list(ran(shell, [line.text() for _, line in batch], names, tmp_path)) for shell in SHELLS]
        for (text, line), *found in zip(batch, *results, strict=True):
            for told, made in found:
                assert (told, set(made)) == expected(line, tmp_path / "known"), (text, line.text())
            if not {"&", "|"} & set(line.joints):
                assert all(each == found[0] for each in found), (text, line.text())


def test_what_is_read_is_read_the_same_when_it_was_written_again():
    for text in mutants(5000, "again"):
        try:
            written = read_wide(text).text()
        except Opaque:
            continue
        assert read_wide(written).text() == written, text


@pytest.mark.parametrize("shell", SHELLS)
def test_a_here_document_comes_as_it_stands_and_both_outputs_go_into_the_file(shell, tmp_path):
    line = read_wide("cat <<'E' &> out\n$x `y` \\\n*\nE").text()
    subprocess.run([shell, "-c", line], cwd=tmp_path, check=True)
    assert (tmp_path / "out").read_text() == "$x `y` \\\n*\n"


def test_words_are_replaced_and_redirections_stay():
    command = WideCommand((Word((("a", False),)),), (Redirection(">", Word((("o ut", False),))),))
    line = Line([command.with_words(["/bin/a", "b c"])], [""])
    assert line.text() == "/bin/a 'b c' > 'o ut'"
