"""Every way in which an answer of each API can go wrong, and the kind of error it is."""

from hermes_acp.agent.providers import anthropic_messages, chat_completions, codex_responses
from tests.fakes import anthropic_replies as anthropic
from tests.fakes import responses_replies as responses
from tests.fakes.model_server import Raw, Say, Status, chunk, raw, sse

STOP = chunk({}, "stop")
OVERLOADED = {"message": "Overloaded", "type": "overloaded_error"}
BUSY = {"type": "server_error", "code": "server_is_overloaded", "message": "Our servers are overloaded."}
HI = responses.event("output_text.delta", delta="hi", content_index=0)
HALF = (
    anthropic.BEGIN,
    anthropic.start(0, type="text", text=""),
    anthropic.delta(0, "text_delta", text="some text"),
)


def _failed(**error):
    return {"type": "response.failed", "response": {"status": "failed", "error": error}}


CHAT_COMPLETIONS = {
    "a status": (Status(500), "server"),
    "the rate limit": (Status(429), "rate_limit"),
    "overload": (Status(529), "overloaded"),
    "a refused key": (Status(401), "auth"),
    "a web page": (Status(200, "<html><title>Sign in</title></html>"), "malformed"),
    "a web page with an error status": (Status(502, "<html><title>502 Bad Gateway</title></html>"), "server"),
    "an error as JSON with status 200": (Status(200, {"error": OVERLOADED}), "overloaded"),
    "an odd JSON with status 200": (Status(200, {"ok": True}), "malformed"),
    "no JSON with status 200": (Status(200, b"oops"), "malformed"),
    "an error event": (Say("", error=OVERLOADED), "overloaded"),
    "an error event after text": (Say("some text", error={"message": "slow down", "code": 429}), "rate_limit"),
    "a named error event": (Raw((b'event: error\ndata: {"message": "internal", "type": "api_error"}\n\n',)), "server"),
    "an error as an object": (raw({"object": "error", "message": "boom", "code": 500}), "server"),
    "an error in a choice": (raw(chunk({}, "error")), "server"),
    "a stream cut before its finish": (Say("some text", ending="cut"), "incomplete"),
    "an end mark without a finish": (raw(chunk({"content": "hi"})), "incomplete"),
    "an empty stream": (Raw(()), "incomplete"),
    "a cut in the middle of an event": (Raw((sse(chunk({"content": "hi"}))[:-40],)), "malformed"),
    "a closed connection": (Say("some text", ending="drop"), "network"),
    "a reset": (Say("some text", ending="reset"), "network"),
    "bad JSON": (raw('{"choices": [', STOP), "malformed"),
    "no object": (raw("[1]", STOP), "malformed"),
    "very deep JSON": (raw('{"a":' * 100_000, STOP), "malformed"),
    "silence": (Say("some text", ending="stall"), "stalled"),
    "keep-alives only": (Say("some text", ending="ping"), "stalled"),
    "no answer at all": (Status(200, first_delay=60), "stalled"),
}

CODEX_RESPONSES = {
    "an error event": (Say("", error=BUSY), "overloaded"),
    "an error event after text": (Say("text", error={"code": "rate_limit_exceeded", "message": "slow"}), "rate_limit"),
    "a flat error event": (
        responses.raw_events({"type": "error", "code": "server_error", "message": "boom"}),
        "server",
    ),
    "a failed response": (responses.raw_events(HI, _failed(code="server_error", message="boom")), "server"),
    "the rate limit in a failed response": (
        responses.raw_events(_failed(code="rate_limit_exceeded", message="Rate limit reached")),
        "rate_limit",
    ),
    "too long a prompt": (
        responses.raw_events(_failed(code="context_length_exceeded", message="Your input exceeds the context window")),
        "context_overflow",
    ),
    "an unusable prompt": (responses.raw_events(_failed(code="invalid_prompt", message="flagged")), "bad_request"),
    "a forbidden subject": (responses.raw_events(_failed(code="bio_policy", message="flagged")), "bad_request"),
    "no money": (
        responses.raw_events(_failed(code="insufficient_quota", message="You exceeded your quota")),
        "model_unavailable",
    ),
    "a cancelled response": (responses.raw_events(HI, {"type": "response.cancelled", "response": {}}), "server"),
    "an error of another API": (Raw((b'data: {"error": {"message": "boom", "code": 500}}\n\n',)), "server"),
    "a stream cut before its last event": (Say("some text", ending="cut"), "incomplete"),
    "an end mark without a last event": (responses.raw_events(HI, "[DONE]"), "incomplete"),
    "an empty stream": (Raw(()), "incomplete"),
    "a cut in the middle of an event": (Raw((responses.events(HI)[:-20],)), "malformed"),
    "a closed connection": (Say("some text", ending="drop"), "network"),
    "a reset": (Say("some text", ending="reset"), "network"),
    "bad JSON": (responses.raw_events('{"type": ', responses.completed()), "malformed"),
    "no object": (responses.raw_events("[1]", responses.completed()), "malformed"),
    "very deep JSON": (responses.raw_events('{"a":' * 100_000, responses.completed()), "malformed"),
    "silence": (Say("some text", ending="stall"), "stalled"),
    "keep-alives only": (Say("some text", ending="ping"), "stalled"),
    "a web page": (Status(200, "<html><title>Sign in</title></html>"), "malformed"),
    "an error as JSON with status 200": (Status(200, {"error": BUSY}), "overloaded"),
    "a failed response in one piece": (Status(200, {"status": "failed", "error": BUSY}), "overloaded"),
    "an odd JSON with status 200": (Status(200, {"ok": True}), "malformed"),
}

ANTHROPIC_MESSAGES = {
    "a status": (Status(500), "server"),
    "the rate limit": (anthropic.refused("slow down", 429, "rate_limit_error"), "rate_limit"),
    "overload": (anthropic.refused("Overloaded", 529, "overloaded_error"), "overloaded"),
    "a refused key": (anthropic.refused("invalid x-api-key", 401, "authentication_error"), "auth"),
    "no money": (anthropic.refused("Your credit balance is too low", 400), "model_unavailable"),
    "no such model": (anthropic.refused("model: claude-9", 404, "not_found_error"), "model_unavailable"),
    "too long a prompt": (anthropic.refused("prompt is too long: 210000 tokens > 200000 maximum"), "context_overflow"),
    "too large a request": (
        anthropic.refused("Request exceeds the maximum size", 413, "request_too_large"),
        "context_overflow",
    ),
    "a web page": (Status(200, "<html><title>Sign in</title></html>"), "malformed"),
    "an error as JSON with status 200": (Status(200, {"type": "error", "error": OVERLOADED}), "overloaded"),
    "an odd JSON with status 200": (Status(200, {"ok": True}), "malformed"),
    "no JSON with status 200": (Status(200, b"oops"), "malformed"),
    "an error event at the start": (Say(error=OVERLOADED), "overloaded"),
    "an error event after text": (Say("some text", error=OVERLOADED), "overloaded"),
    "an error event of the rate limit": (Say(error={"type": "rate_limit_error", "message": "slow"}), "rate_limit"),
    "an error event of the server": (Say(error={"type": "api_error", "message": "Internal"}), "server"),
    "an error event that is no retry": (Say(error={"type": "invalid_request_error", "message": "no"}), "bad_request"),
    "an error event without JSON": (Raw((b"event: error\ndata: oops\n\n",)), "malformed"),
    "a stream cut before its end": (Say("some text", ending="cut"), "incomplete"),
    "a reason without the last event": (anthropic.raw(*HALF, anthropic.end()[0]), "incomplete"),
    "an empty stream": (Raw(()), "incomplete"),
    "a cut in the middle of an event": (Raw((anthropic.events(*HALF)[:-40],)), "malformed"),
    "a closed connection": (Say("some text", ending="drop"), "network"),
    "a reset": (Say("some text", ending="reset"), "network"),
    "bad JSON": (
        anthropic.raw(anthropic.BEGIN, 'data: {"type": "content_block_start", \n\n', *anthropic.end()),
        "malformed",
    ),
    "no object": (anthropic.raw("data: [1]\n\n", *anthropic.end()), "malformed"),
    "very deep JSON": (anthropic.raw("data: " + '{"a":' * 100_000 + "\n\n", *anthropic.end()), "malformed"),
    "silence": (Say("some text", ending="stall"), "stalled"),
    "pings only": (Say("some text", ending="ping"), "stalled"),
    "no answer at all": (Status(200, first_delay=60), "stalled"),
}

FAULTS = {
    "chat completions": (chat_completions.API, CHAT_COMPLETIONS),
    "responses": (codex_responses.API, CODEX_RESPONSES),
    "messages": (anthropic_messages.API, ANTHROPIC_MESSAGES),
}
"""Each API with its faults."""
