"""Where files and commands live: this machine, or the editor. Tools are written once, against this."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from hermes_acp.lazy_dataclasses import dataclass

MAX_FILE_BYTES = 10 * 1024 * 1024
"""Files above this are read by ranges of lines only and never edited."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A range of a file: its raw `data`, the number of the first line (from 1), and whether more follows.

    `total` is the number of lines of the whole file, or None when the end was not reached.
    """

    data: bytes
    first: int
    more: bool
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """What a command may reach beyond what every sandboxed command may: the network, the repository's own folder for
    writing, or, `outside` the sandbox, everything."""

    network: bool = False
    repository: bool = False
    outside: bool = False


USUAL = Access()
"""What every command may reach."""


@dataclass(frozen=True, slots=True)
class Command:
    """A shell command line, the absolute folder it runs in, how many seconds it may take, whether it is known to change
    nothing, and what it may reach where there is a sandbox."""

    line: str
    cwd: Path
    timeout: float
    only_reads: bool = False
    access: Access = USUAL


@dataclass(frozen=True, slots=True)
class Enclosure:
    """Whether a session's commands run in a sandbox, with the network or without; or why there is none ("": nobody
    asked for one)."""

    standing: bool = False
    network: bool = False
    reason: str = ""

    @property
    def told(self) -> str:
        """In words, where commands run."""
        if not self.standing:
            return f"Commands run in no sandbox: {self.reason or 'nobody asked for one'}."
        return f"Commands run in a sandbox, {'with' if self.network else 'without'} the network."

    def where(self, access: Access) -> str:
        """In words, where a command runs."""
        if not self.standing:
            return f"No sandbox: {self.reason}." if self.reason else ""
        if access.outside:
            return "Outside the sandbox."
        return "In the sandbox, with the network." if access.network or self.network else "In the sandbox."


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended: `exit_code` (negative: killed by that signal, None: nobody told), its output (head
    and tail when it was long), whether it ran out of time, and the editor's terminal if one was used."""

    exit_code: int | None
    output: str
    timed_out: bool = False
    terminal_id: str | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """A background command at one moment: its output so far (head and tail when it is long), for how many
    seconds it has run, and its exit code (negative: killed by that signal; None: it still runs)."""

    output: str
    seconds: float
    exit_code: int | None = None


class Background(Protocol):
    """A command that runs on beside the turns of its session."""

    @property
    def line(self) -> str: ...

    def look(self) -> Look: ...

    async def wait(self, seconds: float) -> None:
        """Wait until it has ended, but no longer than that. Cancelling ends the waiting only."""

    async def kill(self) -> None:
        """End it, with everything it has started."""


class Show(Protocol):
    """Takes what is to be seen of a running command: its whole output so far, or the editor's terminal."""

    def __call__(self, text: str, terminal_id: str | None = None) -> None: ...


class Workspace(Protocol):
    """Files and commands of one session.

    `roots` are the folders of the session, `cwd` first, all absolute with symbolic links resolved.
    Every method that fails for a reason the model can act on raises `ToolError`.
    """

    @property
    def cwd(self) -> Path: ...

    @property
    def roots(self) -> tuple[Path, ...]: ...

    def set_further_roots(self, folders: tuple[Path, ...]) -> None:
        """Replace the roots after `cwd`; holds from the next call on."""

    def resolve(self, path: str) -> Path:
        """The absolute path of what a model wrote, relative to `cwd`, every symbolic link resolved."""

    async def exists(self, path: Path) -> bool:
        """Whether there is anything at the path."""

    async def read(self, path: Path) -> bytes:
        """All bytes of a regular file of at most `MAX_FILE_BYTES`."""

    async def read_lines(self, path: Path, first: int, count: int, max_bytes: int) -> Lines:
        """At most `count` lines from line `first` on, and at most `max_bytes`, in constant memory."""

    async def write(self, path: Path, data: bytes, *, replacing: bytes | None) -> bytes:
        """Replace the file's content at once, or make it when `replacing` is None; what the file holds then, which
        is not `data` where an editor formats what it saves.

        Refused when the file does not hold exactly `replacing` any more (it was changed since it was
        read), or exists although `replacing` is None. Mode, links and owner are kept.
        """

    async def accept(self, path: Path) -> bytes | None:
        """What the file holds now (None: there is none), which the person has agreed to replace, whoever changed it."""

    async def remove(self, path: Path, *, holding: bytes) -> None:
        """Remove the file, which must hold exactly `holding`; for taking back what made it."""

    @property
    def enclosure(self) -> Enclosure:
        """What is around the commands of the session."""

    async def run(self, command: Command, on_output: Show) -> Completed:
        """Run a command to its end; `on_output` gets what is to be shown so far. Cancelling kills it."""

    async def start(self, command: Command) -> str:
        """Start a command in the background, without a limit of time; its id."""

    @property
    def background(self) -> Mapping[str, Background]:
        """The background commands of the session by their ids, in the order they were started."""

    async def aclose(self) -> None:
        """End what commands of the session have left running, and its background commands."""
