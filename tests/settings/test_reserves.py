"""The models beside the configured one: where they are, and whose key goes to them."""

import pytest

from hermes_acp.errors import ConfigError
from hermes_acp.settings import load_settings, resolve_model, resolve_reserves, resolve_sides
from hermes_acp.settings.credentials import store_key
from hermes_acp.settings.reserves import distinct

PRIMARY = '[model]\nprovider = "custom"\nname = "big"\nbase_url = "http://primary.example/v1"\n'
ANY = {"HERMES_ACP_API_KEY": "sk-of-the-primary-01"}


@pytest.fixture
def resolve(tmp_path):
    """The primary and its reserves, of a file and an environment."""

    def settle(text, primary=PRIMARY, **environ):
        (tmp_path / "config.toml").write_text(primary + text, encoding="utf-8")
        settings = load_settings({}, {"HERMES_ACP_HOME": str(tmp_path), **environ})
        endpoint = resolve_model(settings)
        return endpoint, resolve_reserves(settings, endpoint), resolve_sides(settings, endpoint)

    return settle


def entry(**fields):
    return "[[fallback_providers]]\n" + "".join(f'{key} = "{value}"\n' for key, value in fields.items())


def test_the_key_for_the_configured_endpoint_goes_to_no_other_host(resolve):
    reserves = entry(base_url="http://other.example/v1", model="m", provider="custom")
    primary, [reserve], _ = resolve(reserves, **ANY)
    assert (primary.api_key, reserve.api_key) == ("sk-of-the-primary-01", "")


def test_a_providers_own_variable_goes_to_its_host_alone(resolve):
    reserves = entry(provider="openai") + entry(provider="openai", base_url="http://api.openai.com.evil/v1", model="m")
    _, (own, other), _ = resolve(reserves, OPENAI_API_KEY="sk-of-openai-0123", **ANY)
    assert (own.base_url, own.model, own.api_key) == ("https://api.openai.com/v1", "gpt-5.5", "sk-of-openai-0123")
    assert other.api_key == ""


def test_a_named_variable_goes_where_it_is_named(resolve):
    reserves = entry(base_url="http://other.example/v1", model="m", api_key_env="OTHER")
    _, [reserve], _ = resolve(reserves, OTHER="sk-other-0123456789", **ANY)
    assert (reserve.api_key, reserve.provider) == ("sk-other-0123456789", "custom")


def test_another_model_at_the_same_place_needs_no_more_than_its_name(resolve):
    _, [reserve], sides = resolve(entry(model="small") + '[auxiliary.title]\nmodel = "tiny"\n', **ANY)
    assert (reserve.provider, reserve.model, reserve.base_url) == ("custom", "small", "http://primary.example/v1")
    assert reserve.api_key == "sk-of-the-primary-01"
    [title] = sides["title"]
    assert (title.model, title.base_url, title.api_key) == ("tiny", "http://primary.example/v1", "sk-of-the-primary-01")


def test_what_has_no_key_is_left_out(resolve, caplog):
    reserves = entry(provider="openai") + entry(provider="ollama", model="m")
    _, [reserve], sides = resolve(reserves + '[auxiliary.vision]\nprovider = "openrouter"\n')
    assert (reserve.provider, sides) == ("ollama", {})
    assert "fallback_providers (entry 1): left out: There is no key for OpenAI" in caplog.text
    assert "auxiliary.vision: left out: There is no key for OpenRouter" in caplog.text


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"provider": "opnai", "model": "m"}, r"\(entry 1\).provider: there is no 'opnai' \(did you mean openai\?"),
        ({"provider": "ollama"}, r"\(entry 1\).model: no model is named for the provider ollama"),
        ({"provider": "demo"}, r"\(entry 1\).provider: demo is no model"),
    ],
)
def test_what_cannot_be_completed_is_an_error_that_names_the_place(resolve, fields, line):
    with pytest.raises(ConfigError, match=r"^fallback_providers " + line):
        resolve(entry(**fields))


def test_the_command_gives_the_key_of_the_configured_endpoint_only(resolve):
    text = '[credentials]\ncommand = ["helper"]\n' + entry(base_url="http://other.example/v1", model="m")
    primary, (reserve, beside), _ = resolve(text + entry(model="small"))
    assert (primary.known_key, primary.in_command, primary.key_source) == (None, True, "credentials.command")
    assert (reserve.known_key, reserve.in_command) == ("", False)
    assert (beside.known_key, beside.in_command) == (None, True)


def test_a_variable_of_the_environment_goes_before_the_command(resolve):
    primary, *_ = resolve('[credentials]\ncommand = ["helper"]\n', **ANY)
    assert (primary.known_key, primary.in_command) == ("sk-of-the-primary-01", False)


async def test_the_key_is_read_anew_where_it_is_by_then(resolve, tmp_path):
    """Set up again while the agent runs, or changed in the variable."""
    place = "http://primary.example/v1"
    store_key(tmp_path / "credentials.json", place, "sk-stored-first-01")
    primary, *_ = resolve("")
    assert primary.api_key == "sk-stored-first-01"
    store_key(tmp_path / "credentials.json", place, "sk-stored-second-02")
    assert await primary.read_key() == "sk-stored-second-02"
    environ = {"NAMED": "sk-named-first-01", "HERMES_ACP_HOME": str(tmp_path)}
    (tmp_path / "config.toml").write_text(PRIMARY + 'api_key_env = "NAMED"\n')
    named = resolve_model(load_settings({}, environ))
    environ["NAMED"] = "sk-named-second-02"
    assert await named.read_key() == "sk-named-second-02"


# Names


def names(primary, reserves):
    return [(choice.label, choice.endpoint.provider) for choice in distinct(primary, reserves)]


def test_each_reserve_has_a_name_of_its_own(resolve):
    reserves = (
        entry(model="small")
        + entry(base_url="http://two.example:8000/v1", model="big")
        + entry(base_url="http://three.example/v1", model="big")
        + entry(provider="ollama", model="big")
        + entry(model="small")
        + entry(model="big")
    )
    primary, found, _ = resolve(reserves)
    assert names(primary, found) == [
        ("small", "custom"),
        ("big (custom at two.example:8000)", "custom at two.example:8000"),
        ("big (custom at three.example)", "custom at three.example"),
        ("big (ollama)", "ollama"),
    ]
