"""The keys that `setup` stored, each for one address, and whether the person has logged out."""

from __future__ import annotations

import json
import os
from dataclasses import field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hermes_acp.errors import HermesError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.small_files import write_private
from hermes_acp.settings.files import read_with_mode
from hermes_acp.settings.homes import Home


@dataclass(frozen=True, slots=True)
class Stored:
    """The stored keys by the origin they are for, the origins whose key is in the system's keyring, and why the
    file was not used ("" when all is well)."""

    keys: dict[str, str] = field(default_factory=dict, repr=False)
    in_keyring: frozenset[str] = frozenset()
    warning: str = ""


def origin(url: str) -> str:
    """The scheme, host and port of an address: what a stored key is bound to."""
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    return f"{parts.scheme}://{parts.hostname}:{port}"


def read_stored(path: Path | None) -> Stored:
    """The stored keys. A file that others can read is not used, and neither is a broken one."""
    if path is None:
        return Stored()
    try:
        data, mode = read_with_mode(path)
        if mode & 0o077:
            return Stored(warning=f"{path}: not used, because other users can read it (chmod 600 it)")
        return _stored(json.loads(data))
    except (FileNotFoundError, NotADirectoryError):
        return Stored()
    except OSError as error:
        return Stored(warning=f"{path}: not used: {error.strerror}")
    except (ValueError, RecursionError):
        return Stored(warning=f"{path}: not used, because it is damaged (run `hermes-acp-agent setup` again)")


def store_key(path: Path, base_url: str, key: str) -> None:
    """Keep a key for an address in the file, besides those of other addresses.

    Raises:
        OSError: it could not be written; nothing has changed.
    """
    before = read_stored(path)
    _write(path, before.keys | {origin(base_url): key}, before.in_keyring - {origin(base_url)})


def note_keyring(path: Path, base_url: str) -> None:
    """Write down that the key of an address is in the keyring; one that the file had is no longer in it.

    Raises:
        OSError: it could not be written; nothing has changed.
    """
    before, place = read_stored(path), origin(base_url)
    keys = {other: key for other, key in before.keys.items() if other != place}
    _write(path, keys, before.in_keyring | {place})


def _write(path: Path, keys: dict[str, str], in_keyring: frozenset[str]) -> None:
    content = {"keys": keys} | ({"keyring": sorted(in_keyring)} if in_keyring else {})
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    write_private(path, text.encode("utf-8") + b"\n")


def is_signed_out(home: Home) -> bool:
    """Whether the person has logged out and not logged in since."""
    return home.signed_out_file is not None and os.path.exists(home.signed_out_file)


def sign_out(home: Home) -> None:
    """Remember that no key may be used until the next login, in this process and those to come.

    Raises:
        HermesError: it cannot be remembered beyond this process.
    """
    if home.signed_out_file is None:
        raise HermesError("The logout lasts only until the program ends: there is no folder for its state.")
    try:
        write_private(home.signed_out_file, b"")
    except OSError as error:
        raise HermesError(f"The logout lasts only until the program ends: {error.strerror}.") from None


def sign_in(home: Home) -> None:
    """Forget a logout.

    Raises:
        HermesError: it cannot be forgotten.
    """
    try:
        if home.signed_out_file is not None:
            home.signed_out_file.unlink(missing_ok=True)
    except OSError as error:
        raise HermesError(f"The logout cannot be ended: {home.signed_out_file}: {error.strerror}.") from None


def _stored(value: Any) -> Stored:
    keys = value.get("keys") if isinstance(value, dict) else None
    if not isinstance(keys, dict) or not all(isinstance(key, str) for key in keys.values()):
        raise ValueError("not a file of keys")
    origins = value.get("keyring", [])
    if not isinstance(origins, list) or not all(isinstance(each, str) for each in origins):
        raise ValueError("not a list of origins")
    return Stored(keys, frozenset(origins) - keys.keys())
