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


class _Spoken(_Masking):
    """As `_Masking`, but a warning of this program is a sentence to the person who has started it: time and place
    belong to a log that somebody has asked for, and to tracebacks."""

    def __init__(self, begins: str = "") -> None:
        super().__init__()
        self._begins = begins
        """What stands before the sentence, `{level}` in it for the severity."""

    def format(self, record: logging.LogRecord) -> str:
        if record.exc_info or not record.name.startswith("hermes_acp") or record.levelno < logging.WARNING:
            return super().format(record)
        return self._begins.format(level=record.levelname.lower()) + blotted(clean(record.getMessage()))


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
    _log_to(settings, logging.StreamHandler(sys.stderr), _Masking())


def start_speaking(settings: Settings) -> None:
    """As `start_logging`, for a command that a person runs: what goes to standard error is said to them."""
    _log_to(settings, logging.StreamHandler(sys.stderr), _Spoken("hermes-acp: {level}: "))


def log_to(settings: Settings, screen: logging.Handler) -> None:
    """As `start_speaking`, but what would go to standard error goes to `screen`."""
    _log_to(settings, screen, _Spoken())


def _log_to(settings: Settings, screen: logging.Handler, spoken: logging.Formatter) -> None:
    handler, problem = _handler(settings, screen)
    asked = handler is not screen or settings.log.level in ("debug", "info")
    handler.setFormatter(_Masking() if asked else spoken)
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
