"""What the tools of MCP servers are called for a model: `mcp__server__tool`."""

from __future__ import annotations

import hashlib
import re

LONGEST = 64
"""Characters of a name, as all providers take them."""

_NOT_ALLOWED = re.compile(r"[^a-zA-Z0-9_-]")


class Names:
    """The names that a session's tools have been given. A tool keeps its own for as long as the session is open."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], str] = {}

    def of(self, server: str, tool: str) -> str:
        """The name of a server's tool: allowed everywhere, of at most `LONGEST` characters, and no other tool's."""
        known = self._given.get((server, tool))
        if known is None:
            known = self._given[server, tool] = self._free(server, tool)
        return known

    def _free(self, server: str, tool: str) -> str:
        plain = f"mcp__{_NOT_ALLOWED.sub('_', server)}__{_NOT_ALLOWED.sub('_', tool)}"
        if len(plain) <= LONGEST and plain not in self._given.values():
            return plain
        mark = hashlib.sha256(repr((server, tool)).encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return f"{plain[: LONGEST - 1 - len(mark)]}_{mark}"
