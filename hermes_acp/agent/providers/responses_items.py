"""The items of a streamed Responses reply, each found again by its number or its ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes_acp.agent.providers.drafted import Draft
from hermes_acp.agent.providers.pieces import mend

Event = Mapping[str, Any]


@dataclass(slots=True)
class Item:
    """One item while it is written: `fields` is what was last told of it, `draft` the call that it may be."""

    number: int
    kind: str
    fields: Event = field(default_factory=dict)
    draft: Draft = field(default_factory=Draft)

    def tell(self, told: Event) -> None:
        """Take what the server says of the item; what it leaves out stays as it was."""
        self.fields = {**self.fields, **{name: value for name, value in told.items() if value is not None}}
        self.draft.provider_id = mend(word(self.fields.get("call_id")) or word(self.fields.get("id")))

    def set_arguments(self, whole: Any) -> None:
        """Take the arguments as a whole, unless nothing is said of them."""
        if whole:
            self.draft.pieces.clear()
            self.draft.add(whole)


class Items:
    """All items of one reply, by number.

    Events name the number of their item; where it is missing they name its id, and where that is missing too
    they are of the item that came last.
    """

    def __init__(self) -> None:
        self._by_number: dict[int, Item] = {}
        self._last: Item | None = None

    def __iter__(self) -> Iterator[Item]:
        return iter([self._by_number[number] for number in sorted(self._by_number)])

    def of(self, kind: str) -> list[Item]:
        """The items of a kind, in order."""
        return [item for item in self if item.kind == kind]

    def at(self, event: Event, kind: str) -> Item:
        """The item that an event about a piece belongs to; a new one if its beginning was not told."""
        number = _number(event)
        found = self._by_number.get(number) if number is not None else self._mentioned(event)
        return found if found and found.kind == kind else self._begin(self._free(number), kind)

    def told(self, event: Event, item: Event) -> Item:
        """The item that an event tells as a whole, with what is new about it."""
        kind, number = word(item.get("type")), _number(event)
        found = self._named(item) if number is None else self._by_number.get(number)
        if found is None or found.kind != kind:
            found = self._begin(self._free(number), kind)
        found.tell(item)
        return found

    def missing(self, output: Iterable[Event]) -> Iterator[Event]:
        """What of the final output is to be told again, as events: items known by now under their numbers, and
        those that were never streamed. An item that may be known under another id is not taken for a new one.
        """
        wanted = list(output)
        spare = {word(one.get("type")): 0 for one in wanted}
        for kind in spare:
            spare[kind] = sum(word(one.get("type")) == kind for one in wanted) - len(self.of(kind))
        for number, item in enumerate(wanted):
            kind = word(item.get("type"))
            known = self._named(item) or self._by_number.get(number)
            if known is not None and known.kind == kind:
                yield {"output_index": known.number, "item": item}
            elif spare[kind] > 0:
                spare[kind] -= 1
                yield {"output_index": self._free(number), "item": item}

    def _named(self, item: Event) -> Item | None:
        return self._known(word(item.get("call_id"))) or self._known(word(item.get("id")))

    def _mentioned(self, event: Event) -> Item | None:
        return self._known(word(event.get("item_id"))) or self._last

    def _known(self, identity: str) -> Item | None:
        newest = reversed(self._by_number.values())
        names = ("id", "call_id")
        return next((one for one in newest if identity and identity in map(one.fields.get, names)), None)

    def _free(self, number: int | None) -> int:
        """The number, if no item has it; else the next one."""
        if number is not None and number not in self._by_number:
            return number
        return max(self._by_number, default=-1) + 1

    def _begin(self, number: int, kind: str) -> Item:
        self._last = self._by_number[number] = Item(number, kind)
        return self._last


def word(value: Any) -> str:
    """The value if it is a text, else ""."""
    return value if isinstance(value, str) else ""


def _number(event: Event) -> int | None:
    number = event.get("output_index")
    return number if isinstance(number, int) and not isinstance(number, bool) else None
