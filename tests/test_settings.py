"""Where settings and keys come from, which of two wins, and where a key may go."""

import json
import logging
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.config import API_MODES, Config, ModelConfig
from hermes_acp.errors import ConfigError, CredentialsMissing, HermesError
from hermes_acp.local import confidential
from hermes_acp.settings import (
    ModelEndpoint,
    config_in,
    from_arguments,
    is_signed_out,
    load_settings,
    resolve_model,
    sign_in,
    sign_out,
    start_logging,
)
from hermes_acp.settings.credentials import read_stored, store_key
from hermes_acp.settings.edit import set_values
from hermes_acp.settings.endpoint import Keys, resolve
from hermes_acp.settings.homes import Home, find_home
from hermes_acp.settings.providers import api_mode_of

REPOSITORY = Path(__file__).parents[1]
ALL_KEYS = {
    "OPENAI_API_KEY": "sk-openai",
    "ANTHROPIC_API_KEY": "sk-anthropic",
    "OPENROUTER_API_KEY": "sk-openrouter",
}


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "my home"
    folder.mkdir()
    return folder


def load(home, overrides=(), **environ):
    return load_settings(dict(overrides), {"HERMES_ACP_HOME": str(home), **environ})


def endpoint(config=None, environ=None, stored=None):
    return resolve(ModelConfig(**(config or {})), Keys(environ or {}, stored or {}))


def test_the_command_line_goes_before_the_environment_before_the_file(home):
    (home / "config.toml").write_text(
        '[model]\nname = "file"\nprovider = "ollama"\nbase_url = "http://file/v1"\n', encoding="utf-8"
    )
    settings = load(home, {"model.name": "line"}, HERMES_ACP_MODEL="variable", HERMES_ACP_BASE_URL="http://var/v1")
    assert settings.config.model == ModelConfig("ollama", "line", "http://var/v1")


def test_every_variable_has_its_effect(home):
    settings = load(
        home,
        HERMES_ACP_PROVIDER="custom",
        HERMES_ACP_MODEL="m",
        HERMES_ACP_BASE_URL="http://h:1/v1",
        HERMES_ACP_API_MODE="codex_responses",
        HERMES_ACP_CONTEXT_WINDOW="8192",
        HERMES_ACP_MODE="plan",
        HERMES_ACP_ANNOUNCE="never",
        HERMES_ACP_LOG_LEVEL="DEBUG",
        HERMES_ACP_LOG_FILE="/x/log",
    )
    assert settings.config.model == ModelConfig("custom", "m", "http://h:1/v1", "codex_responses", "", 8192)
    assert settings.config.approvals.mode == "plan"
    assert settings.config.acp.announce == "never"
    assert (str(settings.log.file), settings.log.level) == ("/x/log", "debug")


def test_an_empty_variable_is_none(home):
    assert load(home, HERMES_ACP_MODEL="", HERMES_ACP_MODE=" ").config == Config()


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"HERMES_ACP_CONTEXT_WINDOW": "many"}, "HERMES_ACP_CONTEXT_WINDOW"),
        ({"HERMES_ACP_CONTEXT_WINDOW": "-5"}, "HERMES_ACP_CONTEXT_WINDOW"),
        ({"HERMES_ACP_MODE": "yolo"}, "HERMES_ACP_MODE"),
        ({"HERMES_ACP_BASE_URL": "nowhere"}, "HERMES_ACP_BASE_URL"),
        ({"HERMES_ACP_API_MODE": "chat"}, "HERMES_ACP_API_MODE"),
        ({"HERMES_ACP_LOG_LEVEL": "loud"}, "log level"),
    ],
)
def test_a_wrong_variable_is_named(home, environ, place):
    with pytest.raises(ConfigError, match=place):
        load(home, **environ)


def test_arguments_of_the_wire_become_settings():
    argv = ["--stdio", "--model", "m", "--mode=plan", "--log-level", "debug"]
    assert from_arguments(argv) == {"model.name": "m", "approvals.mode": "plan", "log.level": "debug"}


@pytest.mark.parametrize(
    ("argv", "reason"),
    [(["--modell", "x"], "did you mean --model"), (["--model"], "needs a value"), (["--model", "--stdio"], "needs")],
)
def test_a_wrong_argument_is_named(argv, reason):
    with pytest.raises(ConfigError, match=reason):
        from_arguments(argv)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[model\nname", "not valid TOML"),
        (b'[model]\nname = "\xff"', "must be UTF-8"),
        (b"a = " + b"[" * 5000, "not valid TOML"),
        (b"#" * (1024 * 1024 + 1), "larger than 1 MiB"),
        (b'[model]\nnmae = "x"', "model.nmae"),
    ],
)
def test_a_wrong_file_is_one_line_with_its_name(home, content, reason):
    (home / "config.toml").write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load(home)
    line = str(caught.value)
    assert line.startswith(str(home / "config.toml"))
    assert reason in line
    assert "\n" not in line


def test_a_file_from_an_editor_that_adds_a_mark_is_read(home):
    (home / "config.toml").write_bytes(b'\xef\xbb\xbf[model]\r\nname = "x"\r\n')
    assert load(home).config.model.name == "x"


def test_a_pipe_in_the_place_of_the_file_does_not_hang(home):
    os.mkfifo(home / "config.toml")
    with pytest.raises(ConfigError, match="not a regular file"):
        load(home)


def test_a_project_only_tightens_and_its_environment_file_is_not_read(home, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / ".env").write_text("OPENAI_BASE_URL=http://evil.example\nOPENAI_API_KEY=x\n", encoding="utf-8")
    settings = load(home, OPENAI_API_KEY="sk-mine")
    assert config_in(settings, project) == settings.config
    (project / ".hermes-acp.toml").write_text('[approvals]\nmode = "plan"\n', encoding="utf-8")
    assert config_in(settings, project).approvals.mode == "plan"
    assert config_in(settings, project).model == settings.config.model
    (project / ".hermes-acp.toml").write_text('[model]\nbase_url = "http://evil.example"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"hermes-acp.toml:2: model.base_url: a project's file may only"):
        config_in(settings, project)
    assert resolve_model(settings).base_url == "https://api.openai.com/v1"


# Keys


@pytest.mark.parametrize(
    ("url", "variable"),
    [
        ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("https://API.OpenAI.com:443/v1", "OPENAI_API_KEY"),
        ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
        ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("https://api.openai.com.evil.example/v1", ""),
        ("https://evil.example/api.openai.com/v1", ""),
        ("https://evil-api.openai.com/v1", ""),
        ("https://openai.com/v1", ""),
        ("https://api.openrouter.ai.example/v1", ""),
        ("https://api.anthropic.com.evil.example/anthropic", ""),
        ("http://127.0.0.1:11434/v1", ""),
    ],
)
@pytest.mark.parametrize("provider", ["", "openai", "anthropic", "openrouter", "custom"])
def test_a_providers_own_key_goes_to_its_host_alone(provider, url, variable):
    found = endpoint({"provider": provider, "base_url": url, "name": "m"}, ALL_KEYS)
    assert found.api_key == (ALL_KEYS[variable] if variable else "")
    assert found.key_source == variable


@given(st.from_regex(r"https?://[a-z0-9.@:-]{1,30}(/[a-z.]{0,20})?", fullmatch=True))
def test_no_address_but_its_own_is_sent_a_providers_key(url):
    hosts = ("https://api.openai.com", "https://api.anthropic.com", "https://openrouter.ai")
    keys = Keys(ALL_KEYS, {})
    if not url.startswith(hosts):
        assert found_key(keys, url) is None


def found_key(keys, url):
    try:
        return keys.own(url)
    except ValueError:
        return None


def test_a_key_goes_to_another_host_when_the_person_names_its_variable_for_it():
    settings = {"base_url": "https://proxy.example/anthropic", "name": "m", "api_key_env": "ANTHROPIC_API_KEY"}
    found = endpoint(settings, ALL_KEYS)
    assert (found.api_key, found.api_mode) == ("sk-anthropic", "anthropic_messages")


def test_an_own_key_is_not_sent_in_clear():
    with pytest.raises(CredentialsMissing, match="https"):
        endpoint({"base_url": "http://api.openai.com/v1", "name": "m"}, ALL_KEYS)


def test_the_general_key_goes_to_what_is_configured():
    environ = ALL_KEYS | {"HERMES_ACP_API_KEY": "general"}
    assert endpoint({"base_url": "https://my.example/v1", "name": "m"}, environ).api_key == "general"
    assert endpoint({"provider": "openai"}, environ).api_key == "general"


def test_the_general_key_is_not_sent_to_a_guessed_provider():
    assert endpoint({}, ALL_KEYS | {"HERMES_ACP_API_KEY": "general"}).api_key == "sk-openai"
    with pytest.raises(CredentialsMissing, match="HERMES_ACP_PROVIDER"):
        endpoint({}, {"HERMES_ACP_API_KEY": "general"})


def test_a_named_variable_goes_where_the_person_said():
    config = {"base_url": "https://proxy.example/v1", "name": "m", "api_key_env": "OPENAI_API_KEY"}
    assert endpoint(config, ALL_KEYS).api_key == "sk-openai"
    with pytest.raises(CredentialsMissing, match="WORK_KEY"):
        endpoint({"provider": "openai", "api_key_env": "WORK_KEY"}, ALL_KEYS)


def test_a_stored_key_goes_to_the_address_it_was_given_for(home):
    file = home / "credentials.json"
    store_key(file, "https://api.openai.com/v1", "sk-stored")
    store_key(file, "https://my.example:8443/v1", "sk-mine")
    stored = read_stored(file).keys
    assert endpoint({"provider": "openai"}, {}, stored).api_key == "sk-stored"
    assert endpoint({"base_url": "https://my.example:8443/x", "name": "m"}, {}, stored).api_key == "sk-mine"
    for url in ("https://my.example/v1", "http://my.example:8443/v1", "https://my.example.evil:8443/v1"):
        assert endpoint({"base_url": url, "name": "m"}, {}, stored).api_key == ""
    assert endpoint({"provider": "openai"}, ALL_KEYS, stored).api_key == "sk-openai"


def test_a_key_with_a_line_end_is_trimmed_and_a_broken_one_refused():
    assert endpoint({}, {"OPENAI_API_KEY": " sk-x\n"}).api_key == "sk-x"
    with pytest.raises(ConfigError) as caught:
        endpoint({}, {"OPENAI_API_KEY": "sk-SECRET\nX: y"})
    assert "SECRET" not in str(caught.value)


def test_keys_are_in_no_representation(home):
    store_key(home / "credentials.json", "https://x.example", "sk-SECRET-stored")
    settings = load(home, OPENAI_API_KEY="sk-SECRET-env")
    assert "SECRET" not in repr(settings)
    assert "SECRET" not in repr(resolve_model(settings))
    assert "SECRET" not in repr(read_stored(home / "credentials.json"))


# The credentials file


def test_stored_keys_are_readable_by_their_owner_only(home):
    file = home / "new" / "credentials.json"
    store_key(file, "https://x.example", "k")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [entry.name for entry in file.parent.iterdir()] == ["credentials.json"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_keys_that_others_can_read_are_not_used(home, mode):
    file = home / "credentials.json"
    store_key(file, "https://api.openai.com", "sk-leaked")
    file.chmod(mode)
    settings = load(home)
    [warning] = settings.warnings
    assert "other users can read it" in warning
    assert "sk-leaked" not in warning
    with pytest.raises(CredentialsMissing):
        resolve_model(settings)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"keys": {"a": 1}}', b"\xff", b"[" * 100_000])
def test_a_damaged_file_of_keys_is_a_warning(home, content):
    file = home / "credentials.json"
    file.write_bytes(content)
    file.chmod(0o600)
    [warning] = load(home).warnings
    assert "damaged" in warning


# Resolution


@pytest.mark.parametrize(
    ("explicit", "provider", "url", "expected"),
    [
        ("codex_responses", "anthropic", "https://api.anthropic.com", "codex_responses"),
        ("", "anthropic", "https://proxy.example/v1", "anthropic_messages"),
        ("", "openai-codex", "https://proxy.example/v1", "codex_responses"),
        ("", "custom", "https://api.anthropic.com/v1", "anthropic_messages"),
        ("", "custom", "https://proxy.example/anthropic", "anthropic_messages"),
        ("", "custom", "https://proxy.example/anthropic/", "anthropic_messages"),
        ("", "custom", "https://proxy.example/anthropic/v1", "chat_completions"),
        ("", "custom", "https://chatgpt.com/backend-api/codex", "codex_responses"),
        ("", "custom", "https://chatgpt.com.evil.example/backend-api/codex", "chat_completions"),
        ("", "custom", "https://evil.example/chatgpt.com/backend-api/codex", "chat_completions"),
        ("chat_completions", "openai-codex", "https://chatgpt.com/backend-api/codex", "chat_completions"),
        ("", "custom", "https://api.anthropic.com.evil.example", "chat_completions"),
        ("", "custom", "https://evil.example/api.anthropic.com", "chat_completions"),
        ("", "custom", "https://evil.example/?x=/anthropic", "chat_completions"),
        ("", "custom", "https://evil.example/not-anthropic", "chat_completions"),
        ("", "custom", "https://api.anthropic.com@evil.example/v1", "chat_completions"),
        ("", "custom", "https://API.Anthropic.com", "anthropic_messages"),
        ("", "openai", "https://api.openai.com/v1", "chat_completions"),
    ],
)
def test_the_api_mode_is_found_in_four_steps(explicit, provider, url, expected):
    assert api_mode_of(explicit, provider, url) == expected


def test_a_key_alone_is_enough():
    found = endpoint({}, {"OPENAI_API_KEY": "sk"})
    assert (found.provider, found.base_url, found.api_mode) == (
        "openai",
        "https://api.openai.com/v1",
        "chat_completions",
    )
    assert found.model
    assert endpoint({}, {"ANTHROPIC_API_KEY": "sk"}).api_mode == "anthropic_messages"


@pytest.mark.parametrize("mode", API_MODES)
def test_every_api_can_be_asked_for(home, mode):
    assert resolve_model(load(home, OPENAI_API_KEY="sk", HERMES_ACP_API_MODE=mode)).api_mode == mode


@pytest.mark.parametrize("written", ['"2023-06-01"', "2023-06-01"])
def test_the_version_of_a_messages_api_is_a_date(home, written):
    (home / "config.toml").write_text(f"[model]\nanthropic_version = {written}\n", encoding="utf-8")
    assert resolve_model(load(home, ANTHROPIC_API_KEY="sk")).anthropic_version == "2023-06-01"
    (home / "config.toml").write_text('[model]\nanthropic_version = "newest"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"model\.anthropic_version: must be a date"):
        load(home)


def test_the_length_of_an_answer_can_be_said(home):
    (home / "config.toml").write_text("[model]\nmax_output = 64000\n", encoding="utf-8")
    assert resolve_model(load(home, ANTHROPIC_API_KEY="sk")).max_output == 64_000


def test_the_demo_has_an_api_of_its_own(home):
    assert resolve_model(load(home, HERMES_ACP_PROVIDER="demo")).api_mode == "demo"


def test_the_name_of_a_model_chooses_among_keys():
    assert endpoint({"name": "claude-x"}, ALL_KEYS).provider == "anthropic"
    assert endpoint({"name": "gpt-x"}, ALL_KEYS).provider == "openai"
    assert endpoint({"name": "qwen/x"}, ALL_KEYS).provider == "openrouter"


def test_a_local_server_needs_no_key():
    found = endpoint({"provider": "ollama", "name": "qwen"}, ALL_KEYS)
    assert found == ModelEndpoint("ollama", "qwen", "http://127.0.0.1:11434/v1", api_mode="chat_completions")
    assert endpoint({"base_url": "http://127.0.0.1:1234/v1", "name": "m"}).provider == "lmstudio"
    assert endpoint({"base_url": "http://127.0.0.1:9/v1", "name": "m"}).provider == "custom"


def test_the_demo_is_there_when_it_is_named():
    assert endpoint({"provider": "demo"}, ALL_KEYS) == ModelEndpoint("demo", "demo", "", api_mode="demo")


@pytest.mark.parametrize(
    ("config", "hint"),
    [
        ({}, "hermes-acp-agent setup"),
        ({"name": "gpt-x"}, "OPENAI_API_KEY"),
        ({"provider": "openai"}, "OPENAI_API_KEY"),
        ({"provider": "anthropic"}, "ANTHROPIC_API_KEY"),
        ({"base_url": "https://openrouter.ai/api/v1"}, "OPENROUTER_API_KEY"),
    ],
)
def test_without_credentials_the_error_says_what_to_do(config, hint):
    with pytest.raises(CredentialsMissing, match=hint):
        endpoint(config)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"provider": "opnai"}, "did you mean openai"),
        ({"provider": "custom"}, "model.base_url"),
        ({"provider": "ollama"}, "model.name"),
        ({"base_url": "https://my.example/v1"}, "model.name"),
    ],
)
def test_an_incomplete_configuration_says_what_is_missing(config, reason):
    with pytest.raises(ConfigError, match=reason):
        endpoint(config, ALL_KEYS)


# Home, logout, log


def test_a_logout_lasts_until_the_next_login(home):
    assert not is_signed_out(load(home).home)
    sign_out(load(home).home)
    sign_out(load(home).home)
    assert is_signed_out(load(home).home)
    sign_in(load(home).home)
    sign_in(load(home).home)
    assert not is_signed_out(load(home).home)


def test_a_logout_that_cannot_be_kept_says_so(tmp_path):
    (tmp_path / "file").touch()
    for home in (Home(None, None), Home(tmp_path / "file", tmp_path / "file")):
        with pytest.raises(HermesError, match="only until the program ends"):
            sign_out(home)
        assert not is_signed_out(home)


def test_all_is_under_the_home_that_is_named(tmp_path):
    home = find_home({"HERMES_ACP_HOME": str(tmp_path)})
    places = (home.config_file, home.credentials_file, home.database, home.signed_out_file)
    assert {place.parent for place in places} == {tmp_path}
    assert find_home({"HERMES_ACP_HOME": "relative"}).database.is_absolute()
    assert find_home({"HERMES_ACP_HOME": "~/x"}).database.is_absolute()


WITHOUT_HOME = """
import os, sys
if os.geteuid() == 0:
    os.setuid(54321)
from hermes_acp.settings.load import load_settings
from hermes_acp.errors import CredentialsMissing
settings = load_settings({}, os.environ)
sys.stdout.write(f"{settings.home.config_file}|{settings.home.database}")
"""


def test_a_user_without_any_home_has_none_and_nothing_crashes():
    environ = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(REPOSITORY)}
    code = "import hermes_acp.settings.load\n" + WITHOUT_HOME
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stderr
    for part in done.stdout.split("|"):
        assert part == "None" or part.startswith("/")


def test_no_key_is_written_to_the_log(home):
    log = home / "log.txt"
    settings = load(home, {"log.file": str(log), "log.level": "debug"}, OPENAI_API_KEY="sk-SECRET\n")
    before = logging.root.handlers[:], logging.root.level
    try:
        start_logging(settings)
        try:
            raise ValueError("401: the key sk-SECRET is wrong \ud800")
        except ValueError:
            logging.getLogger("x").exception("header %s", {"authorization": "Bearer sk-SECRET"})
        for handler in logging.root.handlers:
            handler.close()
    finally:
        logging.root.handlers[:], logging.root.level = before
    text = log.read_text(encoding="utf-8")
    assert "SECRET" not in text
    assert text.count("[key]") == 3  # the message, the line of source, the exception


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "CODEX_ACCESS_TOKEN", "MY_OWN"])
def test_every_key_that_there_is_for_a_model_is_known_as_one_whether_or_not_it_is_used(home, name):
    (home / "config.toml").write_text('[[fallback_providers]]\nmodel = "m"\napi_key_env = "MY_OWN"\n')
    load(home, **{name: f"secret-of-{name.lower()}"})
    assert confidential.is_kept(f"secret-of-{name.lower()}")


def test_another_provider_takes_nothing_from_the_one_that_it_replaces(home):
    file = '[model]\nprovider = "custom"\nname = "mine"\nbase_url = "http://127.0.0.1:9/v1"\nvision = false\n'
    (home / "config.toml").write_text(file)
    model = load(home, {"model.provider": "openai"}).config.model
    assert (model.provider, model.name, model.base_url) == ("openai", "", "")
    model = load(home, {"model.provider": "custom"}).config.model
    assert (model.name, model.base_url) == ("mine", "http://127.0.0.1:9/v1")
    model = load(home, {"model.name": "other"}).config.model
    assert (model.name, model.base_url) == ("other", "http://127.0.0.1:9/v1")


# Changing the file


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[model]\nname = "new"\n'),
        ("# mine\n", '# mine\n\n[model]\nname = "new"\n'),
        ('[model]\nname = "old" # why\nprovider = "x"\n', '[model]\nname = "new"\nprovider = "x"\n'),
        (
            '[ model ] # it\n"name" = "old"\n\n[agent]\nmax_turns = 3\n',
            '[ model ] # it\nname = "new"\n\n[agent]\nmax_turns = 3\n',
        ),
        ("[agent]\nmax_turns = 3", '[agent]\nmax_turns = 3\n\n[model]\nname = "new"\n'),
        ('[model]\r\nname = "old"\r\ncontext_window = 5\r\n', '[model]\nname = "new"\ncontext_window = 5\n'),
    ],
)
def test_a_value_is_changed_and_all_else_stays(before, after):
    assert set_values(before, "model", {"name": "new", "base_url": ""}).replace("\r", "") == after


@pytest.mark.parametrize(
    "before",
    [
        'model = {name = "old"}\n',
        'model.name = "old"\n',
        '[model]\nprovider = """\n[model]\nname = "x"\n"""\nname = "old"\n',
        '[[model]]\nname = "x"\n',
    ],
)
def test_a_file_that_cannot_be_changed_by_lines_is_left_to_the_person(before):
    with pytest.raises(ConfigError, match=r'model\.name = "new"'):
        set_values(before, "model", {"name": "new"})


def test_stored_keys_are_json_by_address(home):
    store_key(home / "c.json", "https://x.example/v1", "k")
    assert json.loads((home / "c.json").read_text(encoding="utf-8")) == {"keys": {"https://x.example:443": "k"}}


@pytest.mark.parametrize("reader", [False, True], ids=["nobody reads", "somebody reads"])
def test_a_pipe_as_log_file_does_not_hold_up_the_start(tmp_path, reader):
    os.mkfifo(tmp_path / "log")
    reading = os.open(tmp_path / "log", os.O_RDONLY | os.O_NONBLOCK) if reader else None
    script = """
        import sys
        from hermes_acp.settings import load_settings, start_logging
        start_logging(load_settings({"log.file": sys.argv[1]}, {}))
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "log")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    assert "The log cannot go to" in done.stderr
    if reading is not None:
        os.close(reading)
