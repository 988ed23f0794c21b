"""The items that the fake's Responses API has given out, as the real one knows them by their encryption."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

Item = Mapping[str, Any]


@dataclass(frozen=True)
class Given:
    """An item of a reply, the id of the one after it, and those of the reasoning right before it."""

    item: Item
    following: str
    thoughts: tuple[str, ...]


class Memory:
    """What one server has given out, by id."""

    def __init__(self) -> None:
        self._given: dict[str, Given] = {}

    def keep(self, output: Sequence[Item]) -> None:
        """Take note of the items of a reply."""
        thoughts: tuple[str, ...] = ()
        for item, after in zip_longest(output, output[1:], fillvalue={"id": ""}):
            self._given[item["id"]] = Given(item, after["id"], thoughts)
            thoughts = (*thoughts, item["id"]) if item["type"] == "reasoning" else ()

    def broken_rule(self, items: Sequence[Item]) -> str:
        """What is wrong with the items that carry an id, or ""."""
        return next(iter(self._problems(items)), "")

    def _problems(self, items: Sequence[Item]) -> Iterable[str]:
        ids = [item.get("id") for item in items]
        for number, item in enumerate(items):
            identity = item.get("id")
            if identity is None:
                continue
            if ids.count(identity) > 1:
                yield f"Duplicate item found with id {identity}. Remove duplicate items from your input and try again."
            given = self._given.get(identity)
            if given is None or given.item["type"] != item["type"]:
                yield (
                    f"Item with id '{identity}' not found. Items are not persisted when `store` is set to false. "
                    "Try again with `store` set to true, or remove this item from your input."
                )
                return
            yield from _differences(identity, item, given.item)
            yield from _neighbours(number, ids, given)


def _differences(identity: str, item: Item, given: Item) -> Iterable[str]:
    if given["type"] != "reasoning":
        return
    if not item.get("encrypted_content"):
        yield f"Item with id '{identity}' not found. Items are not persisted when `store` is set to false."
    elif item["encrypted_content"] != given["encrypted_content"]:
        yield f"The encrypted content for item {identity} could not be verified. invalid_encrypted_content"
    elif item["summary"] != given["summary"]:
        yield f"The summary of item {identity} does not match its encrypted content."


def _neighbours(number: int, ids: Sequence[Any], given: Given) -> Iterable[str]:
    identity, kind = given.item["id"], given.item["type"]
    following = ids[number + 1] if number + 1 < len(ids) else None
    if kind == "reasoning" and following != given.following:
        yield f"Item '{identity}' of type 'reasoning' was provided without its required following item."
    before = tuple(ids[max(number - len(given.thoughts), 0) : number])
    if before != given.thoughts:
        missing = next((thought for thought in given.thoughts if thought not in before), given.thoughts[0])
        yield f"Item '{identity}' of type '{kind}' was provided without its required 'reasoning' item: '{missing}'."
