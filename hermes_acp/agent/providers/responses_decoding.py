"""Responses events as deltas and one reply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from hermes_acp.agent.providers.base import Delta, Finish, Reply, ReplyIds, Usage
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.faults import Faults, count_of
from hermes_acp.agent.providers.passages import Passages
from hermes_acp.agent.providers.pieces import mend
from hermes_acp.agent.providers.responses_items import Event, Item, Items, word
from hermes_acp.agent.providers.responses_layout import (
    Entry,
    call_entry,
    kept_layout,
    message_entry,
    reasoning_entry,
)
from hermes_acp.agent.providers.sse import SseEvent
from hermes_acp.events import ReasoningDelta, TextDelta, ToolDrafted
from hermes_acp.messages import AssistantMessage

DONE = "[DONE]"
_TERMINAL = frozenset({"completed", "incomplete"})


class ResponsesDecoder:
    """One reply while it is streamed; the attributes are those of `hermes_acp.agent.providers.reading.Decoder`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.done = False
        self.progress = 0
        self._endpoint = endpoint
        self._faults = Faults(endpoint, "response")
        self._ids = ReplyIds()
        self._items = Items()
        self._text = Passages()
        self._thoughts = Passages()
        self._refused = False
        self._response: Event | None = None
        self._handlers: dict[str, Callable[[Event], Iterator[Delta]]] = {
            "response.output_text.delta": self._said,
            "response.refusal.delta": self._declined,
            "response.reasoning_summary_text.delta": self._summarised,
            "response.reasoning_text.delta": self._thought,
            "response.function_call_arguments.delta": self._called,
            "response.function_call_arguments.done": self._called_whole,
            "response.output_item.added": self._began,
            "response.output_item.done": self._ended,
            "response.completed": self._closed,
            "response.incomplete": self._closed,
            "response.failed": self._failed,
            "response.cancelled": self._failed,
            "error": self._failed,
        }

    @property
    def finished(self) -> bool:
        return self._response is not None

    def decode(self, events: Iterable[SseEvent]) -> Iterator[Delta]:
        """The deltas of some events.

        Raises:
            ProviderError: an event is an error, or no JSON object.
        """
        for data, name in events:
            if self.done:
                return
            if data.strip() == DONE:
                self.done = True
                return
            event = self._faults.json_object(data)
            handler = self._handlers.get(word(event.get("type"))) or self._handlers.get(name)
            if handler is not None:
                yield from handler(event)
            elif event.get("error"):
                raise self._faults.told(event)

    def decode_whole(self, body: bytes) -> Iterator[Delta]:
        """The deltas of a response in one piece; raises as `decode` does."""
        response = self._faults.json_object(body.decode("utf-8", "replace"))
        if response.get("status") in _TERMINAL and isinstance(response.get("output"), list):
            yield from self._closed({"response": response})
        elif any(response.get(name) for name in ("error", "message", "detail")):
            raise self._faults.told(response)
        else:
            raise self._faults.malformed(str(response))

    def reply(self) -> Reply:
        """The whole reply.

        Raises:
            ProviderError: the stream ended before its terminal event ("incomplete").
        """
        if self._response is None:
            raise self._faults.incomplete()
        calls = tuple(item.draft.call() for item in self._items.of("function_call"))
        layout = kept_layout([*self._entries()], self._endpoint)
        message = AssistantMessage(self._text.text, self._thoughts.text, calls, layout)
        usage = self._response.get("usage")
        told = responses_usage(usage) if isinstance(usage, Mapping) and usage else None
        model = word(self._response.get("model")) or self._endpoint.model
        return Reply(message, self._kind(bool(calls)), told, mend(model))

    def _said(self, event: Event) -> Iterator[Delta]:
        piece = event.get("delta")
        if piece and isinstance(piece, str):
            self.progress += 1
            item = self._items.at(event, "message")
            yield from self._shown(self._text.add((item.number, 0), piece))

    def _declined(self, event: Event) -> Iterator[Delta]:
        self._refused = self._refused or bool(event.get("delta"))
        yield from self._said(event)

    def _summarised(self, event: Event) -> Iterator[Delta]:
        yield from self._mused(event, "summary", _index(event.get("summary_index")))

    def _thought(self, event: Event) -> Iterator[Delta]:
        yield from self._mused(event, "content", _index(event.get("content_index")))

    def _mused(self, event: Event, voice: str, part: int) -> Iterator[Delta]:
        """A piece of a thought; of a thought and its summary, only what came first is shown."""
        piece = event.get("delta")
        if piece and isinstance(piece, str):
            self.progress += 1
            item = self._items.at(event, "reasoning")
            item.voice = item.voice or voice
            if item.voice == voice:
                yield from self._reflected(self._thoughts.add((item.number, part), piece))

    def _called(self, event: Event) -> Iterator[Delta]:
        self.progress += 1
        self._items.at(event, "function_call").draft.add(word(event.get("delta")))
        yield from ()

    def _called_whole(self, event: Event) -> Iterator[Delta]:
        self.progress += 1
        item = self._items.at(event, "function_call")
        item.set_arguments(event.get("arguments"))
        yield from self._drafted(item, event)

    def _began(self, event: Event) -> Iterator[Delta]:
        told = event.get("item")
        if isinstance(told, Mapping):
            self.progress += 1
            yield from self._drafted(self._items.begun(event, told), told)

    def _ended(self, event: Event) -> Iterator[Delta]:
        told = event.get("item")
        if isinstance(told, Mapping):
            self.progress += 1
            yield from self._completed(self._items.ended(event, told), told)

    def _completed(self, item: Item, told: Event) -> Iterator[Delta]:
        """What a whole item says that its deltas did not."""
        match item.kind:
            case "function_call":
                item.set_arguments(told.get("arguments"))
                yield from self._drafted(item, told)
            case "message":
                content = _objects(told.get("content"))
                self._refused = self._refused or any(part.get("refusal") for part in content)
                text = "".join(word(part.get("text")) or word(part.get("refusal")) for part in content)
                yield from self._shown(self._text.complete((item.number, 0), text))
            case "reasoning":
                voices = (item.voice,) if item.voice else ("summary", "content")
                parts = next(filter(None, (_objects(told.get(voice)) for voice in voices)), [])
                for number, part in enumerate(parts):
                    yield from self._reflected(self._thoughts.complete((item.number, number), word(part.get("text"))))

    def _closed(self, event: Event) -> Iterator[Delta]:
        response = event.get("response")
        self._response = response if isinstance(response, Mapping) else {}
        if isinstance(self._response.get("error"), Mapping):
            raise self._faults.told(self._response)
        for item, told in self._items.missing(_objects(self._response.get("output"))):
            yield from self._completed(item, told)
        self.progress += 1
        self.done = True
        yield from self._reflected(self._thoughts.close())
        yield from self._shown(self._text.close())

    def _failed(self, event: Event) -> Iterator[Delta]:
        response = event.get("response")
        error = response.get("error") if isinstance(response, Mapping) else None
        yield from ()
        raise self._faults.told({"error": error} if error else event)

    def _drafted(self, item: Item, told: Event) -> Iterator[Delta]:
        name = word(told.get("name"))
        if name and item.kind == "function_call" and not item.draft.name:
            item.draft.name = mend(name)
            yield ToolDrafted(item.draft.id, item.draft.name)

    def _shown(self, text: str) -> Iterator[Delta]:
        if text:
            yield TextDelta(text, self._ids.text)

    def _reflected(self, text: str) -> Iterator[Delta]:
        if text:
            yield ReasoningDelta(text, self._ids.thought)

    def _kind(self, has_calls: bool) -> Finish:
        details = (self._response or {}).get("incomplete_details")
        reason = word(details.get("reason")) if isinstance(details, Mapping) else ""
        if self._refused or reason == "content_filter":
            return "refusal"
        if reason or (self._response or {}).get("status") == "incomplete" or self._is_cut():
            return "length"
        return "tool_calls" if has_calls else "stop"

    def _is_cut(self) -> bool:
        """Whether a call ends in the middle of its arguments."""
        return any(item.draft.is_cut for item in self._items.of("function_call"))

    def _entries(self) -> Iterator[Entry]:
        for item in self._items:
            match item.kind:
                case "reasoning":
                    yield reasoning_entry(item.fields)
                case "message":
                    yield message_entry(item.fields, self._text.length(item.number))
                case "function_call":
                    yield call_entry(item.fields)


def responses_usage(usage: Mapping[str, Any]) -> Usage:
    """The tokens of a call, in the words of the Responses API."""
    return Usage(
        input=count_of(usage, "input_tokens"),
        output=count_of(usage, "output_tokens"),
        cached=count_of(usage.get("input_tokens_details"), "cached_tokens"),
        reasoning=count_of(usage.get("output_tokens_details"), "reasoning_tokens"),
    )


def _objects(value: Any) -> list[Event]:
    return [part for part in value if isinstance(part, Mapping)] if isinstance(value, list) else []


def _index(value: Any) -> int:
    return value if isinstance(value, int) else 0
