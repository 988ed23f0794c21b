"""`hermes-acp setup`: asks which model to use and stores the answer, the key apart from the rest."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from hermes_acp.cli.choosing import ask_model, models_at, try_out
from hermes_acp.cli.main import settings_parser, typed_name
from hermes_acp.cli.snippets import SNIPPETS
from hermes_acp.cli.terminal import agreed, ask, ask_secret, say
from hermes_acp.config import API_MODES, ModelConfig
from hermes_acp.config_keys import check_value, parse_config
from hermes_acp.errors import ConfigError, HermesError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import confidential
from hermes_acp.local.small_files import write_like_before
from hermes_acp.settings.credentials import note_keyring, origin, read_stored, sign_in, store_key
from hermes_acp.settings.edit import set_values
from hermes_acp.settings.endpoint import ANY_KEY, Key, Keys, ModelEndpoint, resolve
from hermes_acp.settings.files import read_small, read_toml
from hermes_acp.settings.homes import Home, find_home
from hermes_acp.settings.keyrings import KeyringUnusable, begin_storing
from hermes_acp.settings.providers import DEMO, PROVIDERS, KnownProvider, api_mode_of, provider_at
from hermes_acp.settings.sources import OPTIONS

_OFFERED = [known for known in PROVIDERS.values() if known.name != DEMO]


_APIS: Mapping[str, str] = {
    "chat_completions": "OpenAI's Chat Completions, which most servers speak",
    "codex_responses": "OpenAI's Responses",
    "anthropic_messages": "Anthropic's Messages",
}

_KEYRING_SECONDS = 60
"""The person may have to unlock the keyring first."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """What the person answered: the values of the file's model table ("": not in it), the endpoint they mean,
    and the key (empty: the one that is there already, or none)."""

    values: dict[str, str]
    place: ModelConfig
    key: str = field(repr=False)


def run(overrides: Mapping[str, str], arguments: Sequence[str]) -> int:
    """Ask and store; 0 only when everything is stored. With `--offline` no server is asked for its models.

    Raises:
        HermesError: it could not be stored, or the input ended; the text says which.
    """
    given = _parse(arguments)
    offline = given.pop("offline", False)
    home = find_home(os.environ)
    if home.config_file is None or home.credentials_file is None:
        raise HermesError("there is no folder for settings: set HERMES_ACP_HOME to one")
    data = read_toml(home.config_file)
    stored = read_stored(home.credentials_file)
    keys = Keys(os.environ, stored.keys, stored.in_keyring, file=home.credentials_file)
    choice = _ask(_present(data, {**overrides, **given}), keys, offline)
    if not (offline or _try_out(choice, keys)):
        say("Nothing was stored.")
        return 1
    try:
        place = _store(choice, home.config_file, home.credentials_file)
    except OSError as error:
        raise HermesError(f"it could not be stored: {error.filename or home.config}: {error.strerror}") from None
    sign_in(home)
    _report(place, home)
    return 0


def _parse(arguments: Sequence[str]) -> dict[str, Any]:
    parser = settings_parser(
        "setup [--offline] [OPTIONS]",
        "Asks which model to use, tries it if you like, and stores the answers; the key apart from the rest.",
    )
    parser.add_argument("--offline", action="store_true", help="ask no server for its models, and try none")
    return vars(parser.parse_args(arguments))


def _present(data: Mapping[str, Any], overrides: Mapping[str, str]) -> dict[str, str]:
    """The values to offer: those on the command line, else those of the file."""
    table = data.get("model")
    values = {key: value for key, value in table.items() if isinstance(value, str)} if isinstance(table, dict) else {}
    given = {key.removeprefix("model."): value for key, value in overrides.items() if key.startswith("model.")}
    return {**values, **given}


def _ask(present: Mapping[str, str], keys: Keys, offline: bool) -> _Choice:
    known = _ask_provider(present.get("provider", ""))
    same = present if present.get("provider") == known.name else {}
    before = same.get("base_url") or known.base_url
    url = ask("Base URL", before, _check_url)
    # What the file said of another endpoint does not hold for this one; above all, no variable named
    # for another provider's key may stay.
    here = same if url == before else {}
    mode = _ask_mode(known, url, here.get("api_mode", ""))
    variable = here.get("api_key_env", "")
    key = _ask_key(url, _key_there(url, variable, keys))
    confidential.keep(key)
    place = ModelConfig(known.name, "?", url, mode, "" if key else variable)
    default = known.default_model if provider_at(url) is known else ""
    names = [] if offline else models_at(url, lambda: _endpoint(place, key, keys))
    model = ask_model(names, same.get("name") or default, lambda text: _check("model.name", text))
    values = {
        "provider": known.name,
        "name": model,
        "base_url": "" if url == known.base_url else url,
        "api_mode": mode,
        **({} if variable and not key else {"api_key_env": ""}),
        **({} if same.get("name") == model else {"context_window": "", "vision": ""}),
    }
    return _Choice(values, replace(place, name=model), key)


def _ask_mode(known: KnownProvider, url: str, present: str) -> str:
    """How the address is spoken to, "" for what its name and address imply; asked only where these do not tell."""
    implied = api_mode_of("", known.name, url)
    if url == known.base_url or implied != "chat_completions":
        return present
    say("Which API does it speak?")
    for number, known_mode in enumerate(API_MODES, 1):
        say(f"  {number}  {known_mode:<19} {_APIS[known_mode]}", 25)
    mode = ask("API", present or implied, lambda text: _numbered(text, API_MODES))
    return "" if mode == implied and not present else mode


def _endpoint(place: ModelConfig, key: str, keys: Keys) -> ModelEndpoint:
    """Where the person's choice would be asked, with the key that they gave."""
    return resolve(place, replace(keys, environ={**keys.environ, ANY_KEY: key}) if key else keys)


def _try_out(choice: _Choice, keys: Keys) -> bool:
    """Ask the model once, if the person wants that; whether the choice is to be stored."""
    if not agreed("Try it with one small request", "yes"):
        return True
    return try_out(lambda: _endpoint(choice.place, choice.key, keys)) or agreed("Store it all the same", "no")


def _key_there(url: str, variable: str, keys: Keys) -> Key | None:
    return keys.variable(ANY_KEY) or (keys.variable(variable) if variable else None) or keys.own(url)


def _ask_provider(present: str) -> KnownProvider:
    say("Who answers?")
    for number, known in enumerate(_OFFERED, 1):
        say(f"  {number}  {known.name:<12} {known.label}", 18)
    name = ask("Provider", present if present in PROVIDERS else _OFFERED[0].name, _check_provider)
    return PROVIDERS[name]


def _check_provider(answer: str) -> str:
    return _numbered(answer, [known.name for known in _OFFERED])


def _numbered(answer: str, names: Sequence[str]) -> str:
    """The one of the names that the answer stands for: its number in the list, or the name."""
    if answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(names):
        return names[int(answer) - 1]
    if answer.lower() not in names:
        raise ValueError(f"Please answer with a number from 1 to {len(names)}, or a name from the list.")
    return answer.lower()


def _check_url(answer: str) -> str:
    return _check("model.base_url", answer)


def _check(key: str, answer: str) -> str:
    if not answer:
        raise ValueError("This is needed.")
    try:
        return str(check_value(key, answer, "This"))
    except ConfigError as error:
        raise ValueError(str(error).replace("This: ", "It ")) from None


def _ask_key(url: str, there: Key | None) -> str:
    known = provider_at(url)
    needed = known is not None and known.is_hosted and there is None
    return ask_secret(f"API key (not shown{_without_key(there, needed)})", lambda text: _check_key(text, needed))


def _without_key(there: Key | None, needed: bool) -> str:
    if there:
        return f"; empty: use {there.source}"
    return "" if needed else "; empty: none"


def _check_key(answer: str, needed: bool) -> str:
    if needed and not answer:
        raise ValueError("This provider needs a key.")
    if not answer.isascii() or not answer.isprintable() or " " in answer:
        raise ValueError("A key has only letters, digits and signs, without spaces.")
    return answer


def _store(choice: _Choice, config_file: Path, credentials_file: Path) -> str:
    """Where the key is now, in a sentence. It is stored first: a config that names a provider without its key
    would be worse than the reverse."""
    text = _changed(config_file, choice)
    place = _store_key(choice, credentials_file) if choice.key else ""
    write_like_before(config_file, text.encode("utf-8"))
    return place


def _store_key(choice: _Choice, credentials_file: Path) -> str:
    try:
        begin_storing(origin(choice.place.base_url), choice.key).result(_KEYRING_SECONDS)
    except (KeyringUnusable, TimeoutError) as error:
        reason = str(error) or f"it has not answered for {_KEYRING_SECONDS} seconds"
        store_key(credentials_file, choice.place.base_url, choice.key)
        return (
            f"The system keyring cannot be used ({reason}): the key is in {credentials_file}, which only you can read."
        )
    note_keyring(credentials_file, choice.place.base_url)
    return "The key is in the system keyring."


def _changed(config_file: Path, choice: _Choice) -> str:
    before = read_small(config_file).decode("utf-8-sig") if config_file.exists() else ""
    try:
        text = set_values(before, "model", choice.values)
    except ConfigError as error:
        raise HermesError(f"{config_file}: {error}") from None
    _see_that_it_works(text, config_file)
    return text


def _see_that_it_works(text: str, config_file: Path) -> None:
    parse_config(tomllib.loads(text), str(config_file))


def _report(place: str, home: Home) -> None:
    say(f"Stored in {home.config_file}.")
    if place:
        say(place)
    for option in OPTIONS:
        if option.key.startswith("model.") and os.environ.get(option.variable):
            say(f"Note: {option.variable} is set in this environment and goes before {option.key} of the file.")
    say(f"Next: `{typed_name()} doctor` sees whether all is well, and `{typed_name()} chat` begins in this terminal.")
    editors = ", ".join(SNIPPETS)
    say(f"`{typed_name()} doctor --editor zed` shows what to paste into an editor ({editors}).")
    say("In an editor that is open, start a new session.")
