"""Serves one editor from the end of `boot` to the end of the connection."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from hermes_acp.agent.store.store import Store
from hermes_acp.errors import ConfigError
from hermes_acp.local.environment import be_private, mask_own
from hermes_acp.protocol.account import Account
from hermes_acp.protocol.app import App
from hermes_acp.protocol.booted import Booted
from hermes_acp.protocol.capabilities import ClientCapabilities
from hermes_acp.protocol.line_reader import LineReader
from hermes_acp.protocol.line_writer import LineWriter
from hermes_acp.protocol.methods import (
    authenticate,
    initialize,
    logout,
    session_cancel,
    session_close,
    session_delete,
    session_fork,
    session_list,
    session_load,
    session_new,
    session_prompt,
    session_resume,
    session_set_config_option,
    session_set_mode,
)
from hermes_acp.protocol.peer import Peer
from hermes_acp.protocol.routes import Routes
from hermes_acp.protocol.sessions import Sessions
from hermes_acp.settings import Settings, from_arguments, load_settings, start_logging
from hermes_acp.settings.homes import find_home

log = logging.getLogger(__name__)

ROUTES = (
    initialize.ROUTE,
    authenticate.ROUTE,
    logout.ROUTE,
    session_new.ROUTE,
    session_load.ROUTE,
    session_resume.ROUTE,
    session_fork.ROUTE,
    session_list.ROUTE,
    session_close.ROUTE,
    session_delete.ROUTE,
    session_prompt.ROUTE,
    session_set_mode.ROUTE,
    session_set_config_option.ROUTE,
    session_cancel.LISTENER,
)


def serve(booted: Booted) -> int:
    """Serve until the editor goes away or the process is told to end; the process's exit status."""
    mask_own()
    be_private()
    asyncio.run(_serve(booted, lambda: _read_settings(booted.argv)))
    return 0


def _read_settings(argv: list[str]) -> Settings:
    """The settings as they are now; no command is to see the variables that they name for keys."""
    settings = load_settings(from_arguments(argv), os.environ)
    mask_own()
    return settings


async def _serve(booted: Booted, read: Callable[[], Settings]) -> None:
    store = Store(_start(read))
    store.begin()
    peer = Peer(LineReader(booted.reader), LineWriter(booted.writer), Routes(ROUTES))
    app = _app(store, Account(read), peer, booted)
    _end_on_signals(peer)
    await peer.run(app, leftover=booted.leftover, greeted=booted.greeting is not None)
    _leave()


def _leave() -> None:
    """End the process now. Everything is kept and closed; what is left is an import of the model SDK that may
    still run in its thread, and the taking down of what it loaded, which an editor need not wait for."""
    logging.shutdown()
    sys.stderr.flush()
    os._exit(0)


def _start(read: Callable[[], Settings]) -> Path | None:
    """Start the log and say where the sessions are; wrong settings are reported when a session is asked for."""
    try:
        settings = read()
    except ConfigError as error:
        sys.stderr.write(f"hermes-acp: {error}\n")
        return find_home(os.environ).database
    start_logging(settings)
    for warning in settings.warnings:
        log.warning("%s", warning)
    return settings.home.database


def _app(store: Store, account: Account, peer: Peer, booted: Booted) -> App:
    client = ClientCapabilities.of(booted.greeting or {})
    return App(Sessions(store, account, peer, client), store, account)


def _end_on_signals(peer: Peer) -> None:
    """SIGTERM and SIGHUP are like the end of input."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        loop.add_signal_handler(number, peer.close)
