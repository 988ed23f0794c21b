"""All that is set for one start of the program, from the command line, the environment and the person's files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from hermes_acp.config import Config
from hermes_acp.config_keys import build_config, read_values, tighten
from hermes_acp.errors import ConfigError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import confidential
from hermes_acp.local.environment import withhold
from hermes_acp.settings.credentials import read_stored
from hermes_acp.settings.endpoint import Keys, ModelEndpoint, resolve, says_nothing
from hermes_acp.settings.files import read_toml
from hermes_acp.settings.homes import Home, find_home
from hermes_acp.settings.local_servers import LocalServer, places
from hermes_acp.settings.located import located
from hermes_acp.settings.providers import PROVIDERS
from hermes_acp.settings.sources import LEVELS, checked, from_environment

PROJECT_FILE = ".hermes-acp.toml"

_OF_ONE_PROVIDER = {"model.name", "model.base_url", "model.api_mode", "model.api_key_env", "model.context_window"}
"""What is said of a model at one provider and of no other."""


@dataclass(frozen=True, slots=True)
class LogConfig:
    """Where the log goes (None: standard error) and from which level on."""

    file: Path | None = None
    level: str = "warning"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a start of the program goes by. `warnings` are lines for the person; nothing in it stops a start."""

    home: Home
    config: Config
    log: LogConfig = LogConfig()
    warnings: tuple[str, ...] = ()
    keys: Keys = field(default_factory=lambda: Keys({}, {}), repr=False)
    local_servers: tuple[LocalServer, ...] = ()

    @property
    def says_no_model(self) -> bool:
        """Whether nothing at all is configured, so that `local_servers` are worth a look."""
        return says_nothing(self.config.model, self.keys)


def load_settings(
    overrides: Mapping[str, str], environ: Mapping[str, str], given: Mapping[str, Any] | None = None
) -> Settings:
    """The settings of this start: command line before environment before the person's file.

    Args:
        overrides: texts by dotted key ("model.name"), as `from_arguments` gives them.
        environ: the environment variables.
        given: checked values by dotted key that go before all of these, as a program gives them.

    The keys among them are in no log and in no result of a tool from here on, and no command inherits them.

    Raises:
        ConfigError: one of the three is wrong: one line naming the place, the key and the reason.
    """
    home = find_home(environ)
    data = read_toml(home.config_file) if home.config_file else {}
    source = str(home.config_file)
    variables = from_environment(environ)
    with located(home.config_file):
        values = read_values(data, source)
    values = _over(values, checked(variables, lambda option: option.variable))
    values = _over(values, checked(overrides, lambda option: option.flag or option.key))
    values = _over(values, given or {})
    stored = read_stored(home.credentials_file)
    warnings = (stored.warning,) if stored.warning else ()
    log = _log_config({**variables, **overrides})
    config = build_config(values)
    keys = Keys(environ, stored.keys, stored.in_keyring, file=home.credentials_file, command=config.credentials.command)
    confidential.keep(*_known_keys(config, keys))
    for name in config.key_variables:
        withhold(name)
    return Settings(home, config, log, warnings, keys, places(environ))


def resolve_model(settings: Settings) -> ModelEndpoint:
    """The endpoint that answers under these settings. Looks at no network, and not at a logout.

    Raises:
        CredentialsMissing: nothing is configured that could answer; the text says what to do.
        ConfigError: what is configured cannot be completed.
    """
    return resolve(settings.config.model, settings.keys)


def config_in(settings: Settings, cwd: Path) -> Config:
    """The settings for a session in a folder, under the project's own file (which can only tighten).

    Raises:
        ConfigError: the project's file is wrong: one line naming file, key and reason.
    """
    path = cwd / PROJECT_FILE
    with located(path):
        return tighten(settings.config, read_toml(path), str(path))


def _over(values: Mapping[str, Any], nearer: Mapping[str, Any]) -> dict[str, Any]:
    """The values with those of a nearer source. Another provider takes nothing from the one that it replaces."""
    before, now = values.get("model.provider"), nearer.get("model.provider")
    kept = {key: value for key, value in values.items() if key not in _OF_ONE_PROVIDER} if before and now else values
    return {**(values if before == now else kept), **nearer}


def _known_keys(config: Config, keys: Keys) -> Iterator[str]:
    """Every key that there is for a model, whether or not it is ever used."""
    named = {*config.key_variables, *(known.key_variable for known in PROVIDERS.values())}
    yield from (value.strip() for name, value in keys.environ.items() if name in named or name.endswith("_API_KEY"))
    yield from keys.stored.values()


def _log_config(texts: Mapping[str, str]) -> LogConfig:
    level = texts.get("log.level", "warning").lower()
    if level not in LEVELS:
        raise ConfigError(f"log level: must be one of {', '.join(LEVELS)}")
    file = texts.get("log.file", "")
    return LogConfig(Path(file) if file else None, level)
