"""`hermes-acp trajectories`: looking after files of trajectories."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from hermes_acp.agent.sharegpt.checking import find_faults
from hermes_acp.errors import ConfigError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import counted, shorten, visible

_LONGEST = 400
"""Characters of a fault that are shown: a key of a damaged entry can be of any length."""


@dataclass(slots=True)
class _Counted:
    """The lines of a file, counted as they are read."""

    count: int = 0

    def of(self, file: Iterator[bytes]) -> Iterator[bytes]:
        for line in file:
            self.count += 1
            yield line


def run(arguments: Sequence[str], called: str = "hermes-acp trajectories") -> int:
    """Check files and write a line for each fault; 0 when there is none, else 1.

    Raises:
        ConfigError: the arguments are not `check` and files.
    """
    usage = f"usage: {called} check FILE…"
    if not arguments or {"-h", "--help"} & {*arguments}:
        sys.stdout.write(usage + "\n")
        return 0 if arguments else 2
    action, *paths = arguments
    if action != "check" or not paths or any(path.startswith("--") for path in paths):
        raise ConfigError(usage)
    return max([_check(path) for path in paths])


def _check(path: str) -> int:
    """Check one file: `FILE:LINE: FAULT` for each fault, or how many entries are right."""
    lines = _Counted()
    faults = 0
    try:
        with open(path, "rb") as file:
            for fault in find_faults(lines.of(file)):
                faults += 1
                _say(f"{path}:{fault.line}: {shorten(fault.text, _LONGEST)}")
    except OSError as error:
        _say(f"{path}: {error.strerror}")
        return 1
    if not faults:
        _say(f"{path}: {counted(lines.count, 'entry', 'entries')}, all right")
    return min(faults, 1)


def _say(text: str) -> None:
    """Write one line, whatever the file or its name holds."""
    sys.stdout.write(visible(text).replace("\n", "\\n") + "\n")
