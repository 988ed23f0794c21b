"""Knocking at the model's server: whether it is there, and takes the key."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_acp.cli.finding import Finding
from hermes_acp.config import AgentConfig
from hermes_acp.connections import Connections
from hermes_acp.errors import HermesError, ProviderError
from hermes_acp.settings.credentials import origin
from hermes_acp.settings.endpoint import ModelEndpoint
from hermes_acp.settings.keyrings import begin_reading

if TYPE_CHECKING:
    from hermes_acp.agent.providers.model_list import ListedModel

SECONDS = 3.0
"""What the server has for its answer."""

_KEYRING_SECONDS = 5.0


async def knock(endpoint: ModelEndpoint) -> tuple[Finding, tuple[ListedModel, ...]]:
    """Ask the server of an endpoint for its list of models, once, with the key that is there; what that says of it, and
    the models.

    A key that a command writes is not asked for.
    """
    if endpoint.in_command:
        return Finding("note", "server", f"{endpoint.base_url} was not asked: its key comes from a command"), ()
    try:
        models = await list_models(await unlocked(endpoint))
    except ProviderError as error:
        return _refused(endpoint, error), ()
    except (HermesError, TimeoutError) as error:
        reason = error or "the keyring is locked"
        return Finding("warning", "server", f"{endpoint.base_url} was not asked: {reason}"), ()
    return _answered(endpoint, models), models


async def unlocked(endpoint: ModelEndpoint) -> ModelEndpoint:
    """The endpoint with its key, and without a way to read it anew: one question, and no second.

    Raises:
        HermesError: the keyring cannot be used.
        TimeoutError: it has to be unlocked first, and was not.
    """
    key = endpoint.api_key
    if endpoint.in_keyring:
        key = await asyncio.to_thread(begin_reading(origin(endpoint.base_url)).result, _KEYRING_SECONDS)
    return replace(endpoint, api_key=key, in_keyring=False, read_key=None)


async def list_models(endpoint: ModelEndpoint) -> tuple[ListedModel, ...]:
    """The models that an endpoint, whose key is known, says it has.

    Raises:
        ProviderError: it does not say, or not within `SECONDS`.
    """
    async with aclosing(Connections(AgentConfig())) as connections:
        client = connections.client(endpoint)
        await client.warm()
        try:
            async with asyncio.timeout(SECONDS):
                return await client.models()
        except TimeoutError:
            raise ProviderError(f"no answer for {SECONDS:g} seconds", kind="stalled") from None


def _answered(endpoint: ModelEndpoint, models: tuple[ListedModel, ...]) -> Finding:
    names = [model.name for model in models]
    if any(name == endpoint.model or name.startswith(f"{endpoint.model}:") for name in names):
        return Finding("ok", "server", f"{endpoint.base_url} answers, and has {endpoint.model}")
    return Finding("note", "server", f"{endpoint.base_url} answers; {endpoint.model} is not in its list of models")


def _refused(endpoint: ModelEndpoint, error: ProviderError) -> Finding:
    match error.kind:
        case "auth":
            key = f"the key found in {endpoint.key_source}" if endpoint.key_source else "to answer without a key"
            return Finding("missing", "server", f"{endpoint.base_url} refuses {key}: {_CURE}")
        case "network" | "stalled":
            return Finding("missing", "server", f"{endpoint.base_url} is not there: {error}")
        case "server" | "overloaded" | "rate_limit":
            return Finding("warning", "server", f"{endpoint.base_url} answers, but cannot help now: {error}")
    return Finding("note", "server", f"{endpoint.base_url} answers, but lists no models: {error}")


_CURE = "store a valid one with `hermes-acp-agent setup`"
