"""The items of a streamed Responses reply, each found again by its number or its ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from hermes_acp.agent.providers.drafted import Draft
from hermes_acp.agent.providers.pieces import mend
from hermes_acp.lazy_dataclasses import dataclass

Event = Mapping[str, Any]


@dataclass(slots=True)
class Item:
    """One item while it is written.

    `number` is its place in the reply, `fields` what was last told of it, `draft` the call that it may be;
    `begun` and `ended`: whether the server has said so; `voice`: in which of two ways its thought is told.
    """

    number: int
    kind: str
    fields: Event = field(default_factory=dict)
    draft: Draft = field(default_factory=Draft)
    begun: bool = False
    ended: bool = False
    voice: str = ""

    def tell(self, told: Event) -> None:
        """Take what the server says of the item; what it leaves out stays as it was."""
        self.fields = {**self.fields, **{name: value for name, value in told.items() if value is not None}}
        self.draft.provider_id = mend(word(self.fields.get("call_id")) or word(self.fields.get("id")))

    def set_arguments(self, whole: Any) -> None:
        """Take the arguments as a whole, unless nothing is said of them."""
        if whole:
            self.draft.pieces.clear()
            self.draft.add(whole)

    def is_called(self, told: Event) -> bool:
        """Whether it has the id by which another event knows an item."""
        return any(told.get(name) and self.fields.get(name) == told.get(name) for name in ("call_id", "id"))


class Items:
    """All items of one reply, by number.

    Events name the number of their item; where it is missing they name its id, and where that is missing too
    they are of the item that came last. Some servers give every item the same number, some an item other ids
    in every event.
    """

    def __init__(self) -> None:
        self._all: dict[int, Item] = {}
        self._numbered: dict[int, Item] = {}
        self._last: Item | None = None

    def __iter__(self) -> Iterator[Item]:
        return iter([self._all[number] for number in sorted(self._all)])

    def of(self, kind: str) -> list[Item]:
        """The items of a kind, in order."""
        return [item for item in self if item.kind == kind]

    def at(self, event: Event, kind: str) -> Item:
        """The item that an event about a piece belongs to; a new one if its beginning was not told."""
        number = _number(event)
        found = self._numbered.get(number) if number is not None else self._mentioned(event)
        if found is not None and found.kind != kind:
            found = self._last
        return found if found and found.kind == kind else self._begin(number, kind)

    def begun(self, event: Event, told: Event) -> Item:
        """The item whose beginning an event tells."""
        found = self._told(event, told)
        if found is None or (found.begun and not found.is_called(told)):
            found = self._begin(_number(event), word(told.get("type")))
        found.begun = True
        found.tell(told)
        return found

    def ended(self, event: Event, told: Event) -> Item:
        """The item that an event tells as a whole."""
        found = self._told(event, told)
        if found is None or (found.ended and not found.is_called(told)):
            found = self._begin(_number(event), word(told.get("type")))
        found.ended = True
        found.tell(told)
        return found

    def missing(self, output: Sequence[Event]) -> Iterator[tuple[Item, Event]]:
        """The items of the final output, each with what is told of it there: those known by now, and those
        that were never streamed. An item that may be known under another id is not taken for a new one."""
        known = {kind: len(self.of(kind)) for kind in {word(told.get("type")) for told in output}}
        spare = Counter(word(told.get("type")) for told in output)
        spare.subtract(known)
        for number, told in enumerate(output):
            kind = word(told.get("type"))
            found = self._listed(number, told)
            if found is None and spare[kind] > 0:
                spare[kind] -= 1
                found = self._begin(number, kind)
            if found is not None:
                found.tell(told)
                yield found, told

    def _told(self, event: Event, told: Event) -> Item | None:
        number = _number(event)
        found = self._named(told) if number is None else self._numbered.get(number)
        return found if found is None or found.kind == told.get("type") else self._named(told)

    def _listed(self, number: int, told: Event) -> Item | None:
        here = self._all.get(number)
        fits = here is not None and here.kind == told.get("type")
        return here if here and fits and here.is_called(told) else self._named(told) or (here if fits else None)

    def _named(self, told: Event) -> Item | None:
        """The newest item of this kind that has this id."""
        newest = reversed(self._all.values())
        return next((one for one in newest if one.kind == told.get("type") and one.is_called(told)), None)

    def _mentioned(self, event: Event) -> Item | None:
        identity = word(event.get("item_id"))
        newest = reversed(self._all.values())
        return next((one for one in newest if identity and one.fields.get("id") == identity), self._last)

    def _begin(self, number: int | None, kind: str) -> Item:
        """A new item, at this number if no other has it; else after all others."""
        place = number if number is not None and number not in self._all else max(self._all, default=-1) + 1
        self._last = self._all[place] = self._numbered[place if number is None else number] = Item(place, kind)
        return self._last


def word(value: Any) -> str:
    """The value if it is a text, else ""."""
    return value if isinstance(value, str) else ""


def _number(event: Event) -> int | None:
    number = event.get("output_index")
    return number if isinstance(number, int) and not isinstance(number, bool) else None
