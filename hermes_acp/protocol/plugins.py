"""What the person is told of plugins."""

from __future__ import annotations

from hermes_acp.events import Notice
from hermes_acp.plugins.loading import Loaded


def plugin_notices(loaded: Loaded) -> list[Notice]:
    """A notice for each plugin that could not be loaded: it may have been installed for safety."""
    return [Notice("warning", "A plugin could not be loaded, and is not in force", line) for line in loaded.problems]
