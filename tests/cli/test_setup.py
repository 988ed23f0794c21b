"""What setup asks, what it stores, and what it leaves alone."""

import asyncio
import json
import os
import pty
import re
import select
import signal
import stat
import sys
import time
import tomllib

import pytest

from tests.fakes.local_server import LocalServer
from tests.fakes.model_server import ModelServer
from tests.fakes.replies import fail
from tests.support.commands import doctor, environment, hermes, report


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
