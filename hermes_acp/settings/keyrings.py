"""Keys in the keyring of the person's system, each filed under the origin that it is for.

A keyring may wait for the person to unlock it, for ever, and cannot be interrupted: it is only used in threads
that nobody waits for at the end. The package is imported when a key is to be stored or read, never before.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from hermes_acp.errors import HermesError
from hermes_acp.text import plain, shorten

SERVICE = "hermes-acp"
"""What our keys are filed under, besides their origin."""

WHERE = "the system keyring"

CHOICE = "PYTHON_KEYRING_BACKEND"
"""The variable by which a person chooses a keyring; it goes before what the package would choose."""


class KeyringUnusable(HermesError):
    """The keyring cannot store or give a key now; the text says why."""


def begin_storing(origin: str, key: str) -> Future[None]:
    """Store a key in a thread; done when it is there and can be read.

    Raises:
        KeyringUnusable: by the future.
    """
    return _begin(lambda: _store(origin, key))


def begin_reading(origin: str) -> Future[str]:
    """Read the key of an origin in a thread.

    Raises:
        KeyringUnusable: by the future; also when there is none.
    """
    return _begin(lambda: _read(origin))


def _begin(work: Callable[[], Any]) -> Future[Any]:
    future: Future[Any] = Future()
    threading.Thread(target=_run, args=(work, future), name="hermes-keyring", daemon=True).start()
    return future


def _run(work: Callable[[], Any], future: Future[Any]) -> None:
    try:
        outcome = work()
    except KeyringUnusable as error:
        future.set_exception(error)
    except Exception as error:  # Whatever a keyring of others raises means that there is no key.
        future.set_exception(KeyringUnusable(_reason(error)))
    else:
        future.set_result(outcome)


def _store(origin: str, key: str) -> None:
    keyring = _keyring()
    keyring.set_password(SERVICE, origin, key)
    if keyring.get_password(SERVICE, origin) != key:
        with suppress(Exception):
            keyring.delete_password(SERVICE, origin)
        raise KeyringUnusable("it does not keep what it is given")


def _read(origin: str) -> str:
    key: str | None = _keyring().get_password(SERVICE, origin)
    if not key:
        raise KeyringUnusable(f"it holds no key for {origin}")
    return key


def _keyring() -> Any:
    """The keyring of this system, or the one that the person has chosen."""
    import keyring
    from keyring.core import load_config, recommended

    backend = keyring.get_keyring()
    if not (recommended(backend) or os.environ.get(CHOICE) or load_config()):
        raise KeyringUnusable("there is none on this machine")
    return backend


def _reason(error: Exception) -> str:
    text = " ".join(plain(str(error)).split()) or type(error).__name__
    return shorten(text, 200)
