"""A second process that ends what our commands started when this process is killed.

Nothing of ours runs after `kill -9`. So with the first child a tiny shell is started that waits for the end
of a pipe whose other end only this process has. The end comes however this process dies; the shell then
becomes a Python that ends every process of ours that is left, and is gone itself.
"""

from __future__ import annotations

import logging
import os
import secrets
import subprocess
import sys
from pathlib import Path

from hermes_acp.local import survivors

_log = logging.getLogger(__name__)

_MOST_CHILDREN = 150
"""So many are told in one line: what a pipe takes at once is always a whole line."""

_PACKAGES = Path(__file__).parents[2]

# The shell leaves its parent, so that a program that ends our whole tree of processes does not find it. Its
# command line and environment are empty of names, so that one that looks for us by name does not either.
_WAIT = r"""
exec 3<&0
{
  trap '' HUP INT TERM
  read -r python && read -r packages && read -r tag || exit
  children=
  while read -r line; do children=$line; done
  exec "$python" -I -S -c '
import sys
sys.path.insert(0, sys.argv[1])
from hermes_acp.local import survivors
living, _, left = " ".join(sys.argv[3:]).partition("/")
left_behind = survivors.left_behind(map(int, left.split()))
survivors.end(sys.argv[2], *map(int, living.split()), *left_behind, within=1.5)
' "$packages" "$tag" $children
} <&3 3<&- &
"""


class Guardian:
    """Watches over the children of this process, from the first one on.

    `tag` is to be in the environment of each (see `environment.for_command`); it is how those that left their
    process group are found.
    """

    def __init__(self) -> None:
        self.tag = secrets.token_hex(12)
        self._children: set[int] = set()
        self._left: set[int] = set()
        self._pipe: int | None = None

    def watch(self) -> None:
        """See that the guardian is there; to be called before a child is started. Takes 2 ms once."""
        if self._pipe is None:
            self._start()

    def began(self, pid: int) -> None:
        """A child has been started, in a session of its own."""
        self._children.add(pid)
        self._tell()

    def ended(self, pid: int) -> None:
        """A child's own process is over. While it has left others in its group, its number is nobody else's."""
        self._children.discard(pid)
        self._left = set(filter(survivors.has_members, {*self._left, pid}))
        self._tell()

    def begin_anew(self) -> None:
        """Be as new in a forked process: it has a life of its own, and holds the end of its parent's pipe."""
        self._let_go()
        self._children.clear()
        self._left.clear()
        self.tag = secrets.token_hex(12)

    def _start(self) -> None:
        reading, writing = os.pipe()
        try:
            os.set_blocking(writing, False)
            os.write(writing, os.fsencode(f"{sys.executable}\n{_PACKAGES}\n{self.tag}\n{self._line()}"))
            _spawn(reading)
        except OSError as error:
            os.close(writing)
            _log.warning("What commands start would outlive a killed agent: %s", error)
        else:
            self._pipe = writing
        finally:
            os.close(reading)

    def _tell(self) -> None:
        """Tell which children there are now; somebody may have ended the one who was told before."""
        if self._pipe is None:
            return
        try:
            os.write(self._pipe, self._line().encode())
        except BlockingIOError:
            return
        except OSError:
            self._let_go()
            if self._children or self._left:
                self._start()

    def _line(self) -> str:
        living, left = (sorted(pids)[-_MOST_CHILDREN:] for pids in (self._children, self._left))
        return " ".join(map(str, [*living, "/", *left])) + "\n"

    def _let_go(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None


def _spawn(stdin: int) -> None:
    subprocess.run(
        ["/bin/sh", "-c", _WAIT],
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={},
        start_new_session=True,
        check=False,
    )


GUARDIAN = Guardian()
"""The one of this process."""

os.register_at_fork(after_in_child=GUARDIAN.begin_anew)
