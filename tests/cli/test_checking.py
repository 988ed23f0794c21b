"""What the doctor tells of settings that are well formed and would fail only when they are used."""

import asyncio
import subprocess
import sys

import pytest

from tests.fakes.model_server import ModelServer, Status

MODEL = '[model]\nprovider = "custom"\nname = "fake-model"\nbase_url = "http://127.0.0.1:9/v1"\n'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def doctor(home, folder):
    """Lets the doctor report on a config file; its lines by name, and whether a prompt could be answered."""

    def doctor(config="", *arguments, **variables):
        (home / "config.toml").write_text(MODEL + config, "utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "hermes_acp", "doctor", *(arguments or ["--offline"])],
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(home.parent),
                "HERMES_ACP_HOME": str(home),
                "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
                "PYTHONPATH": ":".join(sys.path),
                **variables,
            },
            cwd=folder,
            capture_output=True,
            timeout=60,
        )
        found = {}
        for line in done.stdout.decode().splitlines():
            state, name, text = line.split(maxsplit=2)
            found.setdefault(name, []).append((state, text))
        return found, done.returncode == 0

    return doctor


def test_a_servers_variable_that_is_not_set_or_not_filled_in_is_told(doctor):
    found, answers = doctor(
        """
        [mcp_servers.notes]
        command = "sh"
        args = ["-c", "true"]
        env = { TOKEN = "${NOTES_TOKEN}" }
        inherit = ["NOTES_KEY", "PATH"]
        [mcp_servers.far]
        url = "https://far.example/mcp"
        headers = { Authorization = "Bearer $FAR_TOKEN" }
        headers_env = { X-Key = "FAR_KEY", X-Path = "PATH" }
        [mcp_servers.good]
        command = "sh"
        args = ["-c", "echo $1 $"]
        """
    )
    assert answers
    assert found["mcp"] == [
        ("warning", "notes: the variable NOTES_KEY, which it inherits, is not set: set it where the editor is started"),
        (
            "warning",
            "notes: env.TOKEN: ${NOTES_TOKEN} is passed on as it stands, since no variable is filled in here: "
            "name it in `inherit`, or write its value",
        ),
        (
            "warning",
            "far: the variable FAR_KEY, which holds the header X-Key, is not set: set it where the editor is started",
        ),
        (
            "warning",
            "far: headers.Authorization: $FAR_TOKEN is passed on as it stands, since no variable is filled in here: "
            "name it in `headers_env`, or write its value",
        ),
        ("ok", "good, sh"),
    ]


def test_servers_of_the_project_are_told_with_what_keeps_them_from_running(doctor, folder):
    file = folder / ".mcp.json"
    file.write_text('{"mcpServers": {"a": {"command": "sh", "env": {"T": "${A_TOKEN}"}}}}', "utf-8")
    [(state, text)] = doctor()[0]["mcp"]
    assert state == "warning"
    assert text.startswith(f"{file}: nothing of it is used: the variable A_TOKEN is not set: set it where")
    [(state, text)] = doctor(A_TOKEN="x")[0]["mcp"]
    assert (state, text.endswith("not agreed to as it is")) == ("note", True)
    file.write_text('{"mcpServers": {"a": {"command": "no-such-program"}}}', "utf-8")
    [(state, text)] = doctor()[0]["mcp"]
    assert (state, "'no-such-program' was not found on PATH" in text) == ("warning", True)


def test_a_context_engine_that_cannot_be_loaded_is_missing_and_one_that_can_is_named(doctor, tmp_path):
    found, answers = doctor('[context]\nengine = "no_such.module:Engine"')
    [(state, text)] = found["context"]
    assert (state, answers) == ("missing", False)
    assert "No module named 'no_such'" in text
    assert f'install its package for {sys.executable}, or set context.engine = "compressor"' in text
    [(state, text)] = doctor('[context]\nengine = "pathlib:Path"')[0]["context"]
    assert (state, "is no ContextEngine" in text) == ("missing", True)
    found, answers = doctor('[context]\nengine = "tests.support.engines:FirstAndLast"')
    assert (found["context"], answers) == ([("ok", "the engine tests.support.engines:FirstAndLast")], True)


def test_a_command_for_the_key_that_is_not_there_is_missing(doctor):
    found, answers = doctor('[credentials]\ncommand = ["no-such-program", "read"]')
    assert not answers
    cure = "install it, or give its absolute path"
    assert found["key"] == [("missing", f"credentials.command: there is no program 'no-such-program': {cure}")]


def test_a_variable_for_the_key_that_is_not_set_is_missing(doctor):
    (_, text), answers = doctor('api_key_env = "MY_KEY"')[0]["model"][0], doctor('api_key_env = "MY_KEY"')[1]
    assert (text, answers) == ("The variable MY_KEY, named in model.api_key_env, is not set.", False)
    assert doctor('api_key_env = "MY_KEY"', MY_KEY="x")[1]


async def test_the_window_is_told_or_that_it_is_assumed(doctor):
    assumed = "how much fake-model can hold is not known, so 128,000 tokens are assumed: model.context_window says it"
    assert doctor()[0]["window"] == [("note", assumed)]
    assert doctor("context_window = 4096")[0]["window"] == [("ok", "4,096 tokens")]
    assert doctor("", "--offline", "--model", "gpt-5.5")[0]["window"][0][0] == "ok"


def test_a_limit_of_cost_without_a_price_is_told(doctor):
    [(state, text)] = doctor("[agent]\nmax_cost = 2.0")[0]["cost"]
    assert (state, text) == ("warning", "agent.max_cost does not hold: what fake-model costs is not known")


def test_skills_and_commands_that_are_passed_over_are_told_with_the_reason(doctor, home):
    for name, text in {
        "skills/good/SKILL.md": "---\nname: good\ndescription: Good.\n---\nDo it.",
        "skills/open/SKILL.md": "---\nname: open\nDo it.",
        "skills/empty/SKILL.md": "\n",
        "skills/none/notes.md": "x",
        "skills/again/SKILL.md": "---\nname: good\n---\nDo it.",
        "skills/loose.md": "x",
        "commands/fix.md": "Fix it.",
        "commands/help.md": "Mine.",
        "commands/two words.md": "x",
        "commands/blank.md": "",
        "commands/fix.txt": "x",
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, "utf-8")
    found, answers = doctor()
    assert answers
    place = home / "skills"
    assert found["skills"][0] == ("ok", f"2 skills in {place}")
    told = {text.removeprefix(str(place)) for _, text in found["skills"][1:]}
    assert told == {
        "/empty is not used: its SKILL.md is empty",
        "/good is not used: another skill has its name, in a folder that comes before it",
        "/loose.md is not used: a skill is a folder with a SKILL.md",
        "/none is not used: it has no SKILL.md",
        "/open/SKILL.md: its head begins with --- and has no end, so all of it is taken as text: "
        "put --- below the head",
    }
    place = home / "commands"
    assert found["commands"][0] == ("ok", f"/fix in {place}")
    assert {text.removeprefix(str(place)) for _, text in found["commands"][1:]} == {
        "/blank.md is not used: it is empty",
        "/fix.txt is not used: a command is a file NAME.md",
        "/help.md is not used: /help is a command of the agent",
        "/two words.md is not used: its name is no word",
    }


def test_a_memory_that_cannot_be_read_is_told(doctor, home):
    (home / "MEMORY.md").write_bytes(b"\xff\xfe broken")
    [(state, text)] = doctor()[0]["memory"]
    assert (state, "MEMORY.md is not UTF-8" in text) == ("warning", True)


def test_a_projects_file_that_is_wrong_is_missing_and_a_right_one_is_summed_up(doctor, folder):
    file = folder / ".hermes-acp.toml"
    file.write_text('[model]\nname = "x"\n', "utf-8")
    found, answers = doctor()
    [(state, text)] = found["project"]
    assert (state, answers) == ("missing", False)
    assert text.startswith(f"{file}:2: model.name: a project's file may only set")
    file.write_text('[approvals]\nmode = "plan"\n', "utf-8")
    says = "mode plan, 500 calls a turn, rules of its own: 0"
    assert doctor()[0]["project"] == [("ok", f"{file}: {says}")]


def test_a_mode_that_needs_a_sandbox_is_missing_where_there_is_none(doctor):
    found, answers = doctor('[approvals]\nmode = "auto"\n[sandbox]\nuse = "never"')
    [(state, text)] = found["mode"]
    assert (state, answers) == ("missing", False)
    assert "approvals.mode: auto needs a sandbox, and there is none" in text


def test_a_store_that_cannot_be_made_is_told(doctor, tmp_path):
    (tmp_path / "file").write_text("x")
    [(state, text)] = doctor(HERMES_ACP_HOME=str(tmp_path / "file" / "home"))[0]["sessions"]
    assert state == "warning"
    assert "cannot be written, so no session is kept" in text


def test_a_log_that_cannot_be_written_and_variables_that_mean_nothing_are_told(doctor, tmp_path):
    found, _ = doctor(
        "[sandbox]\nkeep = ['KEPT']",
        HERMES_ACP_LOG_FILE=str(tmp_path / "no" / "log"),
        HERMES_ACP_MODE_="ask",
        SSL_CERT_FILE="/no/such.pem",
    )
    assert found["log"][0][0] == "warning"
    told = [text for _, text in found["variable"]]
    assert told[0].startswith("HERMES_ACP_MODE_ means nothing here; did you mean HERMES_ACP_MODE")
    assert told[1].startswith("SSL_CERT_FILE names /no/such.pem, which is not there")
    assert ("note", "sandbox.keep: KEPT is not set here, so commands do not have it") in found["sandbox"]
    assert doctor(HERMES_ACP_LOG_FILE=str(tmp_path / "log"))[0]["log"] == [("ok", str(tmp_path / "log"))]
    assert not (tmp_path / "log").exists()


async def test_the_window_that_the_server_tells_is_believed(doctor):
    async with ModelServer() as server:
        server.list_answer = Status(200, {"data": [{"id": "fake-model", "context_length": 32_000}]})
        found, _ = await asyncio.to_thread(doctor, "", "--base-url", server.url)
    assert found["window"] == [("ok", "32,000 tokens")]
