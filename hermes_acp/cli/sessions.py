"""`hermes-acp sessions`: looking at what is stored, taking it elsewhere, deleting it."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.cli.exporting import Whole, as_json, as_markdown
from hermes_acp.cli.main import Parser
from hermes_acp.cli.showing import as_text, table
from hermes_acp.cli.terminal import columns, fitted
from hermes_acp.errors import ConfigError, HermesError
from hermes_acp.settings import load_settings
from hermes_acp.text import visible

_LIMIT = 50
_SHOWN_IDS = 5
_ACTIONS = "list | show | export | delete"


class _Parser(Parser):
    """Names the command in what it refuses."""

    def error(self, message: str) -> NoReturn:
        if message.startswith(f"argument {_ACTIONS}"):
            message = f"say one of {_ACTIONS}"
        raise ConfigError(f"sessions: {message}")


def run(arguments: Sequence[str], called: str = "hermes-acp sessions") -> int:
    """Do what the arguments say to the command that was `called` so; the exit status: 0 done, 1 not (the reason is on
    stderr).

    Raises:
        ConfigError: the arguments mean nothing.
        StoreError: the store cannot be used.
    """
    parser = _parser(called)
    if not arguments:
        sys.stdout.write(parser.format_help())
        return 2
    given = parser.parse_args(arguments)
    return asyncio.run(_with_store(given.action, given))


def _parser(called: str) -> argparse.ArgumentParser:
    parser = _Parser(prog=called, description="The stored sessions.", allow_abbrev=False)
    actions = parser.add_subparsers(metavar=_ACTIONS, required=True, parser_class=_Parser)
    listing = _action(actions, "list", "the sessions of this folder, the last used first")
    where = listing.add_mutually_exclusive_group()
    where.add_argument("--cwd", metavar="DIR", default=".", help="those of another folder")
    where.add_argument("--all", action="store_true", help="those of every folder")
    listing.add_argument("--limit", metavar="N", type=_count, default=_LIMIT, help=f"at most so many ({_LIMIT})")
    listing.set_defaults(action=_list)
    showing = _action(actions, "show", "what was said and done, and the files that were changed")
    showing.add_argument("id", metavar="ID", help="an id, or the beginning of one")
    showing.set_defaults(action=_show)
    exporting = _action(actions, "export", "all of a session, as JSON or Markdown")
    exporting.add_argument("id", metavar="ID")
    exporting.add_argument("--format", choices=("json", "markdown"), default="json")
    exporting.add_argument("-o", "--output", metavar="FILE", help="where to; else standard output")
    exporting.set_defaults(action=_export)
    deleting = _action(actions, "delete", "delete sessions for good")
    deleting.add_argument("ids", metavar="ID", nargs="+")
    deleting.add_argument("--yes", action="store_true", help="do not ask")
    deleting.set_defaults(action=_delete)
    return parser


def _action(actions: Any, name: str, what: str) -> argparse.ArgumentParser:
    told = f"{what[0].upper()}{what[1:]}."
    parser: argparse.ArgumentParser = actions.add_parser(name, help=what, description=told, allow_abbrev=False)
    return parser


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


async def _with_store(action: Callable[[Store, argparse.Namespace], Awaitable[int]], given: argparse.Namespace) -> int:
    """Run an action on the store, if there is one."""
    database = _database()
    store = await Store.open(database)
    try:
        if database is not None and store.problem:
            sys.stderr.write(f"hermes-acp: {visible(store.problem)}\n")
        return await action(store, given)
    finally:
        await store.aclose()


def _database() -> Path | None:
    """The file of the sessions; None when there is none yet: looking makes none."""
    path = load_settings({}, os.environ).home.database
    return path if path is not None and os.path.lexists(path) else None


async def _list(store: Store, given: argparse.Namespace) -> int:
    folders = [None] if given.all else _names_of(given.cwd)
    found = {record.id: record for folder in folders for record in await store.list(folder, None, given.limit)}
    records = sorted(found.values(), key=lambda record: record.updated_at, reverse=True)[: given.limit]
    if not records:
        where = "" if given.all else f" in {visible(folders[0] or '')} (--all shows those of every folder)"
        sys.stdout.write(f"There are no sessions{where}.\n")
        return 0
    rows = [(record, await store.prompts(record.id)) for record in records]
    sys.stdout.write(table(rows, columns()))
    return 0


async def _show(store: Store, given: argparse.Namespace) -> int:
    text = as_text(await _whole(store, await _only(store, given.id)))
    sys.stdout.writelines(f"{fitted(line, len(line) - len(line.lstrip()))}\n" for line in text.splitlines())
    return 0


async def _export(store: Store, given: argparse.Namespace) -> int:
    whole = await _whole(store, await _only(store, given.id))
    text = as_markdown(whole) if given.format == "markdown" else as_json(whole)
    if given.output is None:
        sys.stdout.write(text)
        return 0
    try:
        await asyncio.to_thread(Path(given.output).write_text, text, encoding="utf-8")
    except OSError as error:
        raise HermesError(f"{visible(given.output)} cannot be written: {error.strerror or error}") from error
    return 0


async def _delete(store: Store, given: argparse.Namespace) -> int:
    records = {record.id: record for record in [await _only(store, each) for each in given.ids]}
    if not given.yes and not _agreed(list(records.values())):
        sys.stdout.write("Nothing was deleted.\n")
        return 1
    for record in records.values():
        await store.delete(record.id)
        sys.stdout.write(f"Deleted {record.id}\n")
    return 0


def _agreed(records: Sequence[SessionRecord]) -> bool:
    """Whether the person wants these deleted.

    Raises:
        ConfigError: nobody can be asked.
    """
    if not (sys.stdin and sys.stdin.isatty()):
        raise ConfigError("sessions delete: nobody can be asked here; --yes deletes without asking")
    sys.stdout.write("".join(f"{record.id}  {visible(record.title) or '(no title)'}\n" for record in records))
    what = "this session" if len(records) == 1 else f"these {len(records)} sessions"
    sys.stdout.write(f"Delete {what} for good? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


async def _only(store: Store, beginning: str) -> SessionRecord:
    """The one session whose id begins so.

    Raises:
        HermesError: there is none, or there are several.
    """
    found = await store.beginning(beginning) if beginning else []
    if not found:
        raise HermesError(f"there is no session {visible(beginning)!r} (sessions list --all shows them)")
    if len(found) > 1:
        ids = ", ".join(record.id for record in found[:_SHOWN_IDS])
        raise HermesError(f"{len(found)} sessions begin with {visible(beginning)!r}: {ids}; give more of the id")
    return found[0]


async def _whole(store: Store, record: SessionRecord) -> Whole:
    messages = [stored.message for stored in await store.messages(record.id)]
    return Whole(record, messages, await store.events(record.id), await store.changes(record.id))


def _names_of(folder: str) -> list[str | None]:
    """What a session of the folder may have been given as its place."""
    absolute = os.path.abspath(folder)
    return list(dict.fromkeys([absolute, os.path.realpath(absolute)]))
