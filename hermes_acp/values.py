"""Single values of a config file: what each must be, and the words in which a wrong one is refused."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any
from urllib.parse import SplitResult, urlsplit

from hermes_acp.text import or_nearest, shorten

Checks = Mapping[str, Callable[[Any], Any]]
"""The checks of a table's values by key; each gives the value as it is used, or raises `ValueError`."""

_SECRET = re.compile(r"key|token|secret|password")


class WrongInside(ValueError):
    """A value within a value is wrong; `place` says where in it, such as " (entry 2).model"."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(reason)
        self.place = place


def shown(key: str) -> str:
    """A key of a file, fit for one line."""
    return shorten(key if key.isprintable() else ascii(key), 80)


def is_secret(key: str) -> bool:
    """Whether a key looks as if its value were a secret: such a value is never repeated."""
    return bool(_SECRET.search(key)) and "key_env" not in key


def entry(value: Any, checks: Checks) -> dict[str, Any]:
    """A table of checked values.

    Raises:
        WrongInside: a key is unknown, or its value wrong.
        ValueError: it is no table.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"must be a table, not {kind(value)}")
    return {key: _inside(f".{shown(key)}", _check(key, checks), inner) for key, inner in value.items()}


def entries(value: Any, checks: Checks) -> tuple[dict[str, Any], ...]:
    """A list of tables of checked values, each of which names something.

    Raises:
        WrongInside: one of them is wrong.
        ValueError: it is no list.
    """
    if not isinstance(value, list):
        raise ValueError(f"must be a list of tables, not {kind(value)}")
    return tuple(
        _inside(f" (entry {n})", lambda one: _filled(entry(one, checks)), one) for n, one in enumerate(value, 1)
    )


def chain(value: Any, checks: Checks) -> tuple[dict[str, Any], ...]:
    """A table of checked values and the list of its reserves, `fallback`.

    Raises:
        WrongInside: a value in it is wrong.
        ValueError: it is no table.
    """
    found = entry(value, {**checks, "fallback": lambda inner: entries(inner, checks)})
    reserves = found.pop("fallback", ())
    return (_filled(found), *reserves)


def _filled(found: dict[str, Any]) -> dict[str, Any]:
    if not any(found.get(key) for key in ("provider", "model", "base_url")):
        raise ValueError("must name a provider, a model or a base_url")
    return found


def _check(key: str, checks: Checks) -> Callable[[Any], Any]:
    return checks.get(key) or (lambda value: _refuse(key, checks))


def _refuse(key: str, checks: Checks) -> Any:
    if is_secret(key):
        raise ValueError("keys are not kept in this file: name a variable in api_key_env")
    raise ValueError(f"unknown key{or_nearest(key, checks)}")


def _inside(place: str, check: Callable[[Any], Any], value: Any) -> Any:
    try:
        return check(value)
    except WrongInside as error:
        raise WrongInside(place + error.place, str(error)) from None
    except ValueError as error:
        raise WrongInside(place, str(error)) from None


def words(value: Any) -> tuple[str, ...]:
    """A program and its arguments, as a list or as one line in the quoting of a shell; nothing runs in a shell."""
    try:
        found = shlex.split(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("its quotation marks do not match") from None
    if not isinstance(found, list) or not all(isinstance(word, str) and "\0" not in word for word in found):
        raise ValueError(f"must be a list of texts, or one text, not {kind(value)}")
    if found and not found[0]:
        raise ValueError("must begin with the name of a program")
    return tuple(found)


def parse_url(url: str) -> SplitResult:
    """A base URL taken apart.

    Raises:
        ValueError: it is not a usable http or https address, or holds a name and password.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("must be an http or https address, such as https://api.openai.com/v1")
    if "@" in parts.netloc:
        raise ValueError("must not hold a name or password")
    if parts.query or parts.fragment or not url.isprintable() or " " in url:
        raise ValueError("must be a plain address without spaces, ? and #")
    return parts


def text(value: Any) -> str:
    """One line of text, without blanks around it."""
    if not isinstance(value, str):
        raise ValueError(f"must be a text, not {kind(value)}")
    if not value.isprintable():
        raise ValueError("must be one line of printable characters")
    return value.strip()


def address(value: Any) -> str:
    """A base URL without the slash at its end; "" is none."""
    found = text(value)
    if found:
        parse_url(found)
    return found.rstrip("/")


def variable(value: Any) -> str:
    """The name of an environment variable; "" is none."""
    found = text(value)
    if found and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", found):
        raise ValueError("must be the name of an environment variable, not the key itself")
    return found


def variables(value: Any) -> tuple[str, ...]:
    """The names of environment variables."""
    if not isinstance(value, list):
        raise ValueError(f"must be a list of names, not {kind(value)}")
    return tuple(filter(None, map(variable, value)))


def day(value: Any) -> str:
    """A date, which TOML may have read as one."""
    found = value.isoformat() if isinstance(value, date) else text(value)
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", found):
        raise ValueError("must be a date, such as 2023-06-01")
    return found


def choice(value: Any, choices: tuple[str, ...]) -> str:
    """One of the choices."""
    found = text(value)
    if found not in choices:
        raise ValueError(f"must be {either(choices)}{or_nearest(found, choices)}")
    return found


def count(value: Any, least: int) -> int:
    """A whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"must be a whole number, not {kind(value)}")
    if not least <= value < 2**31:
        raise ValueError(f"must be at least {least}" if value < least else "is too large")
    return value


def time(value: Any, unit: str, least: float) -> float:
    """A number of seconds or the like."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"must be a number of {unit}, not {kind(value)}")
    if not (math.isfinite(value) and least <= value <= 10**9):
        raise ValueError(f"must be a number of {unit} from {least:g} on")
    return float(value)


def yes_or_no(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {kind(value)}")
    return value


def either(choices: tuple[str, ...]) -> str:
    """The choices in words."""
    return " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))


def kind(value: Any) -> str:
    """What a value is, in words."""
    match value:
        case bool():
            return "true or false"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case Mapping():
            return "a table"
        case list():
            return "a list"
        case _:
            return "a date or time"
