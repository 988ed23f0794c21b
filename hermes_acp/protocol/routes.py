"""What the editor can ask and tell: routes for requests, listeners for notifications."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.protocol.jsonrpc import Id

A = TypeVar("A")


class Call(Generic[A]):
    """One request of the editor, while it is open.

    `app` is the application that the peer runs for. `state` is what `Route.received` leaves for
    `Route.handle`. `cancelled` turns true when the editor sends `$/cancel_request` for it, `committed` when that
    comes too late.
    """

    __slots__ = ("_followers", "_on_cancel", "app", "cancelled", "committed", "id", "method", "state")

    def __init__(self, app: A, id: Id, method: str) -> None:
        self.app = app
        self.id = id
        self.method = method
        self.cancelled = False
        self.committed = False
        self.state: Any = None
        self._followers: list[Callable[[], None]] = []
        self._on_cancel: Callable[[], None] | None = None

    @property
    def on_cancel(self) -> Callable[[], None] | None:
        """What `$/cancel_request` calls, for a route that cancels itself. Set too late, it is called at once."""
        return self._on_cancel

    @on_cancel.setter
    def on_cancel(self, callback: Callable[[], None] | None) -> None:
        self._on_cancel = callback
        if self.cancelled and callback is not None:
            callback()

    def after(self, callback: Callable[[], None]) -> None:
        """Have something done right after the answer was queued to the wire, if the answer is a result.

        For updates that must not come before the answer: no session may be named that the editor has not
        been told of.
        """
        self._followers.append(callback)

    def commit(self) -> None:
        """What the request does from here on stands, so it goes to its end and the result is told, cancelled or not."""
        self.committed = True

    def cancel(self) -> None:
        """The editor has asked for an end of this request."""
        self.cancelled = True
        if self._on_cancel is not None:
            self._on_cancel()

    def run_followers(self) -> None:
        """Do what was left for after the answer."""
        followers, self._followers = self._followers, []
        for follower in followers:
            follower()


@dataclass(frozen=True, slots=True)
class Route:
    """How a request is served.

    `params` checks what was sent. `received` runs at the moment the line is read, before any task starts
    and before the next line is looked at; `handle` then runs as a task and its dict is the result. A route
    that `cancels_itself` is told of `$/cancel_request` through `Call.on_cancel` and answers with a result;
    any other has its task cancelled and is answered with -32800, unless it is committed (`Call.commit`).
    """

    name: str
    params: type[BaseModel]
    handle: Callable[[Call[Any], Any], Awaitable[dict[str, Any]]]
    received: Callable[[Call[Any], Any], None] | None = None
    cancels_itself: bool = False


@dataclass(frozen=True, slots=True)
class Listener:
    """How a notification is heeded: `handle` gets the application and the checked params, in wire order."""

    name: str
    params: type[BaseModel]
    handle: Callable[[Any, Any], None]


class Routes:
    """Everything that the editor may send, by name.

    Raises:
        ValueError: two of them have the same name.
    """

    def __init__(self, entries: Iterable[Route | Listener]) -> None:
        self.requests: dict[str, Route] = {}
        self.notifications: dict[str, Listener] = {}
        for entry in entries:
            if entry.name in self.requests or entry.name in self.notifications:
                raise ValueError(f"two routes are named {entry.name!r}")
            if isinstance(entry, Route):
                self.requests[entry.name] = entry
            else:
                self.notifications[entry.name] = entry
