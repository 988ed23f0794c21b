"""The log: on standard error or in a file, never on the wire, and with no key in it."""

from __future__ import annotations

import logging
import sys

from hermes_acp.settings.load import Settings
from hermes_acp.text import clean

_SHORTEST_SECRET = 6


class _Masking(logging.Formatter):
    """Writes records, tracebacks included, with every known key replaced."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        text = clean(super().format(record))
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        return text


def start_logging(settings: Settings) -> None:
    """Send the log where the settings say; to standard error when the file cannot be written."""
    handler, problem = _handler(settings)
    handler.setFormatter(_Masking(_secrets(settings)))
    logging.basicConfig(level=settings.log.level.upper(), handlers=[handler], force=True)
    if problem:
        logging.getLogger(__name__).warning(problem)


def _handler(settings: Settings) -> tuple[logging.Handler, str]:
    if settings.log.file is None:
        return logging.StreamHandler(sys.stderr), ""
    try:
        return logging.FileHandler(settings.log.file, encoding="utf-8"), ""
    except OSError as error:
        return logging.StreamHandler(sys.stderr), f"The log cannot go to {settings.log.file}: {error.strerror}."


def _secrets(settings: Settings) -> tuple[str, ...]:
    environ, stored = settings.keys.environ, settings.keys.stored
    named = {settings.config.model.api_key_env}
    values = {value.strip() for name, value in environ.items() if name in named or name.endswith("_API_KEY")}
    long_enough = [value for value in values | set(stored.values()) if len(value) >= _SHORTEST_SECRET]
    return tuple(sorted(long_enough, key=len, reverse=True))
