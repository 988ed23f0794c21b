"""Commands of the model: run as judged, told as they ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_acp.errors import ToolError
from hermes_acp.local.workspace import LocalWorkspace
from hermes_acp.tools.base import ToolContext
from hermes_acp.tools.registry import discover
from hermes_acp.workspace import Command, Completed, Show
from tests.tools.conftest import Call, Prepare


@pytest.mark.parametrize(
    ("command", "text", "code"),
    [
        ("echo out; echo err >&2", "out\nerr\n[exit code 0]", 0),
        ("true", "(no output)\n[exit code 0]", 0),
        ("echo bad; exit 3", "bad\n[exit code 3]", 3),
        ("kill -9 $$", "(no output)\n[killed by signal 9 (SIGKILL)]", -9),
        ("cat \\\n  README.md | head -n 1\n", "hello\n[exit code 0]", 0),
    ],
)
async def test_output_and_end_are_told(call: Call, folder: Path, command: str, text: str, code: int) -> None:
    (folder / "README.md").write_text("hello\nworld\n")
    result = await call("terminal", command=command)
    assert (result.text, result.raw, result.is_error) == (text, {"exit_code": code}, code != 0)


async def test_a_timeout_is_told_with_what_was_written(call: Call) -> None:
    result = await call("terminal", command="echo begun; sleep 300", timeout="1")
    assert result.text.startswith("begun\n[stopped after 1 seconds")
    assert result.is_error
    assert result.raw is not None
    assert result.raw["timed_out"] is True


async def test_output_is_shown_while_it_runs(call: Call) -> None:
    shown: list[str] = []
    await call("terminal", shown.append, command="echo one; sleep 0.3; echo two")
    assert shown == ["one\n", "one\ntwo\n"]


async def test_nothing_is_run_before_it_was_judged_and_what_runs_is_what_was_judged(
    prepare: Prepare, folder: Path
) -> None:
    action = await prepare("terminal", command=" touch ran\n")
    assert (action.effect, action.command) == ("execute", "touch ran")
    assert not (folder / "ran").exists()
    await action.run()
    assert (folder / "ran").exists()


@pytest.mark.parametrize(("command", "reason"), [("", "blank"), (" \n\t", "blank"), ("ls\0; pwn a", "NUL")])
async def test_a_command_that_cannot_be_meant_is_refused(prepare: Prepare, command: str, reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        await prepare("terminal", command=command)


async def test_the_title_is_the_command_with_nothing_hidden(prepare: Prepare) -> None:
    assert (await prepare("terminal", command="ls -la src")).title == "ls -la src"
    assert (await prepare("terminal", command="ls\npwn a")).title == "ls ⏎ pwn a"
    title = (await prepare("terminal", command="echo ok \u202e\u200b\x1b[2K; pwn a")).title
    assert title == r"echo ok \u{202e}\u{200b}\u{1b}[2K; pwn a"
    padded = (await prepare("terminal", command="ls" + " " * 3000 + "; pwn a")).title
    assert padded.endswith("; pwn a")
    assert "…" in padded
    assert len(padded) <= 200


async def test_binary_output_reaches_the_model_as_valid_text(call: Call) -> None:
    text = (await call("terminal", command=r"printf 'a\0b\xed\xa0\x80\xff\033]0;t\007c'")).text
    text.encode("utf-8")
    assert text.startswith("ab")
    assert "\0" not in text
    assert "\x1b" not in text


async def test_long_output_keeps_both_ends_and_says_what_is_missing(call: Call) -> None:
    text = (await call("terminal", command="seq 1 100000")).text
    assert text.startswith("1\n2\n")
    assert text.endswith("99999\n100000\n[exit code 0]")
    assert "characters left out" in text
    assert len(text.encode()) < 65_536


async def test_keys_do_not_reach_commands(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "CANARY-2")
    monkeypatch.setenv("MY_SERVICE_TOKEN", "CANARY-3")
    assert "CANARY" not in (await call("terminal", command="env; cat /proc/self/environ")).text


@pytest.mark.parametrize(
    ("given", "seconds"),
    [(0, 1), (-3, 1), (120_000, 3600), ("45", 45), *((wrong, 120) for wrong in ("nan", "inf", "-inf", 1e309))],
)
async def test_a_timeout_out_of_range_is_brought_into_it_and_one_that_is_no_number_is_the_usual_one(
    given: object, seconds: float, tmp_path: Path
) -> None:
    limits: list[float] = []

    class Recording(LocalWorkspace):
        async def run(self, command: Command, on_output: Show) -> Completed:
            limits.append(command.timeout)
            return await super().run(command, on_output)

    workspace = Recording(tmp_path)
    tool = discover()["terminal"]
    args = tool.params.model_validate({"command": "true", "timeout": given})
    result = await (await tool.prepare(args, ToolContext("call_1", workspace))).run()
    await workspace.aclose()
    assert not result.is_error
    assert limits == [seconds]
