"""Keyrings of a kind that a machine may have, chosen by PYTHON_KEYRING_BACKEND."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

SLOWEST = 60.0


class Guarded(KeyringBackend):
    """Keeps passwords in the JSON file that TEST_KEYRING names.

    While a file of that name and ".busy" is there, it does not answer; while one of ".locked" is, it refuses.
    Every answer is noted in ".log".
    """

    priority = 5

    def __init__(self) -> None:
        super().__init__()
        self._file = Path(os.environ["TEST_KEYRING"])

    def get_password(self, service: str, username: str) -> str | None:
        self._guard(f"get {service} {username}")
        found: str | None = self._passwords().get(f"{service} {username}")
        return found

    def set_password(self, service: str, username: str, password: str) -> None:
        self._guard(f"set {service} {username}")
        self._file.write_text(json.dumps({**self._passwords(), f"{service} {username}": password}), encoding="utf-8")

    def delete_password(self, service: str, username: str) -> None:
        raise PasswordDeleteError(username)

    def _guard(self, what: str) -> None:
        deadline = time.monotonic() + SLOWEST
        while self._beside(".busy").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        if self._beside(".locked").exists():
            raise KeyringLocked("the collection\nis locked")
        with self._beside(".log").open("a", encoding="utf-8") as log:
            log.write(what + "\n")

    def _beside(self, suffix: str) -> Path:
        return self._file.with_name(self._file.name + suffix)

    def _passwords(self) -> dict[str, str]:
        try:
            found: dict[str, str] = json.loads(self._file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return found
