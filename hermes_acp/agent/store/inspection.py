"""A look at the database from outside, which changes nothing in it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from hermes_acp.agent.store.database import store_error
from hermes_acp.agent.store.schema import refuse_newer
from hermes_acp.agent.store.word_index import has_full_text
from hermes_acp.errors import StoreError
from hermes_acp.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreState:
    """How many sessions with a prompt are kept, or why that cannot be told ("" when it can)."""

    sessions: int = 0
    problem: str = ""


def inspect_store(path: Path) -> StoreState:
    """The state of the database file at `path`."""
    try:
        if not path.exists():
            return StoreState()
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1.0)) as connection:
            refuse_newer(connection)
            return StoreState(connection.execute("SELECT count(*) FROM sessions WHERE prompted = 1").fetchone()[0])
    except sqlite3.Error as error:
        return StoreState(problem=str(store_error(error)))
    except (StoreError, OSError) as error:
        return StoreState(problem=str(error))


def can_be_written(path: Path) -> bool:
    """Whether the database at `path` can be written, or made where there is none yet. Changes nothing."""
    place = path
    while not os.path.lexists(place) and place != place.parent:
        place = place.parent
    if place != path:
        return place.is_dir() and os.access(place, os.W_OK | os.X_OK)
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def searches_full_text() -> bool:
    """Whether this Python searches sessions by an index, and need not read them."""
    with closing(sqlite3.connect(":memory:")) as connection:
        return has_full_text(connection)
