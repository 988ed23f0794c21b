"""Choosing a model in a terminal: from the list of its server, by number or name, and trying it once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from hermes_acp.cli.knocking import SECONDS, list_models, unlocked
from hermes_acp.cli.terminal import ask, say
from hermes_acp.errors import HermesError, ProviderError
from hermes_acp.local.confidential import blotted
from hermes_acp.settings.endpoint import ModelEndpoint
from hermes_acp.text import shorten, visible

if TYPE_CHECKING:
    from hermes_acp.agent.providers.model_list import ListedModel

TRYING_SECONDS = 60.0
"""A model on one's own machine may have to be loaded first."""

_SHOWN = 20
_ANSWER = 60


def models_at(url: str, find: Callable[[], ModelEndpoint]) -> list[str]:
    """The names of the models that the server at an address says it has; none, and the reason told, where it does not.

    Args:
        url: the address.
        find: gives the endpoint there, or raises `HermesError`.
    """
    say(f"Asking {url} for its models, {SECONDS:g} seconds at most …")
    try:
        listed = asyncio.run(_listed(find()))
    except (HermesError, TimeoutError) as error:
        say(f"  There is no list: {_reason(error)} Type the name of the model.", 2)
        return []
    return [model.name for model in listed]


def ask_model(names: Sequence[str], default: str, check: Callable[[str], str]) -> str:
    """The model that the person chooses: by its number, its name, or a part of it that no other has; one that is not
    in the list by its whole name.

    Args:
        names: those of the list.
        default: the choice of a person who only presses return, "" for none.
        check: as in `ask`, for a name.

    Raises:
        Abandoned: the input ended.
    """
    _show(names)
    chosen = ask("Model", default, lambda text: _named(check(text), names))
    if names and chosen not in names:
        say(f"  {visible(chosen)} is not in the list; it is taken as it is.", 2)
    return chosen


def try_out(find: Callable[[], ModelEndpoint]) -> bool:
    """Put one small question to a model, and tell what came of it; whether it answered."""
    begun = time.monotonic()
    try:
        answer = asyncio.run(_asked(find()))
    except (HermesError, TimeoutError) as error:
        say(f"  It does not answer: {_reason(error)}", 2)
        return False
    seconds = time.monotonic() - begun
    said = shorten(" ".join(visible(blotted(answer)).split()), _ANSWER) or "nothing, as some do"
    say(f"  It answers, in {seconds:.1f} seconds: {said}", 2)
    return True


def _show(names: Sequence[str]) -> None:
    for number, name in enumerate(names[:_SHOWN], 1):
        say(f"  {number:>2}  {visible(name)}")
    if len(names) > _SHOWN:
        say(f"  … and {len(names) - _SHOWN:,} more: a part of a name shows those that have it.", 2)


def _named(answer: str, names: Sequence[str]) -> str:
    """The name that an answer stands for.

    Raises:
        ValueError: it stands for several, or for a number that no model has.
    """
    if answer in names or not names:
        return answer
    if answer.isascii() and answer.isdigit():
        if not 1 <= int(answer) <= len(names):
            raise ValueError(f"Please answer with a number from 1 to {len(names)}, or a name.")
        return names[int(answer) - 1]
    found = [name for name in names if answer.lower() in name.lower()]
    if len(found) > 1:
        numbered = ", ".join(f"{names.index(name) + 1} {visible(name)}" for name in found[:_SHOWN])
        raise ValueError(f"{len(found)} have that in their names; which? {numbered}")
    return found[0] if found else answer


async def _listed(endpoint: ModelEndpoint) -> Sequence[ListedModel]:
    return await list_models(await unlocked(endpoint))


async def _asked(endpoint: ModelEndpoint) -> str:
    from hermes_acp.agent.auxiliary_client import AuxiliaryClient
    from hermes_acp.agent.providers.retry import Backoff
    from hermes_acp.config import AgentConfig
    from hermes_acp.connections import Connections
    from hermes_acp.settings import Choice

    async with aclosing(Connections(AgentConfig())) as connections:
        chain = [Choice(endpoint.model, await unlocked(endpoint))]
        provider = connections.chain(chain, Backoff(attempts=1))
        return await AuxiliaryClient("title", provider).ask("Answer with the word OK.", "", TRYING_SECONDS)


def _reason(error: Exception) -> str:
    if isinstance(error, ProviderError):
        return " ".join(visible(blotted(str(error))).split())
    return str(error) or "the keyring is locked"
