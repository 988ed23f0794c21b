"""Where settings come from, and which of two wins."""

import subprocess
import sys
from pathlib import Path

import pytest

from hermes_acp.config import API_MODES, Config, ModelConfig
from hermes_acp.errors import ConfigError
from hermes_acp.local import confidential
from hermes_acp.settings import config_in, resolve_model
from hermes_acp.settings.credentials import read_stored, store_key
from tests.support.settings import load

REPOSITORY = Path(__file__).parents[2]


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


def test_keys_are_in_no_representation(home):
    store_key(home / "credentials.json", "https://x.example", "sk-SECRET-stored")
    settings = load(home, OPENAI_API_KEY="sk-SECRET-env")
    assert "SECRET" not in repr(settings)
    assert "SECRET" not in repr(resolve_model(settings))
    assert "SECRET" not in repr(read_stored(home / "credentials.json"))


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
