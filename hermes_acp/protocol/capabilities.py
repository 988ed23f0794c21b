"""What the editor offers, as it said in `initialize`."""

from __future__ import annotations

from typing import Any, Self

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.protocol.initialize import client_capabilities


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """Each offer by itself that we make use of; whatever is absent, null or malformed is not offered (ACP:
    initialization)."""

    read_files: bool = False
    write_files: bool = False
    terminals: bool = False
    forms: bool = False
    notices: bool = False
    compaction: bool = False

    @classmethod
    def of(cls, params: dict[str, Any]) -> Self:
        """The offers in the params of `initialize`; newer clients name them `capabilities`."""
        offered = client_capabilities(params)
        files = _object(offered, "fs")
        elicitation = _object(offered, "elicitation")
        session = _object(offered, "session")
        return cls(
            read_files=files.get("readTextFile") is True,
            write_files=files.get("writeTextFile") is True,
            terminals=offered.get("terminal") is True,
            forms=isinstance(elicitation.get("form"), dict),
            notices=isinstance(session.get("notices"), dict),
            compaction=isinstance(session.get("compaction"), dict),
        )


def _object(value: dict[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}
