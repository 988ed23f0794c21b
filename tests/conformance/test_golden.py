"""Each shape of message that is sent, as it stands in `golden/`; and line 10, on all of them.

`HERMES_UPDATE_GOLDEN=1 python -m pytest tests/conformance/test_golden.py` writes the files anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.conformance.recording import record
from tests.support.schema import name_of, strange_members

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "golden"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return await record(tmp_path_factory.mktemp("golden"))


@pytest.fixture(scope="session")
def shapes(recorded: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The first message of each shape, by the name of its file."""
    first: dict[str, dict[str, Any]] = {}
    for said in recorded:
        first.setdefault(file_name(said["name"]), said["message"])
    if os.environ.get("HERMES_UPDATE_GOLDEN"):
        write(first)
    return first


def file_name(shape: str) -> str:
    return shape.replace(" ", "-").replace("--", "-") + ".json"


def write(first: dict[str, dict[str, Any]]) -> None:
    for path in FOLDER.glob("*.json"):
        path.unlink()
    for name, message in first.items():
        (FOLDER / name).write_text(json.dumps(message, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def test_every_message_is_as_it_was_agreed(shapes: dict[str, dict[str, Any]]) -> None:
    agreed = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")}
    assert sorted(shapes) == sorted(agreed)
    assert [name for name in agreed if shapes[name] != agreed[name]] == []


@pytest.mark.slow
def test_10_no_message_has_a_member_that_the_protocol_does_not_know(recorded: list[dict[str, Any]]) -> None:
    """Custom ones belong into `_meta`. The envelope is JSON-RPC's."""
    for said in recorded:
        message = said["message"]
        [body] = [message[name] for name in ("params", "result", "error") if name in message]
        assert set(message) <= {"jsonrpc", "id", "method", "params", "result", "error"}
        definition = definition_of(said["name"], message)
        if definition:
            assert strange_members(definition, body) == [], said["name"]


def definition_of(name: str, message: dict[str, Any]) -> str | None:
    """The schema's name for what the message carries; None for errors and extensions."""
    version = "schema.unstable.json"
    if "method" in message:
        return name_of(message["method"], "Request" if "id" in message else "Notification", version)
    if "error" in message:
        return "Error"
    method = name.split()[1].replace("session_", "session/", 1)
    return name_of(method, "Response", version)
