"""Files as the editor holds them: asked for, given back, and compared with what stands on the disk."""

from __future__ import annotations

import logging
from pathlib import Path

from hermes_acp.errors import ToolError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.protocol import outbound
from hermes_acp.protocol.errors import Disconnected, RemoteError
from hermes_acp.protocol.peer import Peer
from hermes_acp.text import clean

log = logging.getLogger(__name__)

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class EditorFiles:
    """One session's `fs/*` calls."""

    peer: Peer
    session_id: str

    async def read(self, path: Path) -> str | None:
        """The text the editor has for a file; None when it cannot give any (ACP: file system)."""
        try:
            answer = await self.peer.request("fs/read_text_file", outbound.read_text_file(self.session_id, str(path)))
        except (RemoteError, Disconnected) as error:
            log.info("the editor does not give %s: %s", path, error)
            return None
        content = answer.get("content") if isinstance(answer, dict) else None
        return clean(content) if isinstance(content, str) else None

    async def write(self, path: Path, content: str) -> None:
        """Have the editor write a file. Whatever it answers but an error counts as done; some answer null.

        Raises:
            ToolError: it refused.
        """
        try:
            await self.peer.request("fs/write_text_file", outbound.write_text_file(self.session_id, str(path), content))
        except RemoteError as error:
            raise ToolError(f"The editor did not write {clean(str(path))}: {error}") from None
        except Disconnected:
            raise ToolError(f"The editor went away before it wrote {clean(str(path))}.") from None


def survives_editor(data: bytes) -> bool:
    """Whether an editor can hold these bytes as text and give them back: strict UTF-8, no byte order mark,
    one kind of line end."""
    if data.startswith(_BOM) or b"\0" in data or not _is_utf8(data):
        return False
    breaks, pairs, returns = data.count(b"\n"), data.count(b"\r\n"), data.count(b"\r")
    return returns == pairs and pairs in (0, breaks)


def same_text(disk: bytes, buffer: str) -> bool:
    """Whether the editor's text is that of the file, but for line ends and a last newline that it dropped."""
    text = disk.decode("utf-8", errors="replace").replace("\r\n", "\n")
    held = buffer.replace("\r\n", "\n")
    return held in (text, text.removesuffix("\n"))


def in_the_style_of(disk: bytes, buffer: str) -> bytes:
    """The editor's text as bytes, with the line ends of the file."""
    text = buffer.replace("\r\n", "\n")
    return (text.replace("\n", "\r\n") if b"\r\n" in disk else text).encode("utf-8")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
