"""The Chat Completions API, of OpenAI and of everyone who copied it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_acp.agent.providers.api import Api, Sending
from hermes_acp.agent.providers.chat_decoding import ChatDecoder
from hermes_acp.agent.providers.chat_dialect import Dialect, adapted
from hermes_acp.agent.providers.chat_encoding import chat_body
from hermes_acp.agent.providers.endpoint import Endpoint

if TYPE_CHECKING:
    from hermes_acp.agent.providers.openai_sdk import ChatClient


def _connect(endpoint: Endpoint) -> ChatClient:
    from hermes_acp.agent.providers.openai_sdk import ChatClient

    return ChatClient(endpoint)


def _send(client: ChatClient, body: Mapping[str, Any]) -> Sending:
    return client.send(body)


API = Api(Dialect(), chat_body, adapted, ChatDecoder, _connect, _send)
