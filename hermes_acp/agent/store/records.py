"""What a stored session is, as values."""

from __future__ import annotations

from dataclasses import field
from datetime import UTC, datetime
from typing import TypedDict

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.messages import Message


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session as it is listed and opened.

    `id` is what an editor knows; it names the whole lineage and never changes. `roots` are the additional
    folders. Times are ISO 8601 in UTC. `options` are the values of the session's config options (mode,
    model, thought level) by id. `prompted` is false until the first prompt: such sessions are not listed.
    `system_prompt` is the prompt built for this session, reused byte for byte. `cost` is what its model calls cost
    in US dollars, None when the price of one was not known.
    """

    id: str
    cwd: str
    roots: tuple[str, ...] = ()
    title: str = ""
    created_at: str = ""
    updated_at: str = ""
    options: dict[str, str] = field(default_factory=dict)
    prompted: bool = False
    system_prompt: str = ""
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message and the number of the turn (from 1) that it belongs to."""

    turn: int
    message: Message


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for in other sessions than `besides`: words, the folder of the sessions (None: any), and at
    most how many sessions."""

    words: tuple[str, ...]
    besides: str
    cwd: str | None
    limit: int


@dataclass(frozen=True, slots=True)
class Said:
    """Words of the user or the assistant; `found` marks those that were looked for."""

    role: str
    text: str
    found: bool = False


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session in which something was found: the best place in it, with what was said around it."""

    session: SessionRecord
    said: tuple[Said, ...]


class Changes(TypedDict, total=False):
    """The fields of a session that change while it lives; those left out stay as they are."""

    title: str
    roots: tuple[str, ...]
    options: dict[str, str]
    system_prompt: str
    cost: float | None
    prompted: bool
    updated_at: str


def now() -> str:
    """This moment in UTC as ISO 8601, always of the same width, so that text order is time order."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
