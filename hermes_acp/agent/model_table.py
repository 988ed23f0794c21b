"""What is known of models by name: the size of their context and what their tokens cost.

`scripts/model_table.py` makes the table. Prices hold at the model's own host alone; windows are also taken for
models of the same name elsewhere, where nobody tells better.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from hermes_acp.agent.providers.prices import Prices, Tiers
from hermes_acp.lazy_dataclasses import dataclass

CAREFUL_WINDOW = 128_000
"""The context, in tokens, of a model that nothing is known of."""

_DATED = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$")


@dataclass(frozen=True, slots=True)
class KnownModel:
    """`window` in tokens, 0 when it is not known; `prices` None when they are not."""

    window: int = 0
    prices: Prices | None = None


UNKNOWN = KnownModel()


@lru_cache(256)
def known_model(name: str, base_url: str) -> KnownModel:
    """What is known of a model at an address; of one at another address than its maker's, the window alone."""
    host = urlsplit(base_url).hostname or ""
    if found := _row(_table().get(host, {}), name):
        return KnownModel(int(found[0]), _prices(found))
    last = name.rsplit("/", 1)[-1]
    for host_rows in _table().values():
        if (found := _row(host_rows, last)) and found[0]:
            return KnownModel(int(found[0]))
    return UNKNOWN


@cache
def _table() -> Mapping[str, Mapping[str, list[Any]]]:
    text = files("hermes_acp.agent").joinpath("model_table.json").read_text(encoding="utf-8")
    table: Mapping[str, Mapping[str, list[Any]]] = json.loads(text)
    return table


def _row(rows: Mapping[str, list[Any]], name: str) -> list[Any] | None:
    name = name.lower()
    if name in rows:
        return rows[name]
    if (undated := _DATED.sub("", name)) in rows:
        return rows[undated]
    beginnings = [known for known in rows if known.endswith("*") and name.startswith(known[:-1])]
    return rows[max(beginnings, key=len)] if beginnings else None


def _prices(row: list[Any]) -> Prices | None:
    _, prompt, output, cached, kept = row
    if prompt is None or output is None:
        return None
    return Prices(_tiers(prompt), _tiers(output), _tiers(cached), _tiers(kept))


def _tiers(price: Any) -> Tiers:
    if price is None:
        return ()
    return (
        tuple((int(start), float(cost)) for start, cost in price) if isinstance(price, list) else ((0, float(price)),)
    )
