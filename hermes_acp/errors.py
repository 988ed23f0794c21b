"""The errors that cross layers: failures for the caller are exceptions, failures for the model are values."""

from __future__ import annotations

import asyncio
from typing import Literal

ProviderErrorKind = Literal[
    "auth",
    "rate_limit",
    "overloaded",
    "server",
    "network",
    "stalled",
    "incomplete",
    "malformed",
    "context_overflow",
    "bad_request",
    "model_unavailable",
]

RETRYABLE: frozenset[ProviderErrorKind] = frozenset(
    {"rate_limit", "overloaded", "server", "network", "stalled", "incomplete", "malformed"}
)


class HermesError(Exception):
    """The base of all errors that this package raises on purpose; the text is fit for a person."""


class ConfigError(HermesError):
    """A setting is wrong: one line naming file, key and reason."""


class CredentialsMissing(HermesError):
    """Nothing is configured that could answer, or the person has logged out."""


class ProviderError(HermesError):
    """A model call failed.

    Attributes:
        kind: what went wrong, in the terms that retry and fallback decide by.
        status: the HTTP status, when there was one.
        retry_after: seconds the server asked to wait, when it did.
    """

    def __init__(
        self, message: str, *, kind: ProviderErrorKind, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind: ProviderErrorKind = kind
        self.status = status
        self.retry_after = retry_after


class ToolError(HermesError):
    """A tool could not do what it was asked; the text goes to the model and says what to change."""


class StoreError(HermesError):
    """The session store cannot be read or written now."""


class SessionDeleted(StoreError):
    """The session was deleted, by another program, while it is open here: nothing of it can be stored any more."""

    def __init__(self, session_id: str) -> None:
        super().__init__("This session has been deleted; what is said in it is no longer kept.")
        self.session_id = session_id


class SessionNotFound(HermesError):
    """No session has this id, or it is not open here."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"There is no session {session_id!r}.")
        self.session_id = session_id


class TurnCancelled(HermesError):
    """The person ended the turn by their answer to a question."""


class Unfinished(asyncio.CancelledError):
    """A cancellation of work that was done all the same, or may have been; the text tells the model so."""
