"""Where a key may go: to its own host, or where the person said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.errors import ConfigError, CredentialsMissing
from hermes_acp.settings.credentials import read_stored, store_key
from hermes_acp.settings.endpoint import Keys
from tests.support.settings import ALL_KEYS, endpoint


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
