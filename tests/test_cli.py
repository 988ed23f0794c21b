"""The commands, run as a person or an editor runs them: in a process of their own, with a bare environment."""

import asyncio
import json
import os
import pty
import re
import select
import signal
import sqlite3
import stat
import subprocess
import sys
import time
import tomllib
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from hermes_acp.cli.main import COMMANDS
from tests.fakes.local_server import LocalServer, lmstudio, ollama
from tests.fakes.model_server import ModelServer
from tests.fakes.replies import fail

WITHOUT_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
"""How a person disables it, so that no test touches the one of this machine."""

SCRIPTS = Path(sys.executable).parent


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "a home with spaces"
    folder.mkdir()
    return folder


def environment(home, **more):
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(home.parent), "HERMES_ACP_HOME": str(home)}
    return {**bare, "HERMES_ACP_LOCAL_SERVERS": "off", **WITHOUT_KEYRING, **more}


def hermes(home, *arguments, answers="", **more):
    return subprocess.run(
        [sys.executable, "-m", "hermes_acp", *arguments],
        input=answers.encode(),
        env=environment(home, **more),
        cwd="/",
        capture_output=True,
        timeout=30,
    )


def doctor(home, *arguments, **more):
    """The doctor's report where no model's server may be asked."""
    return hermes(home, "doctor", "--offline", *arguments, **more)


def report(done):
    """The lines of the doctor by name."""
    found = {}
    for line in done.stdout.decode().splitlines():
        state, name, text = line.split(maxsplit=2)
        found.setdefault(name, []).append((state, text))
    return found


# Arguments


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


# Doctor


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


async def test_the_doctor_tells_of_model_servers_on_this_machine(home):
    able, unable = ollama({"talker": ["completion"], "worker": ["tools"]}), lmstudio({"id": "talker", "type": "llm"})
    async with LocalServer(able) as first, LocalServer(unable) as second:
        places = f"ollama={first.url},lmstudio={second.url}"
        done = await asyncio.to_thread(hermes, home, "doctor", HERMES_ACP_LOCAL_SERVERS=places)
        assert done.returncode == 0
        found = report(done)
        assert [state for state, _ in found["server"]] == ["ok", "warning"]
        assert "Ollama on this machine" in found["server"][0][1]
        assert "no model that can use tools" in found["server"][1][1]
        assert found["model"][0][1].startswith(f"worker of ollama at {first.url}/v1")
        first.answers = {}
        done = await asyncio.to_thread(hermes, home, "doctor", HERMES_ACP_LOCAL_SERVERS=places)
        assert report(done)["model"][0][0] == "missing"
        before = len(first.asked)
        await asyncio.to_thread(doctor, home, HERMES_ACP_LOCAL_SERVERS=places, OPENAI_API_KEY="sk-x")
        assert len(first.asked) == before


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


async def knock(home, server, *arguments, **more):
    options = ["--provider", "custom", "--model", "fake-model", "--base-url", server.url, *arguments]
    done = await asyncio.to_thread(hermes, home, "doctor", *options, HERMES_ACP_API_KEY="sk-SECRET", **more)
    assert b"SECRET" not in done.stdout + done.stderr
    return done.returncode, report(done).get("server")


async def test_the_doctor_knocks_at_the_models_server_once(home):
    async with ModelServer() as server:
        assert await knock(home, server) == (0, [("ok", f"{server.url} answers, and has fake-model")])
        assert (server.listed, server.requests) == (1, [])
        assert await knock(home, server, "--offline") == (0, None)
        assert server.listed == 1
        server.models = ("another",)
        status, [(state, text)] = await knock(home, server)
        assert (status, state) == (0, "note")
        assert "fake-model is not in its list" in text


async def test_the_doctor_tells_of_a_key_that_is_refused_without_asking_twice(home):
    async with ModelServer() as server:
        server.list_answer = fail(401, "Incorrect API key provided: sk-SECRET", code="invalid_api_key")
        status, [(state, text)] = await knock(home, server)
        assert (status, state) == (1, "missing")
        assert text.startswith(f"{server.url} refuses the key found in HERMES_ACP_API_KEY: ")
        assert server.listed == 1


async def test_the_doctor_tells_of_a_server_that_is_not_there(home):
    async with ModelServer() as server:
        url = server.url
    status, [(state, text)] = await knock(home, server := SimpleNamespace(url=url))
    assert (status, state) == (1, "missing")
    assert text.startswith(f"{server.url} is not there: ")


@pytest.mark.slow
async def test_the_doctor_waits_three_seconds_for_a_server_that_says_nothing(home):
    async with LocalServer({}, delay=60.0) as server:
        status, [(state, text)] = await knock(home, server)
        assert (status, state) == (1, "missing")
        assert "no answer for 3 seconds" in text


async def test_the_doctor_does_not_mind_a_server_without_a_list(home):
    async with LocalServer({}) as server:
        status, [(state, text)] = await knock(home, server)
        assert (status, state) == (0, "note")
        assert "answers, but lists no models" in text


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


# Setup


def setup(home, answers, **more):
    """Setup where no model's server may be asked."""
    return hermes(home, "setup", "--offline", answers=answers, **more)


def test_setup_stores_what_was_answered_and_the_doctor_finds_it(home):
    done = setup(home, "openai\n\nsk-SECRET\nmy-model\n")
    assert done.returncode == 0, done.stderr
    assert b"SECRET" not in done.stdout + done.stderr
    assert b"Next: `python -m hermes_acp doctor`" in done.stdout
    assert f"Stored in {home / 'config.toml'}." in done.stdout.decode()
    config = tomllib.loads((home / "config.toml").read_text(encoding="utf-8"))
    assert config == {"model": {"provider": "openai", "name": "my-model"}}
    file = home / "credentials.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text(encoding="utf-8"))["keys"] == {"https://api.openai.com:443": "sk-SECRET"}
    done = doctor(home)
    assert done.returncode == 0
    assert b"SECRET" not in done.stdout
    assert report(done)["model"][0][1].startswith("my-model of openai at https://api.openai.com/v1")


def test_an_editor_appends_setup_to_its_launch(home):
    done = hermes(home, "--stdio", "setup", "--offline", answers="ollama\n\n\nqwen\n")
    assert done.returncode == 0
    assert tomllib.loads((home / "config.toml").read_text(encoding="utf-8"))["model"]["name"] == "qwen"


def test_setup_asks_again_until_an_answer_is_of_use(home):
    answers = "10\nopnai\ncustom\nnowhere\nhttps://u:p@x/v1\nhttps://x.example/v1/\n4\nchat\n\nsk with spaces\n\n\nm\n"
    done = setup(home, answers)
    assert done.returncode == 0, done.stderr
    config = tomllib.loads((home / "config.toml").read_text(encoding="utf-8"))
    assert config == {"model": {"provider": "custom", "base_url": "https://x.example/v1", "name": "m"}}
    assert not (home / "credentials.json").exists()


def test_a_hosted_provider_needs_a_key_unless_there_is_one(home):
    assert setup(home, "openai\n\n\n\n").returncode == 1
    assert list(home.iterdir()) == []
    done = setup(home, "openai\n\n\n\n", OPENAI_API_KEY="sk-SECRET")
    assert done.returncode == 0
    assert b"use OPENAI_API_KEY" in done.stdout
    assert not (home / "credentials.json").exists()


@pytest.mark.parametrize("answers", ["", "openai\n", "openai\n\nsk-x\n"])
def test_setup_that_is_left_early_stores_nothing(home, answers):
    done = setup(home, answers)
    assert done.returncode == 1
    [line] = done.stderr.decode().splitlines()
    assert "nothing was stored" in line
    assert list(home.iterdir()) == []


def test_setup_keeps_the_rest_of_the_file_and_drops_what_belonged_to_another_endpoint(home):
    file = home / "config.toml"
    file.write_text(
        '# mine\n[model]\nprovider = "custom"\nbase_url = "https://old.example/v1"\nname = "old"\n'
        'api_mode = "codex_responses"\napi_key_env = "OLD_KEY"\ncontext_window = 5\n\n[agent]\nmax_turns = 7 # few\n',
        encoding="utf-8",
    )
    done = setup(home, "custom\nhttps://new.example/v1\n\n\nnew\n", OLD_KEY="sk-old")
    assert done.returncode == 0, done.stderr
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# mine\n")
    assert "max_turns = 7 # few\n" in text
    assert tomllib.loads(text) == {
        "model": {"provider": "custom", "base_url": "https://new.example/v1", "name": "new"},
        "agent": {"max_turns": 7},
    }


def test_setup_run_again_offers_what_is_there(home):
    file = home / "config.toml"
    text = (
        '[model]\nprovider = "custom"\nname = "old"\nbase_url = "https://old.example/v1"\n'
        'api_mode = "codex_responses"\napi_key_env = "OLD_KEY"\ncontext_window = 5\n'
    )
    file.write_text(text, encoding="utf-8")
    done = setup(home, "\n\n\n\n\n", OLD_KEY="sk-old")
    assert done.returncode == 0, done.stderr
    assert tomllib.loads(file.read_text(encoding="utf-8")) == tomllib.loads(text)


def test_setup_leaves_a_broken_file_alone(home):
    file = home / "config.toml"
    file.write_text("[model\n", encoding="utf-8")
    done = setup(home, "ollama\n\n\nqwen\n")
    assert done.returncode == 2
    assert b"not valid TOML" in done.stderr
    assert file.read_text(encoding="utf-8") == "[model\n"


def test_setup_ends_a_logout(home):
    (home / "signed-out").touch()
    assert setup(home, "ollama\n\n\nqwen\n").returncode == 0
    assert not (home / "signed-out").exists()


def test_setup_in_a_place_that_cannot_be_written_fails_in_one_line(tmp_path):
    (tmp_path / "file").touch()
    done = setup(tmp_path / "file" / "home", "openai\n\nsk-SECRET\nm\n")
    assert done.returncode == 1
    [line] = done.stderr.decode().splitlines()
    assert "SECRET" not in line


def test_a_key_typed_in_a_terminal_is_not_shown(home):
    child, leader = in_terminal(home, "--stdio", "setup", "--offline")
    seen = b""
    for prompt, answer in (
        (b"Provider", b"openai\n"),
        (b"Base URL", b"\n"),
        (b"API key", b"sk-SECRET\n"),
        (b"Model", b"m\n"),
    ):
        seen += read_until(leader, prompt)
        os.write(leader, answer)
    seen += read_until(leader, b"only you can read")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(leader)
    assert b"SECRET" not in seen
    assert "sk-SECRET" in (home / "credentials.json").read_text(encoding="utf-8")


async def set_up(home, server, *answers):
    """Setup with a server that is there, after its address and API; the exit status and what was said."""
    given = "\n".join(["custom", server.url, "1", "sk-SECRET-123", *answers])
    done = await asyncio.to_thread(hermes, home, "setup", answers=f"{given}\n")
    assert b"SECRET" not in done.stdout + done.stderr
    return done.returncode, done.stdout.decode()


def chosen(home):
    return tomllib.loads((home / "config.toml").read_text(encoding="utf-8"))["model"]["name"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "model"),
    [
        (["2", "no"], "gpt-b"),
        (["gpt-c", "no"], "gpt-c"),
        (["QWEN", "no"], "qwen3:8b"),
        (["gpt", "99", "1", "no"], "gpt-a"),
        (["unlisted/one", "no"], "unlisted/one"),
    ],
)
async def test_setup_lists_the_models_of_the_server_and_takes_a_number_a_name_or_a_part(home, answers, model):
    async with ModelServer(models=("gpt-a", "gpt-b", "gpt-c", "qwen3:8b")) as server:
        status, said = await set_up(home, server, *answers)
        assert (status, server.requests) == (0, [])
    assert "   1  gpt-a\n   2  gpt-b\n" in said
    assert chosen(home) == model


@pytest.mark.slow
async def test_setup_tries_the_model_once_if_the_person_agrees(home):
    async with ModelServer() as server:
        server.say("OK, sk-SECRET-123")
        status, said = await set_up(home, server, "1", "yes")
        [request] = server.requests
        assert request.headers["authorization"] == "Bearer sk-SECRET-123"
        assert request.body["model"] == "fake-model"
    assert status == 0
    assert re.search(r"It answers, in \d+\.\d seconds: OK, \[key\]", said)


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "status"), [("no", 1), ("yes", 0)])
async def test_a_model_that_does_not_answer_is_stored_only_if_the_person_says_so(home, answer, status):
    async with ModelServer() as server:
        server.say(fail(403, "sk-SECRET-123 may not use this"))
        found, said = await set_up(home, server, "1", "yes", answer)
    assert "It does not answer:" in said
    assert (found, (home / "config.toml").exists()) == (status, status == 0)
    assert (home / "credentials.json").exists() == (status == 0)


@pytest.mark.slow
async def test_where_no_list_comes_the_name_is_typed(home):
    async with LocalServer({}, delay=60.0) as server:
        begun = time.monotonic()
        status, said = await set_up(home, server, "my-model", "no")
        assert time.monotonic() - begun < 20
    assert status == 0
    assert "There is no list: no answer for 3 seconds" in said
    assert chosen(home) == "my-model"


def test_the_api_of_another_server_is_asked_for_and_kept_where_its_address_does_not_tell(home):
    assert setup(home, "custom\nhttps://x.example/v1\n3\n\nm\n").returncode == 0
    assert tomllib.loads((home / "config.toml").read_text())["model"]["api_mode"] == "anthropic_messages"
    done = setup(home, "\nhttps://x.example/anthropic\n\nm\n")
    assert b"Which API" not in done.stdout
    assert "api_mode" not in tomllib.loads((home / "config.toml").read_text())["model"]


def test_interrupting_setup_stores_nothing(home):
    child, leader = in_terminal(home, "setup")
    read_until(leader, b"Provider [")
    os.kill(child, signal.SIGINT)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130
    os.close(leader)
    assert list(home.iterdir()) == []


def in_terminal(home, *arguments):
    """A process with a terminal of its own, as (process id, the other end).

    It heeds Ctrl-C even when the tests run in the background, where that is ignored.
    """
    child, leader = pty.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execve(sys.executable, [sys.executable, "-m", "hermes_acp", *arguments], environment(home))
    return child, leader


def read_until(leader, text):
    seen, deadline = b"", time.monotonic() + 20
    while text not in seen:
        ready, _, _ = select.select([leader], [], [], max(deadline - time.monotonic(), 0))
        assert ready, seen
        seen += os.read(leader, 4096)
    return seen
