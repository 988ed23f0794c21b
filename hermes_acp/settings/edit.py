"""Changing single values of the person's config file, adding rules to it, and nothing else."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes_acp.approval_rules import Rule
from hermes_acp.config_keys import read_values
from hermes_acp.errors import ConfigError
from hermes_acp.local.small_files import write_like_before
from hermes_acp.settings.files import read_small, read_toml

_TABLE = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$")


def set_values(text: str, table: str, values: Mapping[str, str]) -> str:
    """The TOML text with these texts as values of a table; "" takes a key out. All else stays as it is.

    Raises:
        ConfigError: the file says it in a form that cannot be changed line by line; it is left to the person.
    """
    lines = text.rstrip().split("\n") if text.strip() else []
    added = [f"{key} = {_quoted(value)}" for key, value in values.items() if value]
    place = _table_lines(lines, table)
    if place:
        kept = [line for line in lines[place] if _key_of(line) not in values]
        lines[place] = [*added, *kept]
    else:
        lines += [*([""] if lines else []), f"[{table}]", *added]
    result = "\n".join(lines) + "\n"
    _check(text, result, table, values)
    return result


def add_rule(text: str, rule: Rule) -> str:
    """The TOML text with one more of `approvals.rules`, at its end. All else stays as it is.

    Raises:
        ConfigError: the rules are written in a form to which no line can be added; they are left to the person.
    """
    result = f"{text.rstrip()}\n\n{rule.table}\n".lstrip("\n")
    wanted, added = tomllib.loads(text), tomllib.loads(rule.table)
    there = wanted.setdefault("approvals", {})
    if isinstance(there, dict) and isinstance(there.setdefault("rules", []), list):
        there["rules"] += added["approvals"]["rules"]
        if _parsed(result) == wanted:
            return result
    raise ConfigError(f"the file is written in a way that no rule can be added to; write into it: {rule.text}")


def store_rules(file: Path, rules: Sequence[Rule]) -> None:
    """Write rules into a settings file, but none that is there already.

    Raises:
        ConfigError: they cannot be added to the file, or it cannot be read.
        OSError: it cannot be written.
    """
    known = read_values(read_toml(file), str(file)).get("approvals.rules", ())
    text = read_small(file).decode("utf-8-sig") if file.exists() else ""
    for rule in (rule for rule in rules if rule not in known):
        text = add_rule(text, rule)
    write_like_before(file, text.encode("utf-8"))


def _table_lines(lines: list[str], table: str) -> slice | None:
    """Where the lines between a table's header and the next one are."""
    start = next((number + 1 for number, line in enumerate(lines) if _is_header(line, table)), None)
    if start is None:
        return None
    following = (number for number in range(start, len(lines)) if lines[number].lstrip().startswith("["))
    return slice(start, next(following, len(lines)))


def _is_header(line: str, table: str) -> bool:
    match = _TABLE.match(line)
    return match is not None and match[1] == table


def _key_of(line: str) -> str:
    return line.partition("=")[0].strip().strip("\"'") if "=" in line else ""


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _check(before: str, after: str, table: str, values: Mapping[str, str]) -> None:
    """See that the new text says what the old one said, with these values and no other change."""
    wanted = tomllib.loads(before)
    there = wanted.get(table, {})
    if isinstance(there, dict):
        kept = {key: value for key, value in there.items() if key not in values}
        wanted[table] = kept | {key: value for key, value in values.items() if value}
    if not isinstance(there, dict) or _parsed(after) != wanted:
        lines = "; ".join(f"{table}.{key} = {_quoted(value)}" for key, value in values.items() if value)
        raise ConfigError(f"the file is written in a way that setup cannot change; set in it: {lines}")


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
