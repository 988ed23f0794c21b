"""One question from the command line: what goes where, and the exit status."""

import json
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from tests.fakes.model_server import Call, Say, fail
from tests.library.conftest import KEY
from tests.support.processes import until

pytestmark = pytest.mark.slow

MODULE = ("-m", "hermes_acp.run_agent")
COMMAND = ("-m", "hermes_acp", "chat")


@pytest.fixture
def start(model, project):
    """Starts a command in the project, with the model in its environment."""
    environment = {
        **os.environ,
        "HERMES_ACP_BASE_URL": model.url,
        "HERMES_ACP_MODEL": "fake-model",
        "HERMES_ACP_API_KEY": KEY,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }

    def start(*arguments, **options):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **options}
        return subprocess.Popen([sys.executable, *arguments], env=environment, cwd=project, text=True, **pipes)

    return start


@pytest.fixture
def run(start):
    def run(*arguments):
        process = start(*arguments)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err

    return run


@pytest.mark.parametrize(
    "arguments",
    [
        (*MODULE, "--save_trajectories", "--query=Which file?"),
        (*MODULE, "--save-trajectories", "--query", "Which file?"),
        (*COMMAND, "-q", "Which file?", "--save-trajectories"),
    ],
    ids=["the seed's", "dashes", "chat"],
)
def test_the_answer_is_on_stdout_and_all_else_on_stderr(run, model, project, arguments):
    model.say(Say(text=["Looking. "], calls=[Call("list_files", {})]), "The file é.")
    status, out, err = run(*arguments)
    assert (status, out) == (0, "The file é.\n")
    assert err.startswith("list_files")
    assert "Traceback" not in err
    [line] = (project / "trajectory_samples.jsonl").read_text("utf-8").splitlines()
    entry = json.loads(line)
    assert entry["completed"] is True
    assert entry["conversations"][1] == {"from": "human", "value": "Which file?"}


@pytest.mark.parametrize("arguments", [(*MODULE, "--query=Go."), (*COMMAND, "-q", "Go.")], ids=["module", "chat"])
def test_a_failure_is_a_reason_on_stderr_and_status_1(run, model, arguments):
    model.say(fail(401, f"Incorrect API key provided: {KEY}"))
    status, out, err = run(*arguments)
    assert (status, out) == (1, "")
    assert "Incorrect API key" in err
    assert KEY not in err


def test_an_answer_that_is_not_whole_is_shown_and_is_status_1(run, model):
    model.say(Say("It begins", finish="length"), Say(" and goes on", finish="length"))
    status, out, err = run(*MODULE, "--query=Go.")
    assert (status, out) == (1, "It begins and goes on\n")
    assert "max_tokens" in err


def test_nobody_is_there_so_what_would_be_asked_is_denied_and_said(run, model, project):
    model.say(Say(calls=[Call("terminal", {"command": "touch made"})]), "Not done.")
    status, out, err = run(*MODULE, "--query=Go.")
    assert (status, out) == (0, "Not done.\n")
    assert "terminal: Permission could not be asked for" in err
    assert not (project / "made").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_interrupts_the_turn_and_is_status_130(start, model, project, number):
    model.say(Say(text=["word "] * 2000, token_delay=0.01))
    process = start(*MODULE, "--save_trajectories", "--query=Go.")
    assert until(lambda: model.requests)
    time.sleep(0.2)
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    [line] = (project / "failed_trajectories.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["completed"] is False


def test_resume_goes_on_with_the_newest_session_of_the_folder_or_with_the_one_named(run, model, project):
    assert run(*COMMAND, "-q", "One.")[0] == 0
    assert run(*COMMAND, "-q", "Two.", "--resume")[0] == 0
    assert [one["content"] for one in model.requests[-1].messages[1:]] == ["One.", "Done.", "Two."]
    assert run(*COMMAND, "--resume", "no-such-session", "-q", "Three.")[0] == 1
    assert len(model.requests) == 2


def test_resume_where_there_is_no_session_says_so(run, model):
    status, out, err = run(*COMMAND, "-q", "Go.", "--resume")
    assert (status, out) == (2, "")
    assert "there is no session in" in err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (COMMAND, "`chat -q TEXT`"),
        ((*COMMAND, "-q", " "), "it is empty"),
        ((*COMMAND, "-q", "Go.", "--modle", "x"), "--modle"),
        ((*MODULE, "--query", " "), "it is empty"),
        (MODULE, "--query"),
    ],
)
def test_what_means_nothing_is_status_2(run, model, arguments, reason):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert reason in err
    assert "Traceback" not in err
    assert model.requests == []


def test_a_mode_that_needs_the_sandbox_is_refused_where_there_is_none(run, model):
    status, out, err = run(*MODULE, "--query=Go.", "--mode=auto")
    assert (status, out) == (1, "")
    assert "sandbox" in err
    assert model.requests == []


def test_options_go_before_the_environment(run, model):
    run(*MODULE, "--query=Go.", "--model=another")
    run("-m", "hermes_acp", "--model", "overridden", "chat", "-q", "Go.", "--model", "a-third")
    assert [request.body["model"] for request in model.requests] == ["another", "a-third"]


def test_chat_needs_a_terminal_to_write_to_as_well(start):
    leader, follower = pty.openpty()
    process = start(*COMMAND, stdin=follower)
    _, err = process.communicate(timeout=10)
    os.close(leader)
    os.close(follower)
    assert process.returncode == 2
    assert "chat needs a terminal" in err


SLOW_SERVER = """
import json, sys, time
time.sleep(7)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        info = {"name": "s", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        if asked["method"] == "tools/list":
            result = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def test_the_only_question_waits_for_mcp_servers_that_take_their_time(run, model, project, tmp_path):
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    (tmp_path / "slow.py").write_text(SLOW_SERVER)
    command = f"command = {json.dumps(sys.executable)}\nargs = [{json.dumps(str(tmp_path / 'slow.py'))}]\n"
    (home / "config.toml").write_text(f"[mcp_servers.slow]\n{command}")
    status, out, err = run(*COMMAND, "-q", "Is it there?")
    assert (status, out) == (0, "Done.\n")
    assert "mcp__slow__echo" in [tool["function"]["name"] for tool in model.requests[0].body["tools"]]
    assert "still starting" not in err


@pytest.mark.parametrize("arguments", [(*COMMAND, "-q", "Hello?"), (*MODULE, "--query=Hello?")])
def test_warnings_are_sentences_and_no_lines_of_a_log(run, project, arguments):
    (project / "AGENTS.md").write_text("Be short.\n", "utf-8")
    status, out, err = run(*arguments)
    assert (status, out) == (0, "Done.\n")
    [line] = err.splitlines()
    assert line.startswith("hermes-acp: warning: Not used, since nobody could be asked")
    assert "hermes-acp-agent trust add PATH" in line


def test_the_question_may_come_from_standard_input(start, model):
    process = start(*COMMAND, "-q", "-", stdin=subprocess.PIPE)
    out, _ = process.communicate("Which file?\nAnd why?\n", timeout=30)
    assert (process.returncode, out) == (0, "Done.\n")
    assert model.requests[0].messages[-1]["content"] == "Which file?\nAnd why?\n"
    process = start(*COMMAND, "-q", "-")
    assert process.communicate(timeout=30)[1] == "hermes-acp: -q: it is empty\n"
    assert process.returncode == 2
