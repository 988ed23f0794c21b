"""Which model is asked, and what is said when something is missing."""

import pytest

from hermes_acp.errors import ConfigError, CredentialsMissing
from hermes_acp.settings import ModelEndpoint
from tests.support.settings import ALL_KEYS, endpoint


def test_a_key_alone_is_enough():
    found = endpoint({}, {"OPENAI_API_KEY": "sk"})
    assert (found.provider, found.base_url, found.api_mode) == (
        "openai",
        "https://api.openai.com/v1",
        "chat_completions",
    )
    assert found.model
    assert endpoint({}, {"ANTHROPIC_API_KEY": "sk"}).api_mode == "anthropic_messages"


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
