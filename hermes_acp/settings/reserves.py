"""The models beside the configured one: its reserves, and those of side tasks."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from hermes_acp.config import ModelConfig, SideTask
from hermes_acp.errors import ConfigError, CredentialsMissing
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.settings.credentials import origin
from hermes_acp.settings.endpoint import Keys, ModelEndpoint, completed, resolve
from hermes_acp.settings.load import Settings
from hermes_acp.settings.providers import DEMO, api_mode_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Choice:
    """A model, and the name by which the person tells it from all others."""

    label: str
    endpoint: ModelEndpoint


@dataclass(frozen=True, slots=True)
class Named:
    """A model that the settings name beside the configured one, and where they do, such as
    "fallback_providers (entry 1)"."""

    place: str
    config: ModelConfig


def named_reserves(settings: Settings) -> Sequence[Named]:
    """The reserves of the configured model, in order."""
    return _numbered("fallback_providers", settings.config.fallback_providers)


def named_side(settings: Settings, task: SideTask) -> Sequence[Named]:
    """The models of a side task, in order; none when it has none of its own."""
    first, *others = settings.config.auxiliary.get(task) or (None,)
    place = f"auxiliary.{task}"
    return [Named(place, first), *_numbered(f"{place}.fallback", others)] if first else []


def resolve_reserves(settings: Settings, primary: ModelEndpoint) -> tuple[ModelEndpoint, ...]:
    """The reserves that can answer. Those without a key are left out, and the log says so.

    Raises:
        ConfigError: one of them cannot be completed: one line naming the place and the reason.
    """
    return tuple(_usable(named_reserves(settings), settings, primary))


def resolve_sides(settings: Settings, primary: ModelEndpoint) -> Mapping[SideTask, tuple[ModelEndpoint, ...]]:
    """The models of each side task that has some that can answer.

    Raises:
        ConfigError: as `resolve_reserves`.
    """
    sides = {task: tuple(_usable(named_side(settings, task), settings, primary)) for task in settings.config.auxiliary}
    return {task: endpoints for task, endpoints in sides.items() if endpoints}


def resolve_named(named: Named, settings: Settings, primary: ModelEndpoint) -> ModelEndpoint:
    """The endpoint of one of them. What it leaves out of the address, and with it the key, is the primary's.

    Raises:
        CredentialsMissing: there is no key for it.
        ConfigError: it cannot be completed.
    """
    try:
        return _resolved(named.config, settings.keys, primary)
    except CredentialsMissing as error:
        raise CredentialsMissing(_placed(str(error), named.place)) from None
    except ConfigError as error:
        raise ConfigError(_placed(str(error), named.place)) from None


def distinct(primary: ModelEndpoint, reserves: Iterable[ModelEndpoint]) -> tuple[Choice, ...]:
    """The reserves under names that differ from the primary's and from each other.

    A further address of one provider becomes a provider of its own, so that nothing that was said in confidence
    by a model at the one is sent to the other (spec: agent-loop, 2, opaque material).
    """
    places, choices = {primary.provider: origin(primary.base_url)}, list[Choice]()
    for reserve in reserves:
        provider, place = reserve.provider, origin(reserve.base_url)
        if places.setdefault(provider, place) != place:
            provider = f"{provider} at {urlsplit(reserve.base_url).netloc}"
        named = replace(reserve, provider=provider)
        choices.append(Choice(_label(named, primary), named))
    return tuple({choice.label: choice for choice in choices if choice.label != primary.model}.values())


def _usable(chain: Sequence[Named], settings: Settings, primary: ModelEndpoint) -> Iterator[ModelEndpoint]:
    for named in chain:
        try:
            yield resolve_named(named, settings, primary)
        except CredentialsMissing as error:
            log.warning("%s: left out: %s", named.place, error)


def _resolved(config: ModelConfig, keys: Keys, primary: ModelEndpoint) -> ModelEndpoint:
    if config.provider == DEMO:
        raise ConfigError("model.provider: demo is no model, and stands in for none")
    if not (config.provider or config.base_url):
        config = replace(config, provider=primary.provider, base_url=primary.base_url)
    config = completed(config)
    if config.api_key_env or not primary.base_url or origin(config.base_url) != origin(primary.base_url):
        return resolve(config, keys.of_others())
    return _beside(primary, config)


def _beside(primary: ModelEndpoint, config: ModelConfig) -> ModelEndpoint:
    """Another model at the primary's host, with its key."""
    return replace(
        primary,
        provider=config.provider,
        model=config.name or primary.model,
        base_url=config.base_url,
        api_mode=api_mode_of(config.api_mode, config.provider, config.base_url),
        context_window=config.context_window,
        sees_images=True,
    )


def _label(reserve: ModelEndpoint, primary: ModelEndpoint) -> str:
    """A model of the primary's own address goes by its name alone, as in that address's list."""
    own = (reserve.provider, reserve.base_url, reserve.api_mode)
    if own == (primary.provider, primary.base_url, primary.api_mode):
        return reserve.model
    return f"{reserve.model} ({reserve.provider})"


def _numbered(place: str, configs: Sequence[ModelConfig]) -> list[Named]:
    return [Named(f"{place} (entry {number})", config) for number, config in enumerate(configs, 1)]


def _placed(text: str, place: str) -> str:
    """A reason in the words of the place in which the model is named."""
    return text.replace("model.name", f"{place}.model").replace("model.", f"{place}.")
