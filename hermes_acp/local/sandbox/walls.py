"""One sandbox: the walls around the commands of a session, and what is put away when they have ended."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from hermes_acp.errors import ToolError
from hermes_acp.local import environment
from hermes_acp.local.paths import encode, inside
from hermes_acp.local.sandbox import hiding, limits, repository
from hermes_acp.local.sandbox.probing import Bubblewrap
from hermes_acp.workspace import Access, Command, Enclosure

_STAND_INS: Counter[bytes] = Counter()
"""How many sandboxes of this process need each stand-in: it must not go while a command is running behind it."""


class Sandbox:
    """The sandbox of one session, on a machine where bubblewrap works.

    The session's folders can be written, the rest of the disk can be read; `hidden` places and the sockets of other
    programs are not there. There is no network unless `network`, no process but the command's own, and a `/tmp` of
    the session's own. `keep` names variables that commands inherit beside the usual ones.
    """

    def __init__(
        self, wrapper: Bubblewrap, hidden: Sequence[Path] = (), network: bool = False, keep: Sequence[str] = ()
    ) -> None:
        self._wrapper = wrapper
        self._hidden = tuple(hidden)
        self._network = network
        self._keep = tuple(keep)
        self._tmp: str | None = None
        self._stand_ins: set[bytes] = set()

    @property
    def enclosure(self) -> Enclosure:
        return Enclosure(standing=True, network=self._network)

    async def argv(self, command: Command, roots: tuple[Path, ...]) -> tuple[bytes, ...]:
        """The program and arguments that run a command behind the walls.

        Raises:
            ToolError: there is no shell.
        """
        return await asyncio.to_thread(self._argv, command, roots)

    def environment(self, tag: str) -> dict[bytes, bytes]:
        """What a command is given of our environment: what is known to be needed, and nothing else."""
        return environment.for_sandbox(tag, self._keep)

    def tidy(self) -> None:
        """Put away what stood in for repositories that are not there: no command is running any more."""
        for part in self._stand_ins:
            _STAND_INS[part] -= 1
            if not _STAND_INS[part]:
                repository.put_away(part)
        self._stand_ins.clear()

    async def aclose(self) -> None:
        """Remove the session's own `/tmp`."""
        self.tidy()
        tmp, self._tmp = self._tmp, None
        if tmp is not None:
            await asyncio.to_thread(shutil.rmtree, tmp, True)

    def _argv(self, command: Command, roots: tuple[Path, ...]) -> tuple[bytes, ...]:
        inner = (*limits.wrapper(), *environment.shell(command.line))
        if any(inside(Path(os.path.expanduser("~")), [root]) for root in roots):
            raise ToolError("The session's folders hold the user's whole home, which no sandbox can protect.")
        if reason := next(filter(None, map(repository.unguarded, roots)), ""):
            raise ToolError(f"No sandbox can protect the repository: {reason}.")
        walls = self._walls(roots, command.access)
        return self._wrapper.program, *self._wrapper.options, *walls, b"--chdir", encode(command.cwd), b"--", *inner

    def _walls(self, roots: tuple[Path, ...], access: Access) -> Iterator[bytes]:
        if not (access.network or self._network):
            yield b"--unshare-net"
        yield from (b"--ro-bind", b"/", b"/", b"--dev", b"/dev", b"--proc", b"/proc")
        yield from hiding.emptied()
        yield from (b"--bind", os.fsencode(self._own_tmp()), b"/tmp")
        yield from _programs_below()
        hidden = [*self._hidden, *hiding.system_secrets(roots)]
        hidden += hiding.sockets(roots, hidden)
        yield from hiding.masks(place for place in hidden if not inside(place, (*roots, *hiding.EMPTY)))
        for root in sorted(roots):
            yield from (b"--bind", encode(root), encode(root))
        for root in sorted(roots):
            yield from repository.walls(root, access.repository)
            for part in repository.stand_ins(root, access.repository):
                yield from self._stand_in(part)
        yield from hiding.masks(place for place in hidden if inside(place, roots))

    def _stand_in(self, part: bytes) -> tuple[bytes, ...]:
        """Something empty in the place of what is not there, so that no command can make it."""
        if part not in self._stand_ins:
            self._stand_ins.add(part)
            _STAND_INS[part] += 1
        return repository.in_place_of(part)

    def _own_tmp(self) -> str:
        if self._tmp is None:
            self._tmp = tempfile.mkdtemp(prefix="hermes-acp-")
        return self._tmp


def _programs_below() -> Iterator[bytes]:
    """The folders of programs that would be hidden with the others: an environment in /tmp, for example."""
    for folder in dict.fromkeys(environment.search_path().split(":")):
        if os.path.isdir(folder) and inside(Path(folder), hiding.EMPTY):
            place = _whole(folder)
            yield from (b"--ro-bind", os.fsencode(place), os.fsencode(place))


def _whole(folder: str) -> str:
    """A virtual environment whole, and not its programs alone."""
    parent = os.path.dirname(folder)
    return parent if os.path.exists(os.path.join(parent, "pyvenv.cfg")) else folder
