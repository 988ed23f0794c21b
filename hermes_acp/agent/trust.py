"""What a project brings steers and starts nothing before the person has agreed to its very content."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hermes_acp.host import Decision
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import digests
from hermes_acp.local.locking import one_at_a_time
from hermes_acp.local.small_files import write_private
from hermes_acp.mcp.project import PROJECT_SERVERS, read_project

_Said = tuple[dict[str, str], list[str]]
"""The hashes by path, and the places that are never asked about."""

_PATIENCE = 2.0
"""Seconds to wait for another process that changes the file."""

TRUST = "trust"
"""What stands for a tool's name in the question. Its `allow_always` is for good, its `allow_once` for the session."""


@dataclass(frozen=True, slots=True)
class Brought:
    """Something that a project brings: where it is, the hash of its content as it is, and what the person sees of it
    beside its path."""

    path: Path
    digest: str
    words: tuple[str, ...] = ()


@dataclass(slots=True)
class Trust:
    """The person's word on what projects bring: by path, the hash of the content that they agreed to; and the places
    that they never want to be asked about.

    `file` keeps it; None: it is known for the session only. A file that cannot be read trusts nothing.
    """

    file: Path | None = None
    _here: dict[str, str] = field(default_factory=dict)
    _put_off: dict[str, str] = field(default_factory=dict)

    def agreed(self, path: Path, digest: str) -> bool:
        """Whether the person has agreed to this content at this place."""
        return bool(digest) and digest in (self._here.get(str(path)), self.trusted().get(str(path)))

    def admits(self, path: Path) -> bool:
        """Whether the person has agreed to what is there now: a file, a folder, or a file that names servers."""
        return self.agreed(path, digest_at(path))

    def undecided(self, brought: Iterable[Brought], place: Path) -> list[Brought]:
        """What of it the person has said nothing about as it is. `place` is where they may have said never."""
        if str(place) in self.refused():
            return []
        return [
            one
            for one in brought
            if one.digest and not self.agreed(one.path, one.digest) and self._put_off.get(str(one.path)) != one.digest
        ]

    def settle(self, brought: Sequence[Brought], place: Path, decision: Decision) -> None:
        """Keep what the person said of this.

        Raises:
            OSError: it cannot be written.
        """
        found = {str(one.path): one.digest for one in brought}
        match decision:
            case "allow_once":
                self._here |= found
            case "allow_always":
                self._here |= found
                self.add(found)
            case "reject_always":
                self._put_off |= found
                self._change(lambda trusted, never: (trusted, sorted({*never, str(place)})))
            case _:
                self._put_off |= found

    def add(self, found: dict[str, str]) -> None:
        """Trust what has these hashes at these paths, for good."""
        places = {place for path in found for place in (path, *map(str, Path(path).parents))}
        self._change(lambda trusted, never: ({**trusted, **found}, [each for each in never if each not in places]))

    def remove(self, path: str) -> bool:
        """Forget what was said of a path, or of all below it; whether there was anything."""
        below = path.rstrip("/") + "/"

        def stays(name: str) -> bool:
            return name != path and not name.startswith(below)

        return self._change(
            lambda trusted, never: (
                {name: digest for name, digest in trusted.items() if stays(name)},
                [place for place in never if stays(place)],
            )
        )

    def trusted(self) -> dict[str, str]:
        """The hash of the content that is trusted, by path."""
        return self._by_path("trusted")

    def since(self) -> dict[str, str]:
        """When the person agreed to the content that is trusted, by path (UTC, ISO 8601), as far as that was noted."""
        return self._by_path("since")

    def fault(self) -> str:
        """Why the file is of no use, and so trusts nothing; "" when it is, or when there is none."""
        try:
            usable = self.file is None or isinstance(json.loads(self.file.read_text("utf-8")), dict)
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"{self.file}: {error.strerror}"
        except ValueError:
            usable = False
        return "" if usable else f"{self.file} is damaged, so nothing is trusted"

    def refused(self) -> list[str]:
        """The places that are never asked about: folders for their texts, files for the servers that they name."""
        found = self._read().get("never")
        return [str(place) for place in found] if isinstance(found, list) else []

    def _by_path(self, name: str) -> dict[str, str]:
        found = self._read().get(name)
        return {str(path): str(said) for path, said in found.items()} if isinstance(found, dict) else {}

    def _read(self) -> dict[str, Any]:
        if self.file is None:
            return {}
        try:
            found = json.loads(self.file.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _change(self, change: Callable[[dict[str, str], list[str]], _Said]) -> bool:
        """Change what the file says as it is now, one process at a time; whether that is something else."""
        if self.file is None:
            return False
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with one_at_a_time(self.file.parent, _PATIENCE):
            before = self.trusted(), self.refused()
            after = change(*before)
            if after != before:
                self._write(after, self._moments(before[0], after[0]))
        return after != before

    def _moments(self, before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
        """When each of these was agreed to: what is new or another content, now."""
        noted, now = self.since(), datetime.now(UTC).isoformat()
        moments = {path: noted.get(path, "") if before.get(path) == digest else now for path, digest in after.items()}
        return {path: moment for path, moment in moments.items() if moment}

    def _write(self, said: _Said, since: dict[str, str]) -> None:
        assert self.file is not None
        trusted, never = said
        text = json.dumps({"trusted": trusted, "never": never, "since": since}, indent=1, allow_nan=False)
        write_private(self.file, text.encode())


def digest_at(path: Path) -> str:
    """The hash of what is at a path now; "" when there is nothing that could be agreed to."""
    if path.name == PROJECT_SERVERS:
        return read_project(path.parent).digest
    return digests.of_folder(path) if path.is_dir() else digests.of_file(path)
