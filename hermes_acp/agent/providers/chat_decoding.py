"""Chat Completions chunks as deltas and one reply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hermes_acp.agent.providers.base import Delta, Finish, Reply, ReplyIds, Usage
from hermes_acp.agent.providers.chat_calls import ChatCalls
from hermes_acp.agent.providers.chat_dialect import REASONING_FIELDS
from hermes_acp.agent.providers.chat_thoughts import ChatThoughts, text_of
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.faults import Faults, count_of
from hermes_acp.agent.providers.pieces import Pieces, mend
from hermes_acp.agent.providers.sse import SseEvent
from hermes_acp.events import ReasoningDelta, TextDelta
from hermes_acp.messages import AssistantMessage, Opaque

DONE = "[DONE]"
_CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"})
_REFUSED = frozenset(
    {"content_filter", "refusal", "safety", "recitation", "prohibited_content", "blocklist", "sensitive"}
)
_CACHED = ("prompt_cache_hit_tokens", "cached_tokens")


class ChatDecoder:
    """One reply while it is streamed.

    Attributes:
        finished: the finish reason is known, so the reply is whole; usage may still come.
        done: nothing more will come.
        progress: grows with every event that said something.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.done = False
        self.progress = 0
        self._endpoint = endpoint
        self._faults = Faults(endpoint, "chat completion")
        self._ids = ReplyIds()
        self._text = Pieces()
        self._thoughts = ChatThoughts()
        self._calls = ChatCalls()
        self._reason = ""
        self._refused = False
        self._usage: Usage | None = None
        self._model = ""

    @property
    def finished(self) -> bool:
        return bool(self._reason)

    def decode(self, events: Iterable[SseEvent]) -> Iterator[Delta]:
        """The deltas of some events.

        Raises:
            ProviderError: an event is an error, or no JSON object.
        """
        for data, name in events:
            if data.strip() == DONE:
                self.done = True
                return
            yield from self._chunk(self._faults.json_object(data), name)

    def decode_whole(self, body: bytes) -> Iterator[Delta]:
        """The deltas of a completion in one piece; raises as `decode` does."""
        completion = self._faults.json_object(body.decode("utf-8", "replace"))
        if any(completion.get(name) for name in ("error", "message", "detail")):
            raise self._faults.told(completion)
        if not completion.get("choices"):
            raise self._faults.malformed(str(completion))
        yield from self._chunk(completion)

    def _chunk(self, chunk: Mapping[str, Any], name: str = "") -> Iterator[Delta]:
        if chunk.get("error") or name == "error" or chunk.get("object") == "error":
            raise self._faults.told(chunk)
        if not self._model and isinstance(chunk.get("model"), str):
            self._model = mend(chunk["model"])
        self._take_usage(chunk)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return
        self._take_usage(choice)
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, Mapping):
            yield from self._delta(delta)
        reason = choice.get("finish_reason")
        if reason:
            yield from self._finish(str(reason).lower(), choice)

    def reply(self) -> Reply:
        """The whole reply.

        Raises:
            ProviderError: the stream ended before its finish reason ("incomplete").
        """
        if not self.finished:
            raise self._faults.incomplete()
        calls = self._calls.finished()
        message = AssistantMessage(self._text.text, self._thoughts.text, calls, self._opaque())
        return Reply(message, self._kind(bool(calls)), self._usage, self._model or self._endpoint.model)

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[Delta]:
        content = delta.get("content")
        if content:
            yield from self._said(content if isinstance(content, str) else text_of(content))
        if len(delta) == 1 and content is not None:
            return
        if any(delta.get(name) for name in REASONING_FIELDS):
            yield from self._thought(delta)
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            self._refused = True
            yield from self._said(refusal)
        if delta.get("tool_calls"):
            self.progress += 1
            yield from self._calls.add(delta["tool_calls"])

    def _said(self, text: str) -> Iterator[Delta]:
        self.progress += 1
        shown = self._text.add(text)
        if shown:
            yield TextDelta(shown, self._ids.text)

    def _thought(self, delta: Mapping[str, Any]) -> Iterator[Delta]:
        self.progress += 1
        shown = self._thoughts.add(delta)
        if shown:
            yield ReasoningDelta(shown, self._ids.thought)

    def _finish(self, reason: str, choice: Mapping[str, Any]) -> Iterator[Delta]:
        if reason == "error":
            unknown = {"message": "the answer broke off with an error"}
            raise self._faults.told(choice if choice.get("error") else unknown)
        self.progress += 1
        self._reason = self._reason or reason
        thought, text = self._thoughts.close(), self._text.close()
        if thought:
            yield ReasoningDelta(thought, self._ids.thought)
        if text:
            yield TextDelta(text, self._ids.text)

    def _kind(self, has_calls: bool) -> Finish:
        if self._refused or self._reason in _REFUSED:
            return "refusal"
        if self._reason in _CUT or self._calls.cut:
            return "length"
        return "tool_calls" if has_calls else "stop"

    def _take_usage(self, holder: Mapping[str, Any]) -> None:
        usage = holder.get("usage")
        if usage and isinstance(usage, Mapping):
            self._usage = chat_usage(usage)

    def _opaque(self) -> Opaque | None:
        data = self._thoughts.data
        return Opaque(self._endpoint.provider, self._endpoint.model, data) if data else None


def chat_usage(usage: Mapping[str, Any]) -> Usage:
    """The tokens of a call, in the words of OpenAI and of those who follow it."""
    sent, written = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    cached = (count_of(sent, "cached_tokens"), *(count_of(usage, name) for name in _CACHED))
    return Usage(
        input=count_of(usage, "prompt_tokens"),
        output=count_of(usage, "completion_tokens"),
        cached=next(filter(None, cached), 0),
        reasoning=count_of(written, "reasoning_tokens"),
    )
