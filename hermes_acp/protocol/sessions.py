"""The sessions that are open on this connection, and the ways into one."""

from __future__ import annotations

import asyncio
import logging
import os
import uuid
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import field

from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.agent.store.store import Store
from hermes_acp.commands.options import Options
from hermes_acp.config import Config
from hermes_acp.errors import HermesError, SessionDeleted, SessionNotFound
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.waiting import surely, unless_whole
from hermes_acp.protocol.account import Account
from hermes_acp.protocol.capabilities import ClientCapabilities
from hermes_acp.protocol.entrance import Entrance
from hermes_acp.protocol.errors import invalid_params
from hermes_acp.protocol.inbound import Place
from hermes_acp.protocol.peer import Peer
from hermes_acp.protocol.session import Session

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Sessions:
    """What is open, by id. `client` is what the editor on the other side of `peer` can do."""

    store: Store
    account: Account
    peer: Peer
    client: ClientCapabilities
    _open: dict[str, Session] = field(default_factory=dict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _closing: dict[str, asyncio.Event] = field(default_factory=dict)

    def find(self, session_id: str) -> Session | None:
        """The open session of this id."""
        return self._open.get(session_id)

    def get(self, session_id: str) -> Session:
        """The open session of this id.

        Raises:
            SessionNotFound: it does not exist, or is not open on this connection.
        """
        if session := self._open.get(session_id):
            return session
        raise SessionNotFound(session_id)

    async def create(self, place: Place) -> Session:
        """A new session, stored before its id is told.

        Raises:
            CredentialsMissing: there is no model to talk to.
            RpcError: a folder does not exist.
        """
        await asyncio.to_thread(_check_folders, place)
        terms = await self.account.look(place.folders)
        options = self.account.options({}, terms)
        roots = tuple(map(str, place.roots))
        record = SessionRecord(str(uuid.uuid4()), str(place.cwd), roots, options=options.values())
        async with self._unless_made(record.id):
            return await self._enter(await self.store.create(record), place, terms.config, options)

    async def open(self, session_id: str, place: Place) -> Session:
        """An earlier session, brought back from the store unless it is open already.

        Raises:
            SessionNotFound: there is none of this id.
            RpcError: it belongs to another folder.
        """
        record = await self._stored(session_id, place)
        session = await self._opened(record, place)
        if record.roots != tuple(map(str, place.roots)):
            await session.set_further_roots(place.roots)
        return session

    async def fork(self, session_id: str, place: Place) -> Session:
        """A new session that begins with what another one has finished; that one is left as it is.

        Raises:
            SessionNotFound: there is none of this id.
            RpcError: it belongs to another folder, or a folder does not exist.
            CredentialsMissing: there is no model to talk to.
        """
        source = await self._stored(session_id, place)
        await asyncio.to_thread(_check_folders, place)
        await self.account.look(place.folders)
        if session := self._open.get(source.id):
            await session.store_what_was_shown()
        new_id = str(uuid.uuid4())
        async with self._unless_made(new_id):
            record = await self.store.fork(source.id, new_id, tuple(map(str, place.roots)))
            return await self._reopen(record, place)

    def _unless_made(self, new_id: str) -> AbstractAsyncContextManager[None]:
        """A block that makes a new session: nothing of it is left where that fails or is cancelled, since the editor
        is not told of it."""
        return unless_whole(lambda: self.store.delete(new_id))

    def offer_models(self) -> None:
        """Let the models that there are now be chosen in every open session."""
        try:
            models, address, levels_of = self.account.models()
        except HermesError as error:
            log.info("there are no models to offer: %s", error)
            return
        for session in self._open.values():
            session.shown.offer_models(models, address, levels_of)

    async def close(self, session: Session) -> None:
        """Cancel the session's prompts, wait until they are answered, end its processes, free it; to the end, also when
        this is cancelled meanwhile: whoever opens the session anew waits for that."""
        self._open.pop(session.id, None)
        self._closing[session.id] = asyncio.Event()
        await surely(self._close(session))

    async def _close(self, session: Session) -> None:
        try:
            session.turns.cancel_all()
            await session.turns.idle()
            with suppress(SessionDeleted):
                await session.conversation.journal.commit()
        finally:
            try:
                await session.close()
            finally:
                self._closing.pop(session.id).set()

    async def close_all(self) -> None:
        """Close every session, all at once; one that cannot be kept does not hold up the others."""
        closing = [self.close(session) for session in list(self._open.values())]
        for outcome in await asyncio.gather(*closing, return_exceptions=True):
            if isinstance(outcome, Exception):
                log.error("a session was not closed well: %s", outcome)

    async def _stored(self, session_id: str, place: Place) -> SessionRecord:
        record = await self.store.find(session_id)
        if record is None:
            raise SessionNotFound(session_id)
        if record.cwd != str(place.cwd):
            raise invalid_params(f"cwd: this session belongs to {record.cwd}")
        return record

    async def _opened(self, record: SessionRecord, place: Place) -> Session:
        """The open session; one that is being closed is opened anew, with all that its last turn has left."""
        while True:
            async with self._opening:
                closing = self._closing.get(record.id)
                if closing is None:
                    return self._open.get(record.id) or await self._reopen(record, place)
            await closing.wait()

    async def _reopen(self, record: SessionRecord, place: Place) -> Session:
        terms = await self.account.look(place.folders)
        return await self._enter(record, place, terms.config, self.account.options(record.options, terms))

    async def _enter(self, record: SessionRecord, place: Place, config: Config, options: Options) -> Session:
        entrance = Entrance(self.store, self.account, self.peer, self.client)
        session = await entrance.enter(record, place, config, options)
        session.idleness.begin()
        self._open[record.id] = session
        return session


def _check_folders(place: Place) -> None:
    if not os.path.isdir(place.cwd):
        raise invalid_params(f"cwd: {place.cwd} is no folder")
    for root in place.roots:
        if not os.path.isdir(root):
            raise invalid_params(f"additionalDirectories: {root} is no folder")
