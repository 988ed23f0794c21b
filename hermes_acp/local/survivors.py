"""Finding and ending every process that a command left behind, by the tag in its environment.

A process group does not hold those that called `setsid`, so on Linux `/proc` is searched: for the tag, for
the command's session, and for children of either. A process that wiped its environment is not found when it
has left its session and its parents, or when it is all that an ended command left and is in a group of its
own. Without `/proc` only the group is ended.

The functions block for some milliseconds and belong in a thread.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress

from hermes_acp.lazy_dataclasses import dataclass

_PAUSE = 0.001
_LONGEST_PAUSE = 0.008
_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class _Process:
    parent: int
    session: int


def find(tag: str, *sessions: int) -> set[int]:
    """The living processes that carry the tag, belong to one of the sessions, or descend from one that does."""
    processes = _processes()
    found = {pid for pid, process in processes.items() if process.session in sessions or _carries(pid, tag.encode())}
    while children := {pid for pid, process in processes.items() if process.parent in found} - found:
        found |= children
    return found - {os.getpid()}


def end(tag: str, *sessions: int, within: float = 2.0) -> None:
    """Kill them all and the sessions' process groups, and again until none is left, for at most `within` seconds.

    One look does not show that: a process may begin another, or end, while `/proc` is gone through, and one that
    becomes another program has no environment for a moment; so the next look comes a moment later.
    """
    left, none_seen = find(tag, *sessions), False
    for session in sessions:
        signal_group(session, signal.SIGKILL)
    for pause in _pauses(within):
        if not left and none_seen:
            return
        _kill(left, pause if left else _PAUSE)
        none_seen = not left
        left = find(tag, *sessions)


def ask(tag: str, session: int) -> None:
    """Ask all of them to end but the session's first process."""
    _signal(find(tag, session) - {session}, signal.SIGTERM)


def has_members(group: int) -> bool:
    """Whether a process group has a process left. While it has, its number is given to nobody else."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def left_behind(sessions: Iterable[int]) -> set[int]:
    """Those sessions of commands that have ended in which something still lives. One whose first process lives is
    another's, that was given the number since."""
    processes = _processes()
    return {process.session for process in processes.values()} & set(sessions) - processes.keys()


def dismiss(tag: str, *sessions: int, patience: float = 0.3) -> None:
    """Ask them all to end, and kill those that have not after `patience` seconds."""
    left = find(tag, *sessions)
    _signal(left, signal.SIGTERM)
    for pause in _pauses(patience):
        if not left:
            break
        time.sleep(pause)
        left = find(tag, *sessions)
    end(tag, *{process.session for process in _processes().values()} & set(sessions))


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group, if there still is one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _pauses(seconds: float) -> Iterator[float]:
    """The waits between two looks, short at first, until so many seconds are over."""
    deadline, pause = time.monotonic() + seconds, _PAUSE
    while time.monotonic() < deadline:
        yield pause
        pause = min(2 * pause, _LONGEST_PAUSE)


def _kill(pids: Iterable[int], pause: float) -> None:
    """Kill them, and wait until they are gone; where that cannot be seen, for `pause` seconds."""
    with ExitStack() as stack:
        try:
            handles = [handle for pid in pids if (handle := _handle(pid, stack)) is not None]
        except (AttributeError, OSError):
            handles = []
        _signal(pids, signal.SIGKILL)
        if handles:
            _wait_for(handles)
        else:
            time.sleep(pause)


def _handle(pid: int, stack: ExitStack) -> int | None:
    """A descriptor, open until the stack is closed, that can be read once the process is gone; None: it is gone."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    stack.callback(os.close, handle)
    return handle


def _wait_for(handles: Iterable[int]) -> None:
    deadline = time.monotonic() + _LONGEST_PAUSE
    for handle in handles:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(max(0.0, deadline - time.monotonic()) * 1000)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _processes() -> dict[int, _Process]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return {}
    found = {int(name): _process(name) for name in names if name.isdecimal()}
    return {pid: process for pid, process in found.items() if process is not None}


def _process(pid: str) -> _Process | None:
    state, *numbers = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[:4] or [b"Z"]
    if state in b"ZX" or len(numbers) < 3:
        return None
    return _Process(parent=int(numbers[0]), session=int(numbers[2]))


def _carries(pid: int, tag: bytes) -> bool:
    return tag in _read(f"/proc/{pid}/environ")


def _read(path: str) -> bytes:
    """All of a file in `/proc`. There are hundreds, so without a file object for each."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return b"".join(iter(lambda: os.read(handle, _CHUNK), b""))
    except OSError:
        return b""
    finally:
        os.close(handle)
