"""Removing a file that holds what it is thought to hold, and folders that nothing is in.

The functions block and belong in a thread.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from hermes_acp.local import files, writing
from hermes_acp.local.paths import encode


def remove(path: Path, holding: bytes) -> None:
    """Remove the regular file at the resolved `path`.

    Raises:
        ToolError: it does not hold exactly `holding`, or cannot be removed.
    """
    with files.explained(path), files.folder(path) as within:
        with files.opened(path, within) as file:
            if os.fstat(file).st_size != len(holding) or files.read_all(file, path) != holding:
                raise writing.changed(path)
        os.unlink(encode(path.name), dir_fd=within)


def remove_empty_folders(path: Path, topmost: Path) -> None:
    """Remove the folders from the one that holds `path` up to `topmost`, as far as nothing is in them."""
    for folder in path.parents:
        if folder != topmost and topmost not in folder.parents:
            return
        with suppress(OSError):
            os.rmdir(encode(folder))
