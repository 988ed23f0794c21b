"""What the doctor tells of this machine, its settings and its programs."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from tests.support.commands import SCRIPTS, doctor, hermes, report


def test_the_doctor_without_anything_says_what_to_do(home):
    done = hermes(home, "doctor")
    assert done.returncode == 1
    found = report(done)
    assert found["home"] == [("ok", str(home))]
    [(state, text)] = found["model"]
    assert state == "missing"
    assert "hermes-acp-agent setup" in text
    assert "server" not in found
    assert found["sessions"] == [("ok", f"0 in {home / 'sessions.db'}")]
    assert list(home.iterdir()) == []


def test_the_doctor_lists_the_rules(home):
    (home / "config.toml").write_text('[[approvals.rules]]\ndecision = "deny"\nprefix = ["git", "push"]\n')
    assert report(hermes(home, "doctor"))["rule"] == [("ok", "deny commands that begin with `git` `push`")]


def test_the_doctor_names_keys_without_their_values(home):
    done = doctor(home, OPENAI_API_KEY="sk-SECRET-1", HERMES_ACP_API_KEY="sk-SECRET-2")
    assert done.returncode == 0
    assert b"SECRET" not in done.stdout + done.stderr
    found = report(done)
    assert [text for _, text in found["key"]] == ["found in HERMES_ACP_API_KEY", "found in OPENAI_API_KEY"]
    assert "https://api.openai.com/v1" in found["model"][0][1]


def test_the_doctor_tells_which_mcp_servers_can_be_started_and_starts_none(home):
    (home / "config.toml").write_text(
        f"""
[mcp_servers.here]
command = "{sys.executable}"
args = ["-c", "open('{home}/ran', 'w')", "sk-SECRET-1"]
[mcp_servers.gone]
command = "no-such-program-anywhere"
[mcp_servers.far]
url = "https://tickets.example/mcp?key=sk-SECRET-2"
[mcp_servers.off]
command = "x"
enabled = false
""",
        encoding="utf-8",
    )
    done = doctor(home, HERMES_ACP_API_KEY="sk-SECRET-3")
    assert b"SECRET" not in done.stdout + done.stderr
    missing = "gone: The command 'no-such-program-anywhere' was not found on PATH, or is no program."
    assert report(done)["mcp"] == [
        ("ok", f"here, {sys.executable}"),
        ("warning", missing),
        ("ok", "far, at tickets.example"),
    ]
    assert not (home / "ran").exists()


def test_the_doctor_names_reserves_side_tasks_and_the_command_that_it_does_not_run(home):
    ran = home / "ran"
    (home / "config.toml").write_text(
        f"""
[model]
provider = "custom"
name = "big"
base_url = "http://one.example/v1"
[credentials]
command = ["touch", "{ran}"]
[[fallback_providers]]
provider = "ollama"
model = "small"
[[fallback_providers]]
provider = "openai"
[auxiliary.title]
model = "tiny"
fallback = [{{ provider = "vllm", model = "x", api_key_env = "SPARE_KEY" }}]
""",
        encoding="utf-8",
    )
    done = doctor(home, SPARE_KEY="sk-SECRET-1")
    assert done.returncode == 0
    assert b"SECRET" not in done.stdout + done.stderr
    found = report(done)
    by_command = "(chat_completions, key from credentials.command, which was not run)"
    assert found["model"] == [("ok", f"big of custom at http://one.example/v1 {by_command}")]
    (first, second), (title, spare) = found["reserve"], found["side"]
    no_key = "(chat_completions, no key)"
    assert first == ("ok", f"fallback_providers (entry 1): small of ollama at http://127.0.0.1:11434/v1 {no_key}")
    assert second[0] == "warning"
    assert "fallback_providers (entry 2): left out: There is no key for OpenAI" in second[1]
    assert title == ("ok", f"auxiliary.title: tiny of custom at http://one.example/v1 {by_command}")
    assert spare[1].endswith("(chat_completions, key found in SPARE_KEY)")
    assert not ran.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--provider", "ollama", "doctor", "--model", "qwen", "--offline"],
        ["doctor", "--offline", "--provider=ollama", "--model=qwen"],
    ],
)
def test_the_doctor_takes_settings_before_and_after_its_name(home, arguments):
    done = hermes(home, *arguments)
    assert done.returncode == 0
    assert report(done)["model"][0][1].startswith("qwen of ollama at http://127.0.0.1:11434/v1")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--provider", "foo", "--model", "m"], "model.provider: there is no 'foo' (known are openai, openrouter,"),
        (["--provider", "olama", "--model", "m"], "(did you mean ollama?)"),
        (["--provider", "ollama"], "model.name: no model is named for the provider ollama: say which (--model NAME,"),
        (["--provider", "custom", "--model", "m"], "the provider custom needs one (--base-url URL"),
    ],
)
def test_what_is_missing_is_told_with_its_cure(home, arguments, text):
    [(state, said)] = report(doctor(home, *arguments))["model"]
    assert state == "missing"
    assert text in said


def test_the_doctor_shows_an_editors_entry_alone_with_paths_that_are_there(home):
    done = hermes(home, "doctor", "--editor", "zed")
    assert done.returncode == 0
    entry = json.loads(done.stdout)["agent_servers"]["Hermes ACP"]
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
    command = [entry["command"], *entry["args"]]
    ran = subprocess.run(command, input=json.dumps(hello).encode() + b"\n", env={}, capture_output=True, timeout=30)
    assert json.loads(ran.stdout)["result"]["agentInfo"]["name"] == "hermes-acp"
    assert b"settings.json" in done.stderr


def test_the_doctor_shows_errors_of_the_file_and_goes_on(home):
    (home / "config.toml").write_text('[model]\nnmae = "x"\n', encoding="utf-8")
    done = doctor(home, OPENAI_API_KEY="sk-x")
    assert done.returncode == 1
    found = report(done)
    assert found["settings"][0][0] == "missing"
    assert "model.nmae" in found["settings"][0][1]
    assert "sessions" in found


def test_the_doctor_finds_the_programs(home):
    found = report(hermes(home, "doctor"))
    assert found["ripgrep"][0][0] == "ok"
    assert found["git"][0][0] in ("ok", "note")
    assert "Python 3." in found["version"][0][1]
    assert found["search"][0][0] in ("ok", "note")


def test_the_doctor_looks_at_the_database_without_changing_it(home):
    file = home / "sessions.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE sessions (prompted)")
        connection.execute("INSERT INTO sessions VALUES (1), (1), (0)")
        connection.execute("PRAGMA user_version = 1")
    assert report(hermes(home, "doctor"))["sessions"] == [("ok", f"2 in {file}")]
    file.write_bytes(b"no database at all" * 100)
    [(state, text)] = report(hermes(home, "doctor"))["sessions"]
    assert state == "warning"
    assert "damaged" in text
    assert file.read_bytes() == b"no database at all" * 100


def test_the_doctor_tells_of_a_logout(home):
    (home / "signed-out").touch()
    done = doctor(home, OPENAI_API_KEY="sk-x")
    assert done.returncode == 1
    assert report(done)["login"][0][0] == "missing"


def test_the_doctor_warns_of_another_program_of_the_same_name(home, tmp_path):
    other = tmp_path / "bin"
    other.mkdir()
    (other / "hermes-acp").write_text("#!/bin/sh\necho another\n", encoding="utf-8")
    (other / "hermes-acp").chmod(0o755)
    path = f"{other}:/usr/bin:/bin"
    assert report(hermes(home, "doctor", PATH=path))["command"][0][0] == "warning"
    path = f"{SCRIPTS}:{other}:/usr/bin:/bin"
    assert "command" not in report(hermes(home, "doctor", PATH=path))


def test_the_doctor_lives_without_a_home_variable_and_path():
    done = subprocess.run(
        [sys.executable, "-m", "hermes_acp", "doctor"], env={}, capture_output=True, timeout=30, cwd="/"
    )
    assert done.returncode in (0, 1)
    assert done.stderr == b""
    assert report(done)["ripgrep"][0][0] == "ok"
