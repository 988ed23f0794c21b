"""What a project tells agents steers nothing before the person has agreed to its very content."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes_acp.agent.prompt.guidance import guidance_files
from hermes_acp.agent.providers.base import new_id
from hermes_acp.cards import Location
from hermes_acp.host import ApprovalRequest, Decision, Host
from hermes_acp.local.waiting import surely
from hermes_acp.text import visible

TRUST = "trust"
"""What stands for a tool's name in the question."""

_LARGEST = 1_000_000
_NAMED = 20


@dataclass(slots=True)
class Trust:
    """The person's word on what projects bring: by path, the hash of the content that they agreed to; and the folders
    that they never want to be asked about.

    `file` keeps it; None: it is known for the session only. A file that cannot be read trusts nothing.
    """

    file: Path | None = None
    _here: dict[str, str] = field(default_factory=dict)
    _put_off: dict[str, str] = field(default_factory=dict)

    def admits(self, path: Path) -> bool:
        """Whether the person has agreed to what the file holds now."""
        digest = digest_of(path)
        return bool(digest) and digest in (self._here.get(str(path)), self.trusted().get(str(path)))

    def waiting(self, roots: Sequence[Path]) -> list[Path]:
        """The files for agents that the session would read and that nobody has decided about as they are."""
        if not roots or str(roots[0]) in self.refused():
            return []
        return [
            path
            for path in guidance_files(roots)
            if not self.admits(path) and self._put_off.get(str(path)) != digest_of(path)
        ]

    def settle(self, files: dict[str, str], folder: Path, decision: Decision) -> None:
        """Keep what the person said of files with these hashes.

        Raises:
            OSError: it cannot be written.
        """
        match decision:
            case "allow_once":
                self._here |= files
            case "allow_always":
                self._here |= files
                self.add(files)
            case "reject_always":
                self._put_off |= files
                self._write(self.trusted(), sorted({*self.refused(), str(folder)}))
            case _:
                self._put_off |= files

    def add(self, files: dict[str, str]) -> None:
        """Trust these files for good, with this content."""
        folders = {str(Path(path).parent) for path in files}
        self._write({**self.trusted(), **files}, [folder for folder in self.refused() if folder not in folders])

    def remove(self, path: str) -> bool:
        """Forget what was said of a file, or of all in a folder; whether there was anything."""
        below = path.rstrip("/") + "/"
        kept = {name: digest for name, digest in self.trusted().items() if name != path and not name.startswith(below)}
        refused = [folder for folder in self.refused() if folder != path]
        changed = kept != self.trusted() or refused != self.refused()
        if changed:
            self._write(kept, refused)
        return changed

    def trusted(self) -> dict[str, str]:
        """The hash of the content that is trusted, by path."""
        found = self._read().get("trusted")
        return {str(path): str(digest) for path, digest in found.items()} if isinstance(found, dict) else {}

    def refused(self) -> list[str]:
        """The folders that are never asked about."""
        found = self._read().get("never")
        return [str(folder) for folder in found] if isinstance(found, list) else []

    def _read(self) -> dict[str, Any]:
        if self.file is None:
            return {}
        try:
            found = json.loads(self.file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, trusted: dict[str, str], never: list[str]) -> None:
        if self.file is None:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"trusted": trusted, "never": never}, indent=1, allow_nan=False)
        handle, name = tempfile.mkstemp(dir=self.file.parent, prefix=".trust-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(name, self.file)
        except OSError:
            with suppress(OSError):
                os.unlink(name)
            raise


def digest_of(path: Path) -> str:
    """The hash of a file's content; "" when it cannot be read or is larger than 1 MB."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except (OSError, ValueError):
        return ""
    with open(handle, "rb") as file:
        try:
            data = file.read(_LARGEST + 1)
        except OSError:
            return ""
    return hashlib.sha256(data).hexdigest() if len(data) <= _LARGEST else ""


async def ask_for_trust(trust: Trust, roots: tuple[Path, ...], host: Host) -> str:
    """Ask the person once about what the session's folders bring, if there is anything new; why the answer could not
    be kept, "" when it was."""
    waiting = await asyncio.to_thread(trust.waiting, roots)
    if not waiting:
        return ""
    files = {str(path): digest_of(path) for path in waiting}
    answer = await host.approve(_question(waiting, trust, roots[0]))
    try:
        await surely(asyncio.to_thread(trust.settle, files, roots[0], answer.decision))
    except OSError as error:
        return f"{error.strerror or error}"
    return ""


def _question(files: Sequence[Path], trust: Trust, folder: Path) -> ApprovalRequest:
    known = trust.trusted()
    names = [f"{visible(str(path))}{' (changed)' if str(path) in known else ''}" for path in files[:_NAMED]]
    return ApprovalRequest(
        call_id=new_id(TRUST),
        tool=TRUST,
        title="Let this project's files for agents instruct the agent",
        kind="read",
        effect="read",
        reason=f"They steer what the agent does, and were not agreed to as they are: {', '.join(names)}.",
        cwd=str(folder),
        locations=tuple(Location(str(path)) for path in files[:_NAMED]),
        always="these files as they are",
    )
