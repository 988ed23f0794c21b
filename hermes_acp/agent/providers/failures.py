"""What a failed model call means: servers say the same thing in many words."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from hermes_acp.agent.providers.masking import masked
from hermes_acp.agent.providers.wordings import MODEL_GONE, NO_MONEY, TOO_LONG, TYPES
from hermes_acp.errors import RETRYABLE, ProviderError, ProviderErrorKind
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import clean, plain, shorten

MAX_MESSAGE = 1000
MAX_READ = 20_000
"""Characters of an error's text that are looked at: servers answer with whole pages."""

_STATUSES: dict[int, ProviderErrorKind] = {
    401: "auth",
    402: "model_unavailable",
    403: "auth",
    404: "model_unavailable",
    408: "server",
    409: "server",
    410: "model_unavailable",
    413: "context_overflow",
    425: "server",
    429: "rate_limit",
    503: "overloaded",
    529: "overloaded",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call as the server told it; `status` is None when it came inside a stream."""

    message: str
    status: int | None = None
    type: str = ""
    code: str = ""
    param: str = ""
    retry_after: float | None = None

    @property
    def words(self) -> str:
        """All that the server said, for looking up what it names."""
        return " ".join((self.code, self.type, self.param, self.message))


def failure_of(body: Any, status: int | None = None, headers: Mapping[str, str] | None = None) -> Failure:
    """The failure that an answer's body tells: a decoded JSON value, or text, of any server."""
    error = _error_object(body)
    code = _word(error.get("code"))
    return Failure(
        message=_message(error) or "no reason given",
        status=status or _status_in(code) or _status_in(_word(error.get("status"))),
        type=_word(error.get("type")),
        code=code,
        param=_word(error.get("param")),
        retry_after=retry_after(headers or {}),
    )


def provider_error(failure: Failure, provider: str, secret: str = "") -> ProviderError:
    """The error to raise for a failure: of the right kind, readable, and without any key in it."""
    status = f" (HTTP {failure.status})" if failure.status else ""
    message = shorten(plain(clean(masked(failure.message, secret))).strip(), MAX_MESSAGE)
    return ProviderError(
        f"{provider}{status}: {message}", kind=kind_of(failure), status=failure.status, retry_after=failure.retry_after
    )


def kind_of(failure: Failure) -> ProviderErrorKind:
    """What went wrong, in the terms that retry and fallback decide by."""
    status, words, named = failure.status, failure.words, _kind_of_type(failure)
    if TOO_LONG.search(words) and status not in (401, 403, 429):
        return "context_overflow"
    if NO_MONEY.search(f"{failure.code} {failure.type}") or (status in (None, 400, 403) and NO_MONEY.search(words)):
        return "model_unavailable"
    if status is None and named in RETRYABLE:
        return named
    if status in (None, 400, 422) and failure.param in ("", "model") and MODEL_GONE.search(words):
        return "model_unavailable"
    if status is None:
        return named or "server"
    if status >= 500:
        # A proxy tells of its own trouble in the words of the API, which may blame a request that is well.
        return _STATUSES.get(status, "server") if named in (None, "bad_request") else named
    return _STATUSES.get(status, "bad_request")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait (RFC 9110, section 10.2.3: seconds or a date), or None."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _kind_of_type(failure: Failure) -> ProviderErrorKind | None:
    named = f"{failure.type} {failure.code}"
    return next((kind for pattern, kind in TYPES if pattern.search(named)), None)


def _error_object(body: Any) -> Mapping[str, Any]:
    """The mapping that holds the message, however deep the server put it."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return {"message": _readable(str(body or ""))}
    inner = body.get("error")
    if isinstance(inner, Mapping):
        return inner
    if isinstance(inner, str) and inner:
        return {**body, "message": body.get("message") or inner}
    return body


def _message(error: Mapping[str, Any]) -> str:
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    said = error.get("message") or error.get("detail") or error.get("msg") or error.get("errors") or ""
    said = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False, default=str)
    if limit := _word(error.get("n_ctx")):
        said = f"{said} (n_ctx: {limit})"  # llama.cpp names its window beside the message.
    return (f"{said}: {raw}" if raw else said)[:MAX_READ]


def _readable(text: str) -> str:
    """A body that is no JSON: the title of a page of HTML, else its own words."""
    title = re.search(r"<title[^>]*>(.*?)</title>", text[:MAX_READ], re.IGNORECASE | re.DOTALL)
    return title[1].strip() if title else text


def _word(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _status_in(code: str) -> int | None:
    return int(code) if len(code) == 3 and code.isdecimal() and code >= "400" else None
