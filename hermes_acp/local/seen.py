"""What this session last saw of each file, so that somebody else's change is never overwritten unseen."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from hermes_acp.lazy_dataclasses import dataclass


@dataclass(slots=True)
class Seen:
    """The content of each file as it was last read for the model or written, by its hash.

    A command that ran since may have changed any file; then the disk is right.
    """

    _commands: int = 0
    _files: dict[Path, tuple[bytes, int]] = field(default_factory=dict)

    def note(self, path: Path, digest: bytes | None) -> None:
        """The file was read or written and holds this now; None: it is not known what it holds."""
        self._files.pop(path, None)
        if digest is not None:
            self._files[path] = digest, self._commands

    def command_ran(self) -> None:
        """A command of ours ran."""
        self._commands += 1

    def agrees(self, path: Path, digest: bytes) -> bool:
        """Whether an edit of this content is one of what the model saw, or may not know better."""
        seen, commands = self._files.get(path, (digest, self._commands))
        return seen == digest or commands != self._commands
