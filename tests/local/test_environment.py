"""What commands are given: a shell, and no keys."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from hermes_acp.local import environment
from hermes_acp.local.environment import SECRET_NAMES


@pytest.mark.parametrize(
    "name",
    [
        "HERMES_ACP_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_AUTH_TOKEN",
        "MY_SERVICE_TOKEN", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN",
        "SECRET_KEY_BASE", "PGPASSWORD", "DB_PASSWORD", "MYSQL_PWD", "openai_api_key", "GITHUB_PAT", "API_KEY_2",
        "DOCKER_AUTH_CONFIG", "CLIENT_SECRET",
    ],
)  # fmt: skip
def test_keys_are_not_handed_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "CANARY")
    assert b"CANARY" not in environment.for_command("t").values()


@pytest.mark.parametrize(
    "name",
    [
        "PATH", "HOME", "USER", "SHELL", "TERM", "LANG", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "VIRTUAL_ENV", "TMPDIR",
        "TOKENIZERS_PARALLELISM", "MAX_TOKENS", "KEYBOARD", "XDG_RUNTIME_DIR", "DISPLAY", "EDITOR", "HERMES_ACP_HOME",
        "DBUS_SESSION_BUS_ADDRESS", "MONKEY", "COMPAT", "GPG_TTY",
    ],
)  # fmt: skip
def test_everything_else_is(name: str) -> None:
    assert not SECRET_NAMES.match(name.encode())


def test_values_that_are_not_utf8_are_handed_on_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environb", {b"ODD": b"caf\xe9"})
    given = environment.for_command("t")
    assert given[b"ODD"] == b"caf\xe9"
    assert given[b"PATH"]


def test_a_shell_is_found_without_a_path_and_never_in_a_relative_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("PATH", ".:bin")
    program, flag, line = environment.shell("echo ü")
    assert program.startswith(b"/")
    assert (flag, line) == (b"-c", "echo ü".encode())
    monkeypatch.delenv("PATH")
    assert environment.shell("")[0] == program


def test_a_lone_surrogate_in_a_command_becomes_the_replacement_character() -> None:
    assert environment.shell("echo \ud835")[2] == "echo \ufffd".encode()


def test_keys_can_be_masked_where_the_system_shows_them_to_children() -> None:
    script = """
        import os, subprocess
        from hermes_acp.local.environment import mask_own
        mask_own()
        print(os.environ["OPENAI_API_KEY"], os.environ["SHOWN"])
        print(subprocess.run(["cat", f"/proc/{os.getpid()}/environ"], capture_output=True, text=True).stdout)
    """
    given = {"OPENAI_API_KEY": "CANARY-2", "MY_SERVICE_TOKEN": "CANARY-3", "SHOWN": "yes"}
    command = [sys.executable, "-c", textwrap.dedent(script)]
    lines = subprocess.run(command, env=given, capture_output=True, text=True, check=True).stdout.split("\n", 1)
    assert lines[0] == "CANARY-2 yes"
    assert "SHOWN=yes" in lines[1]
    assert "CANARY" not in lines[1]


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_no_other_program_of_the_user_reads_our_memory():
    """Asked of the kernel in a process of its own: 1 is dumpable, 0 is not."""
    ask = "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    script = f"import ctypes; from hermes_acp.local.environment import be_private; {ask}; be_private(); {ask}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n0\n"
