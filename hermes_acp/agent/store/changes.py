"""What each turn did to files: what they held before, and which commands ran."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from hermes_acp.agent.store.codec import decode_message
from hermes_acp.agent.store.contents import content_of, digest_of, keep_content, make_room
from hermes_acp.agent.store.queries import known_lineage
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.local.paths import decode, encode
from hermes_acp.messages import Message, UserMessage
from hermes_acp.text import clean, shorten

_LONGEST_LINE = 500

_BEFORE = """
SELECT body FROM messages
WHERE segment_id = (SELECT segment_id FROM messages WHERE seq = :first) AND seq < :first ORDER BY seq
"""
# A compaction within the turn begins a segment, in which the turn goes on.
_REPLIES = """
SELECT body FROM messages WHERE role = 'assistant' AND seq > :first
AND turn = (SELECT turn FROM messages WHERE seq = :first)
AND segment_id IN (SELECT id FROM segments WHERE session_id = :session)
"""


@dataclass(frozen=True, slots=True)
class FileBefore:
    """A file at the moment before the agent changes it.

    `held` is its content as the session sees it, which is the editor's where that is unsaved, and `disk` what stands
    on the disk; each None where there is nothing. `mode` are its permission bits, `made_folder` the topmost of the
    folders that the change makes for it, `after` what it is to hold.
    """

    path: Path
    held: bytes | None
    disk: bytes | None
    mode: int | None
    made_folder: Path | None
    after: bytes


@dataclass(frozen=True, slots=True)
class FileAfter:
    """What a file really holds after a change, by its digest (None: it is not there), and whether somebody else has
    changed it between two changes of the turn."""

    path: Path
    digest: bytes | None
    mixed: bool = False


@dataclass(frozen=True, slots=True)
class TurnKey:
    """A turn by its number and the journal that wrote it."""

    session_id: str
    turn: int
    writer: str


@dataclass(frozen=True, slots=True)
class OldFile:
    """A file as it was before a turn.

    `existed`: whether there was one; `held` is its content, None when it is not kept. `digest` and `after` name its
    contents before and after the turn. `unsaved`: what the disk held was older than `held`. `mixed`: somebody else
    changed it within the turn.
    """

    path: Path
    existed: bool
    held: bytes | None
    digest: bytes | None
    after: bytes | None
    mode: int | None = None
    made_folder: Path | None = None
    unsaved: bool = False
    mixed: bool = False


@dataclass(frozen=True, slots=True)
class PastTurn:
    """The last turn that has not been undone: its row, its prompt (None: it is not among the messages any more),
    whether this window knows it, its files in the order in which they are to be restored (the one for which a folder
    was made after those that were put into it), and the commands that may have changed others. `before` is what the
    model saw before the prompt, `replies` what it said in the turn."""

    seq: int
    prompt: UserMessage | None
    known: bool
    files: tuple[OldFile, ...]
    commands: tuple[str, ...]
    before: tuple[Message, ...] = ()
    replies: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a turn did to a file."""

    turn: int
    path: Path
    kind: Literal["created", "edited"]
    undone: bool


def note_prompt(connection: sqlite3.Connection, key: TurnKey, prompt: int | None) -> int:
    """The row of a turn, made when it is new; `prompt` is the row of its first message."""
    connection.execute(
        "INSERT OR IGNORE INTO turns (session_id, turn, writer, prompt) VALUES (?, ?, ?, ?)",
        (key.session_id, key.turn, key.writer, prompt),
    )
    found = connection.execute(
        "SELECT seq FROM turns WHERE session_id = ? AND turn = ? AND writer = ?",
        (key.session_id, key.turn, key.writer),
    ).fetchone()
    return int(found[0])


def note_before(connection: sqlite3.Connection, key: TurnKey, before: FileBefore) -> None:
    """Keep what a file holds, at its first change in a turn, and what it is to hold."""
    turn, path = note_prompt(connection, key, None), encode(before.path)
    # What came to nothing so far may not even have been what the file held.
    connection.execute("DELETE FROM file_changes WHERE turn_seq = ? AND path = ? AND held IS after", (turn, path))
    changed = connection.execute(
        "UPDATE file_changes SET after = ? WHERE turn_seq = ? AND path = ?", (digest_of(before.after), turn, path)
    )
    if changed.rowcount:
        return
    like = _last_content(connection, key.session_id, path)
    held, disk = (_kept(connection, data, like) for data in (before.held, before.disk))
    folder = before.made_folder and encode(before.made_folder)
    connection.execute(
        """
        INSERT INTO file_changes (turn_seq, path, held, disk, mode, made_folder, after) VALUES (?, ?, ?, ?, ?, ?, ?)
        """,
        (turn, path, held, disk, before.mode, folder, digest_of(before.after)),
    )
    make_room(connection)


def note_after(connection: sqlite3.Connection, key: TurnKey, after: FileAfter) -> None:
    """Correct what a file holds after its last change in a turn."""
    connection.execute(
        "UPDATE file_changes SET after = ?, mixed = max(mixed, ?) WHERE turn_seq = ? AND path = ?",
        (after.digest, int(after.mixed), note_prompt(connection, key, None), encode(after.path)),
    )


def note_command(connection: sqlite3.Connection, key: TurnKey, line: str) -> None:
    """Note that a command ran in a turn."""
    turn = note_prompt(connection, key, None)
    connection.execute(
        "INSERT INTO commands_run (turn_seq, line) VALUES (?, ?)", (turn, clean(shorten(line, _LONGEST_LINE)))
    )


def mark_undone(connection: sqlite3.Connection, turn_seq: int) -> None:
    """Take a turn out of those that can be undone."""
    connection.execute("UPDATE turns SET undone = 1 WHERE seq = ?", (turn_seq,))


def newest_turn(connection: sqlite3.Connection, session_id: str) -> int:
    """The row of a session's newest turn; 0 when it has none."""
    row = connection.execute("SELECT max(seq) FROM turns WHERE session_id = ?", (session_id,)).fetchone()
    return int(row[0] or 0)


def read_past_turn(connection: sqlite3.Connection, session_id: str, writer: str, opened_at: int) -> PastTurn | None:
    """The last turn that was not undone yet.

    Args:
        connection: of the store.
        session_id: the lineage.
        writer: the journal that asks.
        opened_at: the row of the newest turn when that journal was opened.
    """
    row = connection.execute(
        """
        SELECT turns.seq, writer, messages.seq, body FROM turns LEFT JOIN messages ON messages.seq = prompt
        WHERE session_id = ? AND undone = 0 ORDER BY turns.seq DESC LIMIT 1
        """,
        (session_id,),
    ).fetchone()
    if row is None:
        return None
    seq, wrote, first, body = row
    prompt = decode_message(body) if body else None
    lines = connection.execute("SELECT DISTINCT line FROM commands_run WHERE turn_seq = ? ORDER BY seq", (seq,))
    return PastTurn(
        seq,
        prompt if isinstance(prompt, UserMessage) else None,
        seq <= opened_at or wrote == writer,
        _old_files(connection, seq),
        tuple(line for (line,) in lines),
        _decoded(connection.execute(_BEFORE, {"first": first})),
        _decoded(connection.execute(_REPLIES, {"first": first, "session": session_id})),
    )


def read_changes(connection: sqlite3.Connection, any_id: str) -> list[FileChange]:
    """What all turns of a session did to files, in order."""
    rows = connection.execute(
        """
        SELECT turn, path, held, undone FROM file_changes JOIN turns ON turns.seq = turn_seq
        WHERE session_id = ? AND held IS NOT after ORDER BY turn_seq, file_changes.seq
        """,
        (known_lineage(connection, any_id),),
    )
    return [
        FileChange(turn, decode(path), "created" if held is None else "edited", bool(undone))
        for turn, path, held, undone in rows
    ]


def _decoded(rows: Iterable[tuple[str]]) -> tuple[Message, ...]:
    return tuple(message for (body,) in rows if (message := decode_message(body)))


def _old_files(connection: sqlite3.Connection, turn_seq: int) -> tuple[OldFile, ...]:
    rows = connection.execute(
        """
        SELECT path, held, disk, mode, made_folder, after, mixed FROM file_changes
        WHERE turn_seq = ? AND held IS NOT after ORDER BY seq DESC
        """,
        (turn_seq,),
    ).fetchall()
    return tuple(
        OldFile(
            path=decode(path),
            existed=held is not None,
            held=None if held is None else content_of(connection, held),
            digest=held,
            after=after,
            mode=mode,
            made_folder=None if folder is None else decode(folder),
            unsaved=disk is not None and disk != held,
            mixed=bool(mixed),
        )
        for path, held, disk, mode, folder, after, mixed in rows
    )


def _kept(connection: sqlite3.Connection, data: bytes | None, like: bytes | None) -> bytes | None:
    return None if data is None else keep_content(connection, data, like)


def _last_content(connection: sqlite3.Connection, session_id: str, path: bytes) -> bytes | None:
    """What was kept of the file last in this session."""
    row = connection.execute(
        """
        SELECT held FROM file_changes JOIN turns ON turns.seq = turn_seq
        WHERE session_id = ? AND path = ? AND held IS NOT NULL ORDER BY file_changes.seq DESC LIMIT 1
        """,
        (session_id, path),
    ).fetchone()
    return row[0] if row else None
