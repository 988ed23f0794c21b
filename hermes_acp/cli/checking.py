"""What the doctor sees in settings that are well formed, and would fail only when they are used."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import urlsplit

from hermes_acp.agent.engines import context_engine
from hermes_acp.agent.trust import Trust
from hermes_acp.cli.finding import Finding
from hermes_acp.errors import ConfigError, ToolError
from hermes_acp.local.environment import RUN
from hermes_acp.mcp import stdio
from hermes_acp.mcp.project import read_project
from hermes_acp.mcp_servers import McpServer, ProgramServer, RemoteServer
from hermes_acp.settings import Settings, config_in
from hermes_acp.settings.endpoint import ANY_KEY
from hermes_acp.settings.load import PROJECT_FILE
from hermes_acp.settings.sources import OPTIONS
from hermes_acp.text import visible
from hermes_acp.tools.safety.confining import modes_of, why_none

_PLACEHOLDER = re.compile(r"\$\{[A-Za-z_][^}]*\}|\$[A-Z_][A-Z0-9_]+\b")
_OUR_VARIABLES = frozenset(
    {*(option.variable for option in OPTIONS), ANY_KEY, "HERMES_ACP_HOME", "HERMES_ACP_LOCAL_SERVERS", RUN.decode()}
)
_CERTIFICATES = {"SSL_CERT_FILE": os.path.isfile, "SSL_CERT_DIR": os.path.isdir}


def check_settings(settings: Settings, folder: Path) -> Iterator[Finding]:
    """A finding for each thing that these settings name, in a session of this folder.

    A context engine of the person's own is loaded, as a session would do it; no other program of theirs is run.
    """
    yield from _variables(settings.keys.environ)
    yield from _log(settings.log.file)
    yield from _project(settings, folder)
    yield _sandbox(settings)
    yield from _modes(settings)
    yield from _kept(settings)
    yield from (Finding("ok", "rule", rule.text) for rule in settings.config.approvals.rules)
    yield from _engine(settings)
    yield from _key_command(settings)
    for server in settings.config.mcp_servers:
        yield from _server(server, settings.keys.environ)
    trust = Trust(settings.home.trust_file)
    if fault := trust.fault():
        yield Finding("warning", "trust", f"{visible(fault)}; `hermes-acp-agent trust` can agree anew")
    yield from _servers_of_project(folder, trust)


def _variables(environ: Mapping[str, str]) -> Iterator[Finding]:
    for name in sorted(environ):
        if name.startswith("HERMES_ACP_") and name not in _OUR_VARIABLES:
            near = get_close_matches(name, _OUR_VARIABLES, n=2)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            yield Finding("warning", "variable", f"{visible(name)} means nothing here{hint}")
    for name, is_there in _CERTIFICATES.items():
        if (path := environ.get(name)) and not is_there(path):
            fault = f"{name} names {visible(path)}, which is not there, so no server can be reached: mend or unset it"
            yield Finding("warning", "variable", fault)


def _log(file: Path | None) -> Iterator[Finding]:
    """The log falls back to standard error, which an editor may show to nobody."""
    if file is None:
        return
    place = file if file.exists() else file.absolute().parent
    if os.access(place, os.W_OK) and (place.is_dir() if place != file else not file.is_dir()):
        yield Finding("ok", "log", str(file))
    else:
        yield Finding("warning", "log", f"{file} cannot be written, so the log goes to standard error: choose another")


def _project(settings: Settings, folder: Path) -> Iterator[Finding]:
    file = folder / PROJECT_FILE
    try:
        config = config_in(settings, folder)
    except ConfigError as error:
        yield Finding("missing", "project", f"{error}; no session can be opened in this folder until it is mended")
        return
    if file.exists():
        rules = len(config.approvals.rules) - len(settings.config.approvals.rules)
        says = f"mode {config.approvals.mode}, {config.agent.max_turns} calls a turn, rules of its own: {rules}"
        yield Finding("ok", "project", f"{file}: {says}")


def _sandbox(settings: Settings) -> Finding:
    config = settings.config.sandbox
    if reason := why_none(config):
        return Finding("note", "sandbox", f"none, so more is asked, and mode auto is not offered: {reason}")
    network = "with" if config.network else "without"
    return Finding("ok", "sandbox", f"commands run in bubblewrap, {network} the network")


def _modes(settings: Settings) -> Iterator[Finding]:
    try:
        modes_of(settings.config, ())
    except ConfigError as error:
        yield Finding("missing", "mode", f"{error}; choose another, or make the sandbox work")


def _kept(settings: Settings) -> Iterator[Finding]:
    for name in settings.config.sandbox.keep:
        if name not in settings.keys.environ:
            yield Finding("note", "sandbox", f"sandbox.keep: {name} is not set here, so commands do not have it")


def _engine(settings: Settings) -> Iterator[Finding]:
    name = settings.config.context.engine
    if ":" not in name:
        return
    try:
        with redirect_stdout(sys.stderr):
            context_engine(settings.config)
    except ConfigError as error:
        cure = f'install its package for {sys.executable}, or set context.engine = "compressor"'
        yield Finding("missing", "context", f"{' '.join(visible(str(error)).split())}: {cure}")
    else:
        yield Finding("ok", "context", f"the engine {name}")


def _key_command(settings: Settings) -> Iterator[Finding]:
    command = settings.config.credentials.command
    if command and shutil.which(os.path.expanduser(command[0])) is None:
        cure = "install it, or give its absolute path"
        yield Finding("missing", "key", f"credentials.command: there is no program {visible(command[0])!r}: {cure}")


def _server(server: McpServer, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether it could be started; whether it works, a session tells with /mcp."""
    faults = [*_remote(server, environ)] if isinstance(server, RemoteServer) else [*_program(server, environ)]
    for fault in faults:
        yield Finding("warning", "mcp", f"{visible(server.name)}: {fault}")
    if not faults:
        place = f"at {urlsplit(server.url).hostname}" if isinstance(server, RemoteServer) else server.command
        yield Finding("ok", "mcp", f"{visible(server.name)}, {visible(place)}")


def _program(server: ProgramServer, environ: Mapping[str, str]) -> Iterator[str]:
    try:
        stdio.check(server)
    except ToolError as error:
        yield str(error)
    for name in server.inherit:
        if name not in environ:
            yield f"the variable {visible(name)}, which it inherits, is not set: set it where the editor is started"
    written = [("command", server.command), *(("args", each) for each in server.args)]
    for name in _placeholders([*written, *((f"env.{key}", value) for key, value in server.env)]):
        yield f"{name}, since no variable is filled in here: name it in `inherit`, or write its value"


def _remote(server: RemoteServer, environ: Mapping[str, str]) -> Iterator[str]:
    for header, name in server.headers_env:
        if not environ.get(name):
            yield (
                f"the variable {visible(name)}, which holds the header {visible(header)}, is not set: "
                "set it where the editor is started"
            )
    written = [("url", server.url), *((f"headers.{key}", value) for key, value in server.headers)]
    for name in _placeholders(written):
        yield f"{name}, since no variable is filled in here: name it in `headers_env`, or write its value"


def _placeholders(written: Iterable[tuple[str, str]]) -> Iterator[str]:
    for place, text in written:
        if found := _PLACEHOLDER.search(text):
            yield f"{visible(place)}: {visible(found[0])} is passed on as it stands"


def _servers_of_project(folder: Path, trust: Trust) -> Iterator[Finding]:
    """What the folder's own file names is the person's word first, and whether it could be started then."""
    found = read_project(folder)
    if found.problem:
        yield Finding("warning", "mcp", f"{found.file}: nothing of it is used: {visible(found.problem)}")
    for server in found.servers:
        faults = [*_program(server, os.environ)] if isinstance(server, ProgramServer) else []
        name = f"{found.file}: {visible(server.name)}"
        yield from (Finding("warning", "mcp", f"{name}: {fault}") for fault in faults)
        if not faults and trust.agreed(found.file, found.digest):
            yield Finding("ok", "mcp", f"{name}, trusted as it is")
        elif not faults:
            yield Finding("note", "mcp", f"{name}, which is asked about in the next session: not agreed to as it is")
