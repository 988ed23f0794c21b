"""Files that a person refers to, as text of a message."""

from __future__ import annotations

from pathlib import Path

from hermes_acp.errors import ToolError
from hermes_acp.local.paths import inside
from hermes_acp.messages import Text, UserMessage
from hermes_acp.tools.safety.paths import is_secret
from hermes_acp.workspace import Workspace

INLINE_BYTES = 32_000
"""A text file of the workspace up to this size is put into the message itself."""

_OPENING = '<file path="'


async def small_text(path: Path, workspace: Workspace) -> str | None:
    """The text of a small file in the workspace; None for one that is large, binary, outside or may hold secrets."""
    try:
        if not inside(path, workspace.roots) or is_secret(path):
            return None
        data = await workspace.read(path)
        return as_text(data) if len(data) <= INLINE_BYTES else None
    except (ToolError, OSError, ValueError):
        return None


def as_text(data: bytes) -> str | None:
    """The bytes as UTF-8 text, without their byte order mark; None when they are none."""
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def tagged(source: str, text: str) -> str:
    """A file's text with its path around it, as models are given files."""
    return f'{_OPENING}{source}">\n{text}\n</file>'


def typed(prompt: UserMessage) -> str:
    """What a person wrote themselves: the text without the files that came with it."""
    texts = (part.text for part in prompt.parts if isinstance(part, Text))
    return "\n".join(text for text in texts if not text.startswith(_OPENING))
