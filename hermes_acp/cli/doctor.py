"""`hermes-acp doctor`: what the agent finds on this machine, and what it lacks."""

from __future__ import annotations

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

from hermes_acp import __version__
from hermes_acp.agent.store.inspection import can_be_written, inspect_store, searches_full_text
from hermes_acp.cli.checking import check_settings
from hermes_acp.cli.finding import Finding
from hermes_acp.cli.main import settings_parser
from hermes_acp.cli.models_found import find_models
from hermes_acp.cli.own_files import check_own_files
from hermes_acp.cli.snippets import SNIPPETS, launch
from hermes_acp.cli.terminal import say
from hermes_acp.errors import ConfigError
from hermes_acp.settings.homes import Home, find_home
from hermes_acp.settings.load import Settings, load_settings

_HANG = 19
"""Columns before the text of a finding."""

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
        say(f"{finding.state:<8} {finding.name:<9} {finding.text}", _HANG)
        answers = answers and finding.state != "missing"
    return 0 if answers else 1


def _parse(arguments: Sequence[str]) -> dict[str, Any]:
    parser = settings_parser(
        "doctor [--offline] [--editor EDITOR] [OPTIONS]",
        "Shows what is found here, and what is wrong or missing, with what to do. The exit status is 1 when no prompt "
        "could be answered.",
    )
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
        yield from _settings(settings)
        yield from find_models(settings, offline)
    if home.config is not None:
        yield from check_own_files(home.config)
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


def _settings(settings: Settings) -> Iterator[Finding]:
    file = settings.home.config_file
    yield Finding("ok", "settings", str(file)) if file and file.exists() else Finding("note", "settings", "no file yet")
    for warning in settings.warnings:
        yield Finding("warning", "settings", warning)
    yield from check_settings(settings, Path.cwd())


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
    if not (state.problem or can_be_written(home.database)):
        cure = "let it be written, or set HERMES_ACP_HOME to another folder"
        return Finding("warning", "sessions", f"{home.database} cannot be written, so no session is kept: {cure}")
    if state.problem:
        return Finding("warning", "sessions", f"{home.database}: {state.problem}")
    return Finding("ok", "sessions", f"{state.sessions} in {home.database}")


def _search() -> Finding:
    if searches_full_text():
        return Finding("ok", "search", f"past sessions in full text (SQLite {sqlite3.sqlite_version})")
    return Finding("note", "search", "this Python's SQLite has no FTS5: past sessions are searched more slowly")
