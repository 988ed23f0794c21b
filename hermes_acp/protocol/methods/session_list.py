"""session/list: what can be loaded, newest first, in pages."""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from typing import Any

from hermes_acp.agent.store.records import SessionRecord
from hermes_acp.protocol.app import App
from hermes_acp.protocol.errors import invalid_params
from hermes_acp.protocol.inbound import ListSessionsParams
from hermes_acp.protocol.outbound import session_info
from hermes_acp.protocol.routes import Call, Route

PAGE = 50


async def list_sessions(call: Call[App], params: ListSessionsParams) -> dict[str, Any]:
    """One page of sessions that have had a prompt, and the cursor of the next page if there is one."""
    app = call.app
    after = _decode(params.cursor) if params.cursor else None
    folder = str(Path(params.cwd)) if params.cwd else None
    found = await app.store.list(folder, after, PAGE + 1)
    page = found[:PAGE]
    answer: dict[str, Any] = {"sessions": [_info(record) for record in page]}
    if len(found) > PAGE:
        answer["nextCursor"] = _encode(page[-1])
    return answer


def _info(record: SessionRecord) -> dict[str, Any]:
    return session_info(
        record.id,
        record.cwd,
        roots=record.roots or None,
        title=record.title or None,
        updated_at=record.updated_at,
    )


def _encode(record: SessionRecord) -> str:
    return base64.urlsafe_b64encode(json.dumps([record.updated_at, record.id]).encode()).decode()


def _decode(cursor: str) -> tuple[str, str]:
    try:
        updated_at, session_id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise invalid_params("cursor: it was not given out by session/list") from None
    if not isinstance(updated_at, str) or not isinstance(session_id, str):
        raise invalid_params("cursor: it was not given out by session/list")
    return updated_at, session_id


ROUTE = Route("session/list", ListSessionsParams, list_sessions)
