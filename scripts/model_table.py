"""Write hermes_acp/agent/model_table.json from the genai-prices package: windows and prices of known models.

python -m pip install genai-prices
python scripts/model_table.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from genai_prices.data import providers
from genai_prices.types import ClauseEquals, ClauseOr, ClauseStartsWith, StartDateConstraint, TieredPrices

HOSTS = {
    "anthropic": "api.anthropic.com",
    "cerebras": "api.cerebras.ai",
    "deepseek": "api.deepseek.com",
    "fireworks": "api.fireworks.ai",
    "google": "generativelanguage.googleapis.com",
    "groq": "api.groq.com",
    "minimax": "api.minimax.io",
    "mistral": "api.mistral.ai",
    "moonshotai": "api.moonshot.ai",
    "openai": "api.openai.com",
    "openrouter": "openrouter.ai",
    "together": "api.together.xyz",
    "x-ai": "api.x.ai",
    "zai": "api.z.ai",
}
TARGET = Path(__file__).parent.parent / "hermes_acp" / "agent" / "model_table.json"


def names(match: Any) -> Iterator[str]:
    """The names that a rule takes as they are, and with a star those that it takes as beginnings."""
    match match:
        case ClauseEquals(equals=name):
            yield name
        case ClauseStartsWith(starts_with=name):
            yield name + "*"
        case ClauseOr(or_=rules):
            for rule in rules:
                yield from names(rule)


def prices_of(model: Any) -> Any:
    """What the model costs on the day the table is made."""
    if not isinstance(model.prices, list):
        return model.prices
    begun = [one.prices for one in model.prices if has_begun(one.constraint)]
    return begun[-1] if begun else model.prices[0].prices


def has_begun(constraint: Any) -> bool:
    return constraint is None or (isinstance(constraint, StartDateConstraint) and constraint.start_date <= date.today())


def price(value: Any) -> Any:
    """US dollars for a million tokens; of prices that depend on the size of the request, a list of [from, price]."""
    if isinstance(value, TieredPrices):
        return [[0, float(value.base)], *([tier.start, float(tier.price)] for tier in value.tiers)]
    return float(value) if isinstance(value, Decimal | int) else None


def row(model: Any) -> list[Any]:
    costs = prices_of(model)
    told = (costs.input_mtok, costs.output_mtok, costs.cache_read_mtok, costs.cache_write_mtok)
    return [model.context_window or 0, *map(price, told)]


def table(models: Any) -> dict[str, list[Any]]:
    known = {}
    for model in models:
        found = row(model)
        if found[0] or found[1] is not None:
            known |= dict.fromkeys((model.id, *names(model.match)), found)
    return dict(sorted(known.items()))


def main() -> None:
    tables = {HOSTS[one.id]: table(one.models) for one in providers if one.id in HOSTS}
    lines = [
        f'  "{host}": {{\n'
        + ",\n".join(f"    {json.dumps(name)}: {json.dumps(known)}" for name, known in rows.items())
        + "\n  }"
        for host, rows in sorted(tables.items())
    ]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
