"""The MCP servers that a project names in its `.mcp.json`: what they are, and the hash of all that says so."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hermes_acp.approval_rules import runs_others
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local import confidential, digests, environment
from hermes_acp.local.paths import encode, inside, real
from hermes_acp.mcp_servers import McpServer, ProgramServer, parse_servers
from hermes_acp.text import words as split

PROJECT_SERVERS = ".mcp.json"

_LARGEST_PROGRAM = 64_000_000
_WORDS = 4_000
_KEYS = ("type", "command", "args", "env", "url", "headers")
"""What is taken of a server. Other programs have keys of their own; none of them may allow anything here."""

_SCRIPTS = split(".py .js .mjs .cjs .ts .mts .tsx .sh .bash .rb .pl .php .lua .jar .exs .ps1 .wasm")

_TYPES = {"streamable-http": "http", "streamableHttp": "http", "streamable_http": "http"}
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that names a server, and the hash of what it said when the person agreed to it."""

    file: Path
    digest: str

    def unchanged(self) -> bool:
        """Whether it still says the same. Reads files."""
        return read_project(self.file.parent).digest == self.digest


@dataclass(frozen=True, slots=True)
class ProjectServers:
    """What a project's file says. `digest`: the hash of it and of the project's own programs that it names, "" when
    there is nothing to agree to; `words`: each server with all that it would be started with, for the person to see;
    `problem`: why what there is cannot be used."""

    file: Path
    digest: str = ""
    servers: tuple[McpServer, ...] = ()
    words: tuple[str, ...] = ()
    problem: str = ""

    @property
    def origin(self) -> Origin:
        return Origin(self.file, self.digest)


def read_project(folder: Path) -> ProjectServers:
    """The servers that the project in a folder names. Reads files and runs nothing."""
    file = folder / PROJECT_SERVERS
    if not _lies_in(file, folder):
        return ProjectServers(file)
    data = digests.content(file, digests.LARGEST_FILE)
    if data is None:
        return ProjectServers(file, problem="it cannot be read, or is no small regular file")
    try:
        tables = _tables(json.loads(data.decode("utf-8-sig")))
        servers = parse_servers({name: _as_ours(table, folder) for name, table in tables.items()})
        programs = _digests(servers, folder)
        words = tuple(_words(server.name, tables[server.name]) for server in servers)
    except (ValueError, RecursionError) as error:
        return ProjectServers(file, problem=" ".join(str(error).split())[:500])
    if not servers:
        return ProjectServers(file)
    return ProjectServers(
        file,
        digests.of_bytes(b"\0".join([data, *programs])),
        servers,
        words,
    )


def _lies_in(file: Path, folder: Path) -> bool:
    """Whether the file is there, and no link that leads out of the project."""
    return os.path.exists(encode(file)) and inside(real(file), [real(folder)])


def _tables(said: Any) -> Mapping[str, Any]:
    tables = said.get("mcpServers", {}) if isinstance(said, dict) else None
    if not isinstance(tables, dict):
        raise ValueError("mcpServers must be an object with an object for each server")
    return {name: table for name, table in tables.items() if not (isinstance(table, dict) and table.get("disabled"))}


def _as_ours(table: Any, folder: Path) -> Any:
    """A server in the form of a settings file, variables filled in, a path of the project made absolute."""
    if not isinstance(table, dict):
        return table
    ours = {key: _filled(table[key]) for key in _KEYS if key in table}
    if ours.get("type") in _TYPES:
        ours["type"] = _TYPES[ours["type"]]
    command = ours.get("command")
    if isinstance(command, str) and "/" in command and not os.path.isabs(command):
        ours["command"] = str(folder / command)
    return ours


def _filled(value: Any) -> Any:
    match value:
        case str():
            return _VARIABLE.sub(_variable, value)
        case list():
            return [_filled(each) for each in value]
        case dict():
            return {key: _filled(each) for key, each in value.items()}
    return value


def _variable(found: re.Match[str]) -> str:
    """The value of a variable that a project asks for. The keys of models are for their servers and nobody else."""
    value = os.environ.get(found[1], found[2])
    if value is None:
        raise ValueError(f"the variable {found[1]} is not set: set it where the agent is started, or name a default")
    if confidential.is_kept(value):
        raise ValueError(f"the variable {found[1]} holds the key of a model")
    return value


def _digests(servers: tuple[McpServer, ...], folder: Path) -> list[bytes]:
    """The hashes of those files of the project that the servers run, as far as that can be seen from their words.

    Raises:
        ValueError: one of them cannot be read.
    """
    found: list[bytes] = []
    project = [real(folder)]
    for path in dict.fromkeys(path for server in servers for path in _programs(server, folder)):
        if inside(real(path), project):
            digest = digests.of_file(path, _LARGEST_PROGRAM)
            if not digest:
                raise ValueError(f"{path} cannot be read")
            found.append(digest.encode())
    return found


def _programs(server: McpServer, folder: Path) -> Iterator[Path]:
    """The command, the first file that an interpreter is given, and what looks like a program elsewhere. Other files
    are data, which a server may change."""
    if not isinstance(server, ProgramServer):
        return
    env = dict(server.env)
    path = env.get("PATH", environment.search_path())
    yield from _files([shutil.which(server.command, path=path) or server.command], folder)
    written = [*server.args, *(part for value in env.values() for part in value.split())]
    given = list(_files((part for word in written for part in (word, word.rpartition("=")[2])), folder))
    first = given[:1] if runs_others(server.command) else []
    yield from [*first, *(path for path in given if path.suffix in _SCRIPTS or os.access(encode(path), os.X_OK))]


def _files(words: Iterable[str], folder: Path) -> Iterator[Path]:
    for word in words:
        if word and "\0" not in word and os.path.isfile(encode(folder / word)):
            yield folder / word


def _words(name: str, table: Mapping[str, Any]) -> str:
    """A server as the file has it; values that look like keys are left out.

    Raises:
        ValueError: it is too long to be looked at.
    """
    shown = {key: _discreet(table[key]) if key in ("env", "headers") else table[key] for key in _KEYS if key in table}
    text = json.dumps(shown, ensure_ascii=False)
    if len(text) > _WORDS:
        raise ValueError(f"{name}: says more than can be shown to you ({_WORDS} characters)")
    return f"{name}: {text}"


def _discreet(values: Any) -> Any:
    if not isinstance(values, dict):
        return values
    return {name: _value(name, value) for name, value in values.items()}


def _value(name: str, value: Any) -> Any:
    named = isinstance(value, str) and _VARIABLE.search(value)
    return value if named or not environment.is_secret(name.encode("utf-8", "replace")) else "***"
