"""What was given to a server in confidence is in no text about it."""

from __future__ import annotations

import pytest

from hermes_acp.mcp.hiding import without_secrets
from hermes_acp.mcp_servers import ProgramServer, RemoteServer


def test_values_that_are_secret_by_name_or_look_are_hidden_and_others_can_be_read() -> None:
    env = (
        ("GITHUB_TOKEN", "ghp_x"),
        ("OTHER", "a1b2c3d4e5f6a7b8c9"),
        ("FOLDER", "/home/somebody/notes"),
        ("MODE", "fast"),
    )
    text = "ghp_x a1b2c3d4e5f6a7b8c9 /home/somebody/notes fast"
    assert without_secrets(text, ProgramServer("a", "x", env=env)) == "*** *** /home/somebody/notes fast"


def test_inherited_variables_are_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_KEY", "sekrit")
    assert without_secrets("key sekrit", ProgramServer("a", "x", inherit=("SERVICE_KEY", "NOT_SET"))) == "key ***"


def test_all_headers_are_hidden_with_and_without_their_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORE", "from-variable")
    server = RemoteServer(
        "a", "https://x", headers=(("Authorization", "Bearer tok_1"),), headers_env=(("More", "MORE"),)
    )
    assert without_secrets("Bearer tok_1, tok_1, from-variable", server) == "***, ***, ***"
