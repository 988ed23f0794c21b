"""From settings to the one endpoint that answers: provider, model, address, API, key."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.config import ModelConfig
from hermes_acp.errors import ConfigError, CredentialsMissing
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.settings.credentials import origin, read_stored
from hermes_acp.settings.key_command import key_of_command
from hermes_acp.settings.keyrings import WHERE, begin_reading
from hermes_acp.settings.providers import DEMO, PROVIDERS, KnownProvider, api_mode_of, provider_at
from hermes_acp.text import nearest

if TYPE_CHECKING:
    from hermes_acp.agent.providers.keychain import ReadKey

SETUP_HINT = "run `hermes-acp-agent setup`"
_NAME_IT = "say which (--model NAME, HERMES_ACP_MODEL, or `hermes-acp-agent setup`)"
ANY_KEY = "HERMES_ACP_API_KEY"
"""The key for whatever endpoint is configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEndpoint(Endpoint):
    """Where a model is asked, and what only the settings know of it.

    `api_mode` is one of `hermes_acp.config.API_MODES`, or "demo". `key_source` says where the key was found,
    `in_keyring` that it is still to be read there, `in_command` that a command is still to be asked. `read_key` reads
    it anew, wherever it is by then; None where there is none to read. `context_window` is in tokens, 0 when nobody
    said.
    """

    api_mode: str
    context_window: int = 0
    key_source: str = ""
    in_keyring: bool = False
    in_command: bool = False
    read_key: ReadKey | None = field(default=None, repr=False, compare=False)

    @property
    def known_key(self) -> str | None:
        """The key, None as long as it is still to be read."""
        return None if self.in_keyring or self.in_command else self.api_key


@dataclass(frozen=True, slots=True)
class Key:
    """A key and where it was found, in words; of one in the keyring or of a command the value is still to be read."""

    value: str = field(repr=False)
    source: str
    in_keyring: bool = False
    in_command: bool = False


@dataclass(frozen=True, slots=True)
class Keys:
    """Where keys are looked up: the environment, and what `setup` stored by origin, in a file or in the keyring.

    `file` is the one that holds what was stored. `general` is the variable of the key for the configured endpoint,
    `command` the program that writes it; both are empty where the key of another one is looked up.
    """

    environ: Mapping[str, str] = field(repr=False)
    stored: Mapping[str, str] = field(repr=False)
    in_keyring: frozenset[str] = frozenset()
    file: Path | None = None
    general: str = ANY_KEY
    command: tuple[str, ...] = ()

    def of_others(self) -> Keys:
        """The keys that may go to other endpoints than the configured one."""
        return replace(self, general="", command=())

    def anew(self) -> Keys:
        """The same places, looked at now."""
        stored = read_stored(self.file)
        return replace(self, stored=stored.keys, in_keyring=stored.in_keyring)

    def variable(self, name: str) -> Key | None:
        """The key in an environment variable.

        Raises:
            ConfigError: it holds something that cannot be a key.
        """
        value = self.environ.get(name, "").strip()
        if not (value.isascii() and value.isprintable()):
            raise ConfigError(f"{name}: holds characters that no key has")
        return Key(value, name) if value else None

    def own(self, url: str) -> Key | None:
        """The key that is meant for this address alone: its provider's own variable, else what was stored."""
        known = provider_at(url)
        if known and known.is_hosted and urlsplit(url).scheme == "https":
            found = self.variable(known.key_variable)
            if found:
                return found
        if origin(url) in self.in_keyring:
            return Key("", WHERE, in_keyring=True)
        value = self.stored.get(origin(url), "")
        return Key(value, "the keys stored by setup") if value else None


def resolve(config: ModelConfig, keys: Keys) -> ModelEndpoint:
    """The endpoint that the settings name, completed from the keys that are there.

    Raises:
        CredentialsMissing: nothing is configured that could answer; the text says what to do.
        ConfigError: what is configured cannot be completed.
    """
    if config.provider == DEMO:
        return ModelEndpoint(DEMO, config.name or DEMO, "", api_mode=DEMO, context_window=config.context_window)
    if config.provider or config.base_url:
        config = completed(config)
        return _endpoint(config, keys, _configured_key(config, keys))
    known, key = _found(config, keys)
    return _endpoint(replace(config, provider=known.name, base_url=known.base_url), keys, key)


async def read_key(config: ModelConfig, keys: Keys) -> str:
    """The key of an endpoint as it is now, "" when there is none; a keyring or a command may take long.

    Args:
        config: what the settings say of it, both provider and address among it.

    Raises:
        HermesError: it cannot be read; without the key in the text.
    """
    keys = await asyncio.to_thread(keys.anew)
    key = _configured_key(config, keys)
    if key and key.in_keyring:
        return await asyncio.wrap_future(begin_reading(origin(config.base_url)))
    if key and key.in_command:
        return await key_of_command(keys.command)
    return key.value if key else ""


def says_nothing(config: ModelConfig, keys: Keys) -> bool:
    """Whether neither settings nor keys say anything of a model: only then is one looked for on this machine."""
    named = config.provider or config.base_url or config.name or config.api_key_env
    variables = (ANY_KEY, *(known.key_variable for known in PROVIDERS.values() if known.is_hosted))
    return not (
        named
        or keys.stored
        or keys.in_keyring
        or keys.command
        or any(keys.environ.get(name, "").strip() for name in variables)
    )


def completed(config: ModelConfig) -> ModelConfig:
    """The settings with both a provider and an address."""
    if not config.base_url:
        return replace(config, base_url=_address_of(config.provider))
    known = provider_at(config.base_url)
    return replace(config, provider=config.provider or (known.name if known else "custom"))


def _address_of(provider: str) -> str:
    known = PROVIDERS.get(provider)
    if known and known.base_url:
        return known.base_url
    if known:
        raise ConfigError(f"model.base_url: the provider {provider} needs one (--base-url URL, or `setup`)")
    near = nearest(provider, PROVIDERS)
    hint = f"did you mean {near}?" if near else f"known are {', '.join(PROVIDERS)}"
    raise ConfigError(f"model.provider: there is no {provider!r} ({hint}); one of your own needs model.base_url")


def _configured_key(config: ModelConfig, keys: Keys) -> Key | None:
    found = keys.variable(keys.general)
    if found:
        return found
    if not config.api_key_env and keys.command:
        return Key("", "credentials.command", in_command=True)
    if not config.api_key_env:
        return keys.own(config.base_url)
    found = keys.variable(config.api_key_env)
    if not found:
        raise CredentialsMissing(f"The variable {config.api_key_env}, named in model.api_key_env, is not set.")
    return found


def _found(config: ModelConfig, keys: Keys) -> tuple[KnownProvider, Key]:
    """A service that there is a key for, when nothing else was said; the model's own one when there are more.

    Only a service's own key counts: a key without an address must not be sent to a guessed one.
    """
    hosted = [(known, keys.own(known.base_url)) for known in PROVIDERS.values() if known.is_hosted]
    usable = [(known, key) for known, key in hosted if key]
    if not usable:
        raise CredentialsMissing(_nothing_configured(config, keys))
    fitting = [(known, key) for known, key in usable if config.name.startswith(known.models)]
    return (fitting or usable)[0]


def _nothing_configured(config: ModelConfig, keys: Keys) -> str:
    named = next((name for name in (ANY_KEY, config.api_key_env) if name and keys.environ.get(name)), "")
    if named:
        return f"{named} is set, but nothing says whose key it is: set HERMES_ACP_PROVIDER or HERMES_ACP_BASE_URL."
    if keys.command:
        return "credentials.command is set, but nothing says whose key it gives: set model.provider or model.base_url."
    variables = ", ".join(known.key_variable for known in PROVIDERS.values() if known.is_hosted)
    return f"No model is configured: {SETUP_HINT}, set one of {variables}, or start a model server on this machine."


def _endpoint(config: ModelConfig, keys: Keys, key: Key | None) -> ModelEndpoint:
    known = provider_at(config.base_url)
    if known and known.is_hosted and not key:
        raise CredentialsMissing(_no_key(known, config.base_url))
    name = config.name or (known.default_model if known else "")
    if not name:
        raise ConfigError(f"model.name: no model is named for the provider {config.provider}: {_NAME_IT}")
    return ModelEndpoint(
        provider=config.provider,
        model=name,
        base_url=config.base_url,
        api_mode=api_mode_of(config.api_mode, config.provider, config.base_url),
        api_key=key.value if key else "",
        key_source=key.source if key else "",
        in_keyring=key.in_keyring if key else False,
        context_window=config.context_window,
        sees_images=config.vision is not False,
        anthropic_version=config.anthropic_version,
        max_output=config.max_output,
        in_command=key.in_command if key else False,
        read_key=partial(read_key, config, keys),
    )


def _no_key(known: KnownProvider, url: str) -> str:
    if urlsplit(url).scheme != "https":
        return f"The key of {known.label} is only sent over https, and {url} is not."
    return f"There is no key for {known.label}: set {known.key_variable}, or {SETUP_HINT}."
