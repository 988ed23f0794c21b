"""`hermes-acp doctor`: what the agent finds on this machine, and what it lacks."""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from hermes_acp import __version__
from hermes_acp.agent.store.inspection import inspect_store, searches_full_text
from hermes_acp.cli.finding import Finding
from hermes_acp.cli.main import settings_parser
from hermes_acp.cli.snippets import SNIPPETS, launch
from hermes_acp.errors import ConfigError, CredentialsMissing, ToolError
from hermes_acp.mcp import stdio
from hermes_acp.mcp_servers import McpServer, RemoteServer
from hermes_acp.settings.credentials import is_signed_out
from hermes_acp.settings.endpoint import ANY_KEY, ModelEndpoint
from hermes_acp.settings.homes import Home, find_home
from hermes_acp.settings.keyrings import KeyringUnusable, begin_reading
from hermes_acp.settings.load import Settings, load_settings, resolve_model
from hermes_acp.settings.local_servers import FoundServer, look
from hermes_acp.settings.providers import PROVIDERS
from hermes_acp.settings.reserves import Named, named_reserves, named_side, resolve_named
from hermes_acp.tools.safety.confining import why_none

_KEYRING_SECONDS = 5

_OURS = b"hermes_acp.__main__"
"""What the script of this program holds, wherever it was installed."""


def run(overrides: Mapping[str, str], arguments: Sequence[str]) -> int:
    """Write the report; 0 when a prompt could be answered, else 1. With `--editor`, what that editor needs instead.

    Raises:
        ConfigError: an argument is of no use.
    """
    given = _parse(arguments)
    editor, offline = given.pop("editor", None), given.pop("offline", False)
    if editor is not None:
        return _show_snippet(editor)
    answers = True
    for finding in _findings({**overrides, **given}, offline):
        sys.stdout.write(f"{finding.state:<8} {finding.name:<9} {finding.text}\n")
        answers = answers and finding.state != "missing"
    return 0 if answers else 1


def _parse(arguments: Sequence[str]) -> dict[str, Any]:
    parser = settings_parser("doctor [--offline] [--editor EDITOR] [OPTIONS]")
    parser.add_argument("--offline", action="store_true", help="do not ask the model's server")
    parser.add_argument("--editor", choices=SNIPPETS, help="show what to paste into this editor")
    return vars(parser.parse_args(arguments))


def _show_snippet(editor: str) -> int:
    """The text alone on standard output, so that it can be piped; where it goes on standard error."""
    snippet = SNIPPETS[editor]
    sys.stderr.write(f"Put this into {snippet.place}. Then: {snippet.then}.\n")
    sys.stderr.flush()
    sys.stdout.write(snippet.render(launch()) + "\n")
    return 0


def _findings(overrides: Mapping[str, str], offline: bool) -> Iterator[Finding]:
    home = find_home(os.environ)
    yield Finding("ok", "version", f"{__version__}, Python {platform.python_version()}, {platform.system()}")
    yield from _command_on_path()
    yield _home(home)
    try:
        settings = load_settings(overrides, os.environ)
    except ConfigError as error:
        yield Finding("missing", "settings", str(error))
    else:
        yield from _settings(settings, offline)
    yield from _plugins()
    yield from _programs()
    yield _database(home)
    yield _search()


def _command_on_path() -> Iterator[Finding]:
    """Another program may have the name: guides use the longer one."""
    found = shutil.which("hermes-acp")
    if found and not _is_ours(Path(found)):
        yield Finding("warning", "command", f"hermes-acp on PATH is another program ({found}): use hermes-acp-agent")


def _is_ours(script: Path) -> bool:
    own = Path(sysconfig.get_path("scripts"), "hermes-acp")
    try:
        return script.resolve() == own.resolve() or _OURS in script.read_bytes()[:100_000]
    except OSError:
        return False


def _home(home: Home) -> Finding:
    if home.config is None or home.state is None:
        return Finding("warning", "home", "this user has no home folder, so nothing is kept: set HERMES_ACP_HOME")
    folders = dict.fromkeys((home.config, home.state))
    return Finding("ok", "home", ", ".join(map(str, folders)))


def _settings(settings: Settings, offline: bool) -> Iterator[Finding]:
    file = settings.home.config_file
    yield Finding("ok", "settings", str(file)) if file and file.exists() else Finding("note", "settings", "no file yet")
    for warning in settings.warnings:
        yield Finding("warning", "settings", warning)
    yield _sandbox(settings)
    for rule in settings.config.approvals.rules:
        yield Finding("ok", "rule", rule.text)
    yield from map(_mcp_server, settings.config.mcp_servers)
    yield from _keys(settings)
    if is_signed_out(settings.home):
        yield Finding("missing", "login", "logged out: log in from the editor, or run hermes-acp-agent setup")
    found = asyncio.run(look(settings.local_servers)) if settings.says_no_model else ()
    yield from map(_local_server, found)
    yield from _models(settings, next((each.endpoint for each in found if each.model), None), offline)


def _sandbox(settings: Settings) -> Finding:
    config = settings.config.sandbox
    if reason := why_none(config):
        return Finding("note", "sandbox", f"none, so more is asked, and mode auto is not offered: {reason}")
    network = "with" if config.network else "without"
    return Finding("ok", "sandbox", f"commands run in bubblewrap, {network} the network")


def _mcp_server(server: McpServer) -> Finding:
    """Whether it could be started; whether it works, a session tells with /mcp."""
    if isinstance(server, RemoteServer):
        return Finding("ok", "mcp", f"{server.name}, at {urlsplit(server.url).hostname}")
    try:
        stdio.check(server)
    except ToolError as error:
        return Finding("warning", "mcp", f"{server.name}: {error}")
    return Finding("ok", "mcp", f"{server.name}, {server.command}")


def _local_server(found: FoundServer) -> Finding:
    place = f"{found.label}, at {found.server.base_url}"
    if found.model is None:
        return Finding("warning", "server", f"{place}: no model that can use tools")
    assumed = " (whether it can use tools is assumed)" if found.model.assumed else ""
    return Finding("ok", "server", f"{place}: {found.model.name}{assumed}")


def _keys(settings: Settings) -> Iterator[Finding]:
    variables = [ANY_KEY, *(known.key_variable for known in PROVIDERS.values()), *settings.config.key_variables]
    for name in dict.fromkeys(variables):
        if name and settings.keys.environ.get(name, "").strip():
            yield Finding("ok", "key", f"found in {name}")
    for origin in settings.keys.stored:
        yield Finding("ok", "key", f"stored for {origin} in {settings.home.credentials_file}")
    yield from map(_key_in_keyring, sorted(settings.keys.in_keyring))


def _key_in_keyring(origin: str) -> Finding:
    try:
        begin_reading(origin).result(_KEYRING_SECONDS)
    except (KeyringUnusable, TimeoutError) as error:
        reason = str(error) or f"it has not answered for {_KEYRING_SECONDS} seconds"
        return Finding("warning", "key", f"for {origin} in the system keyring, which cannot be read: {reason}")
    return Finding("ok", "key", f"stored for {origin} in the system keyring")


def _models(settings: Settings, local: ModelEndpoint | None, offline: bool) -> Iterator[Finding]:
    """The model, and those that stand beside it: what of these cannot be used is left out, and stops nothing.
    A server that was found on this machine has answered already."""
    try:
        endpoint = local or resolve_model(settings)
    except (ConfigError, CredentialsMissing) as error:
        yield Finding("missing", "model", str(error))
        return
    yield Finding("ok", "model", _described(endpoint))
    if not (offline or local) and endpoint.base_url:
        yield _server(endpoint)
    for named in named_reserves(settings):
        yield _beside("reserve", named, settings, endpoint)
    for task in settings.config.auxiliary:
        for named in named_side(settings, task):
            yield _beside("side", named, settings, endpoint)


def _server(endpoint: ModelEndpoint) -> Finding:
    from hermes_acp.cli.knocking import knock

    return asyncio.run(knock(endpoint))


def _beside(name: str, named: Named, settings: Settings, primary: ModelEndpoint) -> Finding:
    try:
        endpoint = resolve_named(named, settings, primary)
    except CredentialsMissing as error:
        return Finding("warning", name, f"{named.place}: left out: {error}")
    except ConfigError as error:
        return Finding("missing", name, str(error))
    return Finding("ok", name, f"{named.place}: {_described(endpoint)}")


def _described(endpoint: ModelEndpoint) -> str:
    key = f"key found in {endpoint.key_source}" if endpoint.key_source else "no key"
    if endpoint.in_command:
        key = f"key from {endpoint.key_source}, which was not run"
    place = f" at {endpoint.base_url}" if endpoint.base_url else ""
    return f"{endpoint.model} of {endpoint.provider}{place} ({endpoint.api_mode}, {key})"


def _plugins() -> Iterator[Finding]:
    """Those that sessions load; what is wrong with one is found by loading it, as they do."""
    from hermes_acp.plugins import loading

    reporting = logging.getLogger(loading.__name__)
    before, reporting.disabled = reporting.disabled, True
    try:
        with redirect_stdout(sys.stderr):
            found = loading.LOADING()
    finally:
        reporting.disabled = before
    for plugin in found.plugins:
        yield Finding("ok", "plugin", f"{plugin.name}: {', '.join(plugin.hooks)}")
    for problem in found.problems:
        yield Finding("warning", "plugin", f"{problem} (it could not be loaded, and is not in force)")


def _programs() -> Iterator[Finding]:
    yield _program("ripgrep", _ripgrep(), "warning", "not found, so files cannot be searched")
    yield _program("git", shutil.which("git"), "note", "not found")


def _ripgrep() -> str | None:
    """The one that came with the package, else one on PATH."""
    folders = (sysconfig.get_path("scripts"), os.path.dirname(sys.executable))
    return next(filter(None, (shutil.which("rg", path=folder) for folder in folders)), None) or shutil.which("rg")


def _program(name: str, path: str | None, state: Literal["note", "warning"], without: str) -> Finding:
    if path is None:
        return Finding(state, name, without)
    version = _version(path)
    return Finding("ok", name, f"{path} ({version})") if version else Finding(state, name, f"{path} does not start")


def _version(path: str) -> str:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=5, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return lines[0].strip() if lines and done.returncode == 0 else ""


def _database(home: Home) -> Finding:
    if home.database is None:
        return Finding("warning", "sessions", "not kept: there is no folder for them")
    state = inspect_store(home.database)
    if state.problem:
        return Finding("warning", "sessions", f"{home.database}: {state.problem}")
    return Finding("ok", "sessions", f"{state.sessions} in {home.database}")


def _search() -> Finding:
    if searches_full_text():
        return Finding("ok", "search", f"past sessions in full text (SQLite {sqlite3.sqlite_version})")
    return Finding("note", "search", "this Python's SQLite has no FTS5: past sessions are searched more slowly")
