"""When garbage is looked for: seldom while the agent is imported, since modules stay and have none."""

from __future__ import annotations

import gc

_USUAL = gc.get_threshold()
_SELDOM = (20_000, 50, 50)
"""By default an SDK's import alone is searched a hundred times."""


def look_seldom() -> None:
    """Until `look_as_usual` is called."""
    gc.set_threshold(*_SELDOM)


def look_as_usual() -> None:
    """Look for garbage as Python does by itself: old sessions are not to wait for it in memory."""
    gc.set_threshold(*_USUAL)
