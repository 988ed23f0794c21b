"""Runs an agent and copies both directions of its stdio, raw, to a log: tee.py LOG COMMAND...

It stands between an editor and the agent. Lines from the editor begin with "> ", the agent's with "< ".
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import IO


def main() -> int:
    """Copy until the agent ends; its exit status."""
    agent = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert agent.stdin is not None
    assert agent.stdout is not None
    with open(sys.argv[1], "ab", buffering=0) as log:
        threading.Thread(target=copy, args=(sys.stdin.buffer, agent.stdin, log, b"> "), daemon=True).start()
        copy(agent.stdout, sys.stdout.buffer, log, b"< ")
        return agent.wait()


def copy(source: IO[bytes], target: IO[bytes], log: IO[bytes], tag: bytes) -> None:
    """Copy lines, each as soon as it is whole, and close the target at their end."""
    for line in iter(source.readline, b""):
        log.write(tag + (line if line.endswith(b"\n") else line + b"\n"))
        try:
            target.write(line)
            target.flush()
        except BrokenPipeError:
            break
    target.close()


if __name__ == "__main__":
    # The thread that reads from the editor may never end; it must not hold the interpreter up.
    os._exit(main())
