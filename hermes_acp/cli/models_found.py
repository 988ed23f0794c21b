"""What the doctor finds of models: keys, the one that answers, whether its server does, and those beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from hermes_acp.agent.model_table import CAREFUL_WINDOW, known_model
from hermes_acp.agent.providers.model_list import ListedModel
from hermes_acp.cli.finding import Finding
from hermes_acp.errors import ConfigError, CredentialsMissing
from hermes_acp.settings import Settings, is_signed_out
from hermes_acp.settings.endpoint import ANY_KEY, ModelEndpoint
from hermes_acp.settings.keyrings import KeyringUnusable, begin_reading
from hermes_acp.settings.load import resolve_model
from hermes_acp.settings.local_servers import FoundServer, look
from hermes_acp.settings.providers import DEMO, PROVIDERS
from hermes_acp.settings.reserves import Named, named_reserves, named_side, resolve_named

_KEYRING_SECONDS = 5


def find_models(settings: Settings, offline: bool) -> Iterator[Finding]:
    """A finding for each key and model of the settings. The model's server is asked for its list, unless `offline`."""
    yield from _keys(settings)
    if is_signed_out(settings.home):
        yield Finding("missing", "login", "logged out: log in from the editor, or run hermes-acp-agent setup")
    found = asyncio.run(look(settings.local_servers)) if settings.says_no_model else ()
    yield from map(_local_server, found)
    yield from _models(settings, next((each.endpoint for each in found if each.model), None), offline)


def _local_server(found: FoundServer) -> Finding:
    place = f"{found.label}, at {found.server.base_url}"
    if found.model is None:
        return Finding("warning", "server", f"{place}: no model that can use tools")
    assumed = " (whether it can use tools is assumed)" if found.model.assumed else ""
    return Finding("ok", "server", f"{place}: {found.model.name}{assumed}")


def _keys(settings: Settings) -> Iterator[Finding]:
    variables = [ANY_KEY, *(known.key_variable for known in PROVIDERS.values()), *settings.config.key_variables]
    for name in dict.fromkeys(variables):
        if name and settings.keys.environ.get(name, "").strip():
            yield Finding("ok", "key", f"found in {name}")
    for origin in settings.keys.stored:
        yield Finding("ok", "key", f"stored for {origin} in {settings.home.credentials_file}")
    yield from map(_key_in_keyring, sorted(settings.keys.in_keyring))


def _key_in_keyring(origin: str) -> Finding:
    try:
        begin_reading(origin).result(_KEYRING_SECONDS)
    except (KeyringUnusable, TimeoutError) as error:
        reason = str(error) or f"it has not answered for {_KEYRING_SECONDS} seconds"
        return Finding("warning", "key", f"for {origin} in the system keyring, which cannot be read: {reason}")
    return Finding("ok", "key", f"stored for {origin} in the system keyring")


def _models(settings: Settings, local: ModelEndpoint | None, offline: bool) -> Iterator[Finding]:
    """The model, and those that stand beside it: what of these cannot be used is left out, and stops nothing.
    A server that was found on this machine has answered already."""
    try:
        endpoint = local or resolve_model(settings)
    except (ConfigError, CredentialsMissing) as error:
        yield Finding("missing", "model", str(error))
        return
    yield Finding("ok", "model", _described(endpoint))
    listed: tuple[ListedModel, ...] = ()
    if not (offline or local) and endpoint.base_url:
        finding, listed = _server(endpoint)
        yield finding
    if endpoint.api_mode != DEMO:
        yield from _limits(endpoint, listed, settings)
    for named in named_reserves(settings):
        yield _beside("reserve", named, settings, endpoint)
    for task in settings.config.auxiliary:
        for named in named_side(settings, task):
            yield _beside("side", named, settings, endpoint)


def _server(endpoint: ModelEndpoint) -> tuple[Finding, tuple[ListedModel, ...]]:
    from hermes_acp.cli.knocking import knock

    return asyncio.run(knock(endpoint))


def _limits(endpoint: ModelEndpoint, listed: tuple[ListedModel, ...], settings: Settings) -> Iterator[Finding]:
    """The context window that is kept to, and whether a limit of cost can hold."""
    known = known_model(endpoint.model, endpoint.base_url)
    told = next((model.window for model in listed if model.name == endpoint.model), 0)
    if window := endpoint.context_window or told or known.window:
        yield Finding("ok", "window", f"{window:,} tokens")
    else:
        what = f"how much {endpoint.model} can hold is not known, so {CAREFUL_WINDOW:,} tokens are assumed"
        yield Finding("note", "window", f"{what}: model.context_window says it")
    if settings.config.agent.max_cost and known.prices is None:
        yield Finding("warning", "cost", f"agent.max_cost does not hold: what {endpoint.model} costs is not known")


def _beside(name: str, named: Named, settings: Settings, primary: ModelEndpoint) -> Finding:
    try:
        endpoint = resolve_named(named, settings, primary)
    except CredentialsMissing as error:
        return Finding("warning", name, f"{named.place}: left out: {error}")
    except ConfigError as error:
        return Finding("missing", name, str(error))
    return Finding("ok", name, f"{named.place}: {_described(endpoint)}")


def _described(endpoint: ModelEndpoint) -> str:
    key = f"key found in {endpoint.key_source}" if endpoint.key_source else "no key"
    if endpoint.in_command:
        key = f"key from {endpoint.key_source}, which was not run"
    place = f" at {endpoint.base_url}" if endpoint.base_url else ""
    return f"{endpoint.model} of {endpoint.provider}{place} ({endpoint.api_mode}, {key})"
