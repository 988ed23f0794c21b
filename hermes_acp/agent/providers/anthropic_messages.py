"""The Messages API, of Anthropic and of those who speak it too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_acp.agent.providers.anthropic_decoding import MessagesDecoder
from hermes_acp.agent.providers.anthropic_dialect import MessagesDialect, adapted
from hermes_acp.agent.providers.anthropic_encoding import messages_body
from hermes_acp.agent.providers.api import Api, Sending
from hermes_acp.agent.providers.endpoint import Endpoint

if TYPE_CHECKING:
    from hermes_acp.agent.providers.anthropic_sdk import AnthropicClient


def _connect(endpoint: Endpoint) -> AnthropicClient:
    from hermes_acp.agent.providers.anthropic_sdk import AnthropicClient

    return AnthropicClient(endpoint)


def _send(client: AnthropicClient, body: Mapping[str, Any]) -> Sending:
    return client.messages(body)


API = Api(MessagesDialect(), messages_body, adapted, MessagesDecoder, _connect, _send)
