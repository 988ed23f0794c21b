"""What the editor offers, as it said in `initialize`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from hermes_acp.protocol.initialize import client_capabilities, has_terminal_login


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """Each offer by itself; whatever is absent, null or malformed is not offered (ACP: initialization).

    `client_name` and `client_version` say which editor it is, empty when it does not tell.
    """

    read_files: bool = False
    write_files: bool = False
    terminals: bool = False
    terminal_login: bool = False
    forms: bool = False
    urls: bool = False
    notices: bool = False
    compaction: bool = False
    boolean_options: bool = False
    client_name: str = ""
    client_version: str = ""

    @classmethod
    def of(cls, params: dict[str, Any]) -> Self:
        """The offers in the params of `initialize`; newer clients name them `capabilities` and `info`."""
        offered = client_capabilities(params)
        files = _object(offered, "fs")
        elicitation = _object(offered, "elicitation")
        session = _object(offered, "session")
        client = _object(params, "clientInfo") or _object(params, "info")
        return cls(
            read_files=files.get("readTextFile") is True,
            write_files=files.get("writeTextFile") is True,
            terminals=offered.get("terminal") is True,
            terminal_login=has_terminal_login(offered),
            forms=isinstance(elicitation.get("form"), dict),
            urls=isinstance(elicitation.get("url"), dict),
            notices=isinstance(session.get("notices"), dict),
            compaction=isinstance(session.get("compaction"), dict),
            boolean_options=isinstance(_object(session, "configOptions").get("boolean"), dict),
            client_name=_text(client, "name"),
            client_version=_text(client, "version"),
        )


def _object(value: dict[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: dict[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""
