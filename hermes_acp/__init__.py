"""hermes-acp: a coding agent that lives in editors and speaks the Agent Client Protocol."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

_LIBRARY = {
    "AIAgent": "hermes_acp.run_agent",
    "convert_scratchpad_to_think": "hermes_acp.agent.trajectory",
    "save_trajectory": "hermes_acp.agent.trajectory",
    "to_sharegpt": "hermes_acp.agent.trajectory",
}
"""What scripts import from here, by the module it is in; each is loaded when it is asked for.

Every start of the program runs this file before it answers: even `typing` would be felt.
"""


def __getattr__(name: str) -> Any:
    if name not in _LIBRARY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LIBRARY[name]), name)
