"""The models of a session that no editor's connection has."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from hermes_acp.assembly import Models, models_of
from hermes_acp.config import Config
from hermes_acp.errors import CredentialsMissing
from hermes_acp.settings import ModelEndpoint, is_signed_out, resolve_model
from hermes_acp.settings.keyring_key import PATIENCE, KeyringKey, not_answered
from hermes_acp.settings.local_search import LocalSearch
from hermes_acp.talk.setup import Setup

log = logging.getLogger(__name__)


async def open_models(setup: Setup, config: Config) -> Models:
    """The models of the endpoint that the settings name, or that was found on this machine when they name none.

    Raises:
        CredentialsMissing: there is no model to talk to.
        ConfigError: a setting is wrong, or the keyring gives no key.
    """
    return models_of(await _endpoint(setup), replace(setup.settings, config=config))


async def _endpoint(setup: Setup) -> ModelEndpoint:
    settings = setup.settings
    if not setup.has_key and await asyncio.to_thread(is_signed_out, settings.home):
        raise CredentialsMissing(
            "You are signed out: authenticate in your editor, run `hermes-acp-agent setup`, or give an api_key."
        )
    search = LocalSearch()
    await search.run(settings)
    for notice in search.notices:
        log.info("%s: %s", notice.title, notice.text)
    endpoint = search.endpoint or resolve_model(settings)
    if not endpoint.in_keyring:
        return endpoint
    key = await KeyringKey().read(endpoint.base_url, PATIENCE)
    if key is None:
        raise not_answered(endpoint.base_url)
    return replace(endpoint, api_key=key, in_keyring=False)
