"""Paths as the disk knows them: bytes, whatever the locale of this process says.

An editor may start the agent with `LANG=C`, where Python's own file functions refuse every name that is not
ASCII. So a path is a `Path` of UTF-8 text, with the bytes that are not UTF-8 kept as lone surrogates, and
becomes bytes here before the system is asked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote_to_bytes

from hermes_acp.errors import ToolError
from hermes_acp.text import clean


def encode(path: Path | str) -> bytes:
    """The bytes that name the path on disk."""
    text = str(path)
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return clean(text).encode("utf-8")


def decode(raw: bytes) -> Path:
    """The path that these bytes name; `encode` gives the same bytes back."""
    return Path(raw.decode("utf-8", "surrogateescape"))


def real(path: Path) -> Path:
    """The path with every symbolic link resolved, also where nothing exists yet."""
    return decode(os.path.realpath(encode(path)))


def resolve(written: str, cwd: Path) -> Path:
    """The absolute path of what a model wrote, relative to `cwd`, every symbolic link resolved.

    A leading `~/` and a `file://` address are understood. A name that holds U+FFFD and does not exist is
    taken for the one name beside it that is shown like that (a name that is not UTF-8).

    Raises:
        ToolError: the path is empty or holds a NUL.
    """
    if not written:
        raise ToolError("The path is empty: name a file or folder, such as src/app.py.")
    plain = _plain(written)
    if b"\0" in plain:
        raise ToolError("The path holds a NUL character; no file can have such a name.")
    raw = os.path.realpath(os.path.join(encode(cwd), plain))
    return decode(_recovered(raw) if "\ufffd" in written else raw)


def inside(path: Path, folders: Iterable[Path]) -> bool:
    """Whether the path is one of the folders or below one; all of them resolved."""
    return any(path == folder or folder in path.parents for folder in folders)


def _plain(written: str) -> bytes:
    if written.startswith("file://"):
        return unquote_to_bytes(clean(written).removeprefix("file://").removeprefix("localhost"))
    if written == "~" or written.startswith("~/"):
        return os.path.expanduser(encode(written))
    return encode(written)


def _recovered(raw: bytes) -> bytes:
    found = b"/"
    for part in raw.split(b"/")[1:]:
        exact = os.path.join(found, part)
        found = exact if os.path.lexists(exact) else os.path.join(found, _shown_as(found, part))
    return os.path.realpath(found)


def _shown_as(folder: bytes, part: bytes) -> bytes:
    try:
        names = os.listdir(folder)
    except OSError:
        return part
    alike = [name for name in names if clean(name.decode("utf-8", "surrogateescape")).encode() == part]
    return alike[0] if len(alike) == 1 else part
