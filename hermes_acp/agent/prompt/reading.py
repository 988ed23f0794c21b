"""Reading small texts for a prompt: regular files only, the beginning of large ones, and never a surprise."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from hermes_acp.text import clean

_BYTES_A_CHARACTER = 4


def beginning(path: Path, characters: int) -> str:
    """At most so many characters of a text file, and one more when there are more; "" when it cannot be read.

    What is not UTF-8 is read with replacements. Blocks for no pipe or device.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        data = os.pread(handle, (characters + 1) * _BYTES_A_CHARACTER, 0)
    except OSError:
        return ""
    finally:
        os.close(handle)
    return clean(data.decode("utf-8-sig", "replace"))[: characters + 1]


def cut(text: str, characters: int, rest: str) -> str:
    """The text, or its beginning and where the rest is."""
    text = text.strip()
    return text if len(text) <= characters else f"{text[:characters]}…\n[{rest}]"
