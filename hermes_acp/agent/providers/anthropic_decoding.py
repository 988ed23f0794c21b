"""Messages events as deltas and one reply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hermes_acp.agent.providers.anthropic_blocks import MessageBlocks
from hermes_acp.agent.providers.base import Delta, Finish, Reply, Usage, new_id
from hermes_acp.agent.providers.endpoint import Endpoint
from hermes_acp.agent.providers.faults import Faults, count_of
from hermes_acp.agent.providers.pieces import mend
from hermes_acp.agent.providers.sse import SseEvent
from hermes_acp.events import TextDelta
from hermes_acp.messages import AssistantMessage, Opaque

BLOCKS = "anthropic_blocks"
"""Where the layout of a reply's blocks is kept in its opaque material."""

_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class MessagesDecoder:
    """One reply while it is streamed.

    Attributes:
        done: nothing more will come; the reply is whole with its last event, `message_stop`, and not before.
        progress: grows with every event that said something.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.done = False
        self.progress = 0
        self._endpoint = endpoint
        self._faults = Faults(endpoint, "message of the Messages API")
        self._blocks = MessageBlocks()
        self._reason = ""
        self._counts: dict[str, int] = {}
        self._model = ""
        self._explained = ""

    @property
    def finished(self) -> bool:
        return self.done

    def decode(self, events: Iterable[SseEvent]) -> Iterator[Delta]:
        """The deltas of some events.

        Raises:
            ProviderError: an event is an error, or no JSON object.
        """
        for data, name in events:
            if self.done:
                return
            if name != "ping" and data.strip() not in ("", "[DONE]"):
                event = self._faults.json_object(data)
                yield from self._event(event.get("type") or name, event)

    def decode_whole(self, body: bytes) -> Iterator[Delta]:
        """The deltas of a message in one piece; raises as `decode` does."""
        message = self._faults.json_object(body.decode("utf-8", "replace"))
        if message.get("error") or message.get("type") == "error":
            raise self._faults.told(message)
        content = message.get("content")
        if not isinstance(content, list):
            raise self._faults.malformed(str(message))
        self._begin(message)
        for index, block in enumerate(content):
            yield from self._block({"index": index, "content_block": block})
        self._end(message, message)
        yield from self._stop()

    def reply(self) -> Reply:
        """The whole reply.

        Raises:
            ProviderError: the stream ended before its last event ("incomplete").
        """
        if not self.done:
            raise self._faults.incomplete()
        blocks = self._blocks
        message = AssistantMessage(blocks.text or self._explained, blocks.thoughts, blocks.calls, self._opaque())
        return Reply(message, self._kind(bool(message.tool_calls)), self._usage(), self._model or self._endpoint.model)

    def _event(self, kind: str, event: Mapping[str, Any]) -> Iterator[Delta]:
        match kind:
            case "content_block_delta":
                yield from self._delta(event)
            case "content_block_start":
                yield from self._block(event)
            case "message_start":
                self._begin(_part(event, "message"))
            case "message_delta":
                self._end(_part(event, "delta"), event)
            case "message_stop":
                yield from self._stop()
            case "error":
                raise self._faults.told(event)

    def _delta(self, event: Mapping[str, Any]) -> Iterator[Delta]:
        delta = _part(event, "delta")
        if len(delta) > 1 and any(value for name, value in delta.items() if name != "type"):
            self.progress += 1
            yield from self._blocks.add(event.get("index"), delta)

    def _block(self, event: Mapping[str, Any]) -> Iterator[Delta]:
        self.progress += 1
        yield from self._blocks.begin(event.get("index"), _part(event, "content_block"))

    def _begin(self, message: Mapping[str, Any]) -> None:
        self.progress += 1
        model = message.get("model")
        self._model = mend(model) if isinstance(model, str) else ""
        self._count(message)

    def _end(self, delta: Mapping[str, Any], holder: Mapping[str, Any]) -> None:
        """Take why the reply ends, and what it took."""
        self.progress += 1
        reason = delta.get("stop_reason")
        self._reason = reason if isinstance(reason, str) else self._reason
        explained = _part(delta, "stop_details").get("explanation")
        self._explained = mend(explained) if isinstance(explained, str) else ""
        self._count(holder)

    def _stop(self) -> Iterator[Delta]:
        self.done = True
        yield from self._blocks.close()
        if self._explained and not self._blocks.text:
            yield TextDelta(self._explained, new_id("msg"))

    def _kind(self, has_calls: bool) -> Finish:
        if self._reason == "refusal":
            return "refusal"
        if self._reason in _CUT or self._blocks.cut:
            return "length"
        if has_calls:
            return "tool_calls"
        return "length" if self._reason == "pause_turn" else "stop"

    def _count(self, holder: Mapping[str, Any]) -> None:
        """Take the counts of tokens; each event tells totals, or nothing of them."""
        usage = holder.get("usage")
        thought = _part(usage, "output_tokens_details") if isinstance(usage, Mapping) else {}
        found = {name: count_of(usage, name) for name in _COUNTS}
        found["thinking_tokens"] = count_of(thought, "thinking_tokens")
        self._counts = {name: max(value, self._counts.get(name, 0)) for name, value in found.items()}

    def _usage(self) -> Usage | None:
        """The tokens of the call; Anthropic counts what was read from and written to the cache apart."""
        counts = self._counts
        if not any(counts.values()):
            return None
        return Usage(
            input=sum(counts[name] for name in _COUNTS[:3]),
            output=counts["output_tokens"],
            cached=counts["cache_read_input_tokens"],
            reasoning=counts["thinking_tokens"],
            kept=counts["cache_creation_input_tokens"],
        )

    def _opaque(self) -> Opaque | None:
        layout = self._blocks.layout
        return Opaque(self._endpoint.provider, self._endpoint.model, {BLOCKS: layout}) if layout else None


def _part(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}
