"""ACP content blocks as a user message: every block is read, none is dropped in silence."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from hermes_acp.errors import ToolError
from hermes_acp.messages import Image, Part, Text, UserMessage
from hermes_acp.protocol.inbound import (
    BlobResource,
    Block,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
    TextResource,
)
from hermes_acp.text import clean, head_and_tail
from hermes_acp.tools.safety.paths import is_inside, is_secret
from hermes_acp.workspace import Workspace

INLINE_BYTES = 32_000
"""A linked text file of the workspace up to this size is put into the message itself."""

EMBEDDED_CHARACTERS = 400_000


async def read_prompt(blocks: Sequence[Block], workspace: Workspace) -> UserMessage:
    """The user message of a prompt's blocks, in their order.

    Args:
        blocks: ACP content blocks; those of an unknown type are named to the model as not seen.
        workspace: where links to files are looked up. Only small text files inside it are read.
    """
    return UserMessage(tuple([await _part(block, workspace) for block in blocks]))


def text_of(blocks: Sequence[Block]) -> str:
    """The text blocks alone, joined: what a slash command is looked for in."""
    return "\n".join(block.text for block in blocks if isinstance(block, TextBlock)).strip()


async def _part(block: Block, workspace: Workspace) -> Part:
    match block:
        case TextBlock():
            return Text(clean(block.text))
        case ImageBlock():
            return _image(block.data, block.mime_type)
        case ResourceLinkBlock():
            return Text(clean(await _link(block, workspace)))
        case ResourceBlock():
            return _resource(block.resource)
        case _:
            return Text(f"[The user attached content of the kind {clean(block.type)!r}, which cannot be read here.]")


def _image(data: str, mime_type: str) -> Part:
    if not mime_type.startswith("image/") or not _is_base64(data):
        return Text("[The user attached an image that could not be read.]")
    return Image(data, mime_type)


def _is_base64(data: str) -> bool:
    try:
        return bool(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return False


def _resource(resource: TextResource | BlobResource) -> Part:
    if isinstance(resource, TextResource):
        return Text(clean(_tagged(resource.uri, head_and_tail(resource.text, EMBEDDED_CHARACTERS))))
    mime_type = resource.mime_type or ""
    if mime_type.startswith("image/"):
        return _image(resource.blob, mime_type)
    return Text(f"[The user attached {clean(resource.uri)} ({mime_type or 'binary data'}): not shown as text.]")


async def _link(block: ResourceLinkBlock, workspace: Workspace) -> str:
    path = file_path(block.uri)
    if path is None:
        return f"[{block.name}]({block.uri})"
    text = await _small_text(path, workspace)
    return f"The user refers to {block.name}: {path}" if text is None else _tagged(str(path), text)


def file_path(uri: str) -> Path | None:
    """The path of a file URI, or of a bare absolute path; None for other URIs.

    The path is percent-decoded once, as UTF-8 (RFC 8089); an unencoded one that exists is taken as it is.
    """
    if uri.startswith("/"):
        return Path(uri)
    if not uri.startswith("file://"):
        return None
    raw = uri.removeprefix("file://").removeprefix("localhost")
    if Path(raw).exists():
        return Path(raw)
    return Path(unquote(urlsplit("file://" + raw).path or raw))


async def _small_text(path: Path, workspace: Workspace) -> str | None:
    try:
        resolved = workspace.resolve(str(path))
        if not is_inside(resolved, workspace.roots) or is_secret(resolved):
            return None
        data = await workspace.read(resolved)
        return data.decode("utf-8") if len(data) <= INLINE_BYTES and b"\0" not in data else None
    except (ToolError, OSError, ValueError):
        return None


def _tagged(source: str, text: str) -> str:
    return f'<file path="{source}">\n{text}\n</file>'
