"""The Responses API: OpenAI's own, the Codex back end's, and that of the servers that copied it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_acp.agent.providers.api import Api, Sending
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.responses_decoding import ResponsesDecoder
from hermes_acp.agent.providers.responses_dialect import ResponsesDialect, adapted
from hermes_acp.agent.providers.responses_encoding import responses_body

if TYPE_CHECKING:
    from hermes_acp.agent.providers.openai_sdk import ResponsesClient


def _connect(endpoint: Endpoint) -> ResponsesClient:
    from hermes_acp.agent.providers.openai_sdk import ResponsesClient

    return ResponsesClient(endpoint)


def _send(client: ResponsesClient, body: Mapping[str, Any]) -> Sending:
    return client.send(body)


API = Api(ResponsesDialect(), responses_body, adapted, ResponsesDecoder, _connect, _send)
