"""What is typed: commands, options and their help, whatever the terminal and its locale are."""

import os
import pty
import subprocess
import sys

import pytest

from hermes_acp.cli.main import COMMANDS
from tests.support.commands import SCRIPTS, environment, hermes


def test_the_version_and_the_help(home):
    assert hermes(home, "--version").stdout == b"hermes-acp 0.1.0\n"
    shown = hermes(home, "--help")
    assert shown.returncode == 0
    for name in (*COMMANDS, "--stdio", "--model", "HERMES_ACP_MODEL"):
        assert name in shown.stdout.decode()
    assert hermes(home, "setup", "--help").returncode == 0


@pytest.mark.parametrize(
    "command",
    ["setup", "doctor", "chat", "demo", "sessions", "sessions list", "sessions show", "sessions delete", "trust"],
)
def test_the_help_of_a_command_says_what_it_does(home, command):
    done = hermes(home, *command.split(), "--help")
    usage, _, rest = done.stdout.decode().partition("\n\n")
    assert (done.returncode, done.stderr) == (0, b"")
    assert usage.startswith(f"usage: python -m hermes_acp {command}")
    assert rest.split("\n")[0][0].isupper()


@pytest.mark.parametrize("command", ["chat", "doctor", "setup"])
def test_what_concerns_editors_alone_is_no_option_of_a_command(home, command):
    assert "--announce" in hermes(home, "--help").stdout.decode()
    assert "--announce" not in hermes(home, command, "--help").stdout.decode()
    assert hermes(home, command, "--announce", "never").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["doktor"], "did you mean doctor?"),
        (["xyzzy"], "see python -m hermes_acp --help"),
        (["--modell", "x"], "--modell"),
        (["doctor", "--foo"], "--foo"),
        (["doctor", "extra"], "'extra' is one word too many"),
        (["chat", "hello"], "'hello' is one word too many; `chat -q TEXT` asks a question"),
        (["chat", "--modle", "x"], "--modle: unknown option (did you mean --mode or --model?)"),
        (["setup", "--ofline"], "--ofline: unknown option (did you mean --offline?)"),
        (["sessions", "lst"], "sessions: say one of list | show | export | delete"),
        (["sessions", "list", "--al"], "sessions: --al: unknown option (did you mean --all?)"),
        (["sessions", "export", "x", "--format", "yaml"], "'json', 'markdown'"),
        (["doctor", "--model"], "--model"),
        (["--model", "x", "demo"], "after its name"),
        (["doctor", "--editor", "notepad"], "'zed', 'nvim', 'vscode', 'emacs', 'jetbrains'"),
    ],
)
def test_arguments_that_mean_nothing_are_one_clear_line(home, arguments, reason):
    done = hermes(home, *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    [line] = done.stderr.decode().splitlines()
    assert line.startswith("hermes-acp: ")
    assert reason in line


@pytest.mark.parametrize("script", ["hermes-acp", "hermes-acp-agent"])
@pytest.mark.parametrize("command", ["", "doctor", "chat", "demo", "trajectories"])
def test_usage_has_the_name_that_was_typed(home, script, command):
    arguments = [*filter(None, [command]), "--help"]
    done = subprocess.run([SCRIPTS / script, *arguments], env=environment(home), capture_output=True, timeout=30)
    assert done.stdout.decode().startswith(f"usage: {script} {command}".rstrip() + " ")


def test_plain_on_a_terminal_prints_help(home):
    leader, follower = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "hermes_acp"], stdin=follower, env=environment(home), capture_output=True, timeout=30
    )
    os.close(leader)
    os.close(follower)
    assert done.returncode == 0
    assert b"setup" in done.stdout


@pytest.mark.parametrize("more", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}, {"LANG": "C"}])
def test_words_are_utf8_whatever_the_locale(home, more):
    assert "…" in hermes(home, "--help", **more).stdout.decode("utf-8")


def test_a_reader_that_has_seen_enough_causes_no_traceback(home):
    command = f"'{sys.executable}' -m hermes_acp doctor | true"
    done = subprocess.run(["sh", "-c", command], env=environment(home), capture_output=True, timeout=30)
    assert done.stderr == b""
