"""The log: on standard error or in a file, never on the wire, and with no key in it."""

from __future__ import annotations

import errno
import logging
import os
import stat
import sys
from io import TextIOWrapper

from hermes_acp.local.confidential import blotted
from hermes_acp.settings.load import Settings
from hermes_acp.text import clean


class _Masking(logging.Formatter):
    """Writes records, tracebacks included, with every known key replaced."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        return blotted(clean(super().format(record)))


class _File(logging.FileHandler):
    """Appends to a file or device, never to a pipe: opening one waits for a reader, writing to a full one for ever."""

    def _open(self) -> TextIOWrapper:
        file = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
        if not stat.S_ISREG(mode := os.fstat(file).st_mode) and not stat.S_ISCHR(mode):
            os.close(file)
            raise OSError(errno.EINVAL, "it is not a regular file")
        return open(file, "a", encoding="utf-8")


def start_logging(settings: Settings) -> None:
    """Send the log where the settings say; to standard error when the file cannot be written."""
    log_to(settings, logging.StreamHandler(sys.stderr))


def log_to(settings: Settings, screen: logging.Handler) -> None:
    """As `start_logging`, but what would go to standard error goes to `screen`."""
    handler, problem = _handler(settings, screen)
    handler.setFormatter(_Masking())
    logging.basicConfig(level=settings.log.level.upper(), handlers=[handler], force=True)
    if problem:
        logging.getLogger(__name__).warning(problem)


def _handler(settings: Settings, screen: logging.Handler) -> tuple[logging.Handler, str]:
    if settings.log.file is None:
        return screen, ""
    try:
        return _File(settings.log.file, encoding="utf-8"), ""
    except OSError as error:
        return screen, f"The log cannot go to {settings.log.file}: {error.strerror}."
