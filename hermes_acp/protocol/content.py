"""ACP content blocks as a user message: every block is read, none is dropped in silence."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from hermes_acp.agent.attached import as_text, small_text, tagged
from hermes_acp.errors import ToolError
from hermes_acp.events import Notice
from hermes_acp.local import pictures
from hermes_acp.local.picture_formats import BrokenPicture, begins_like_picture
from hermes_acp.messages import Part, Text, UserMessage
from hermes_acp.protocol.blocks import (
    BlobResource,
    Block,
    ImageBlock,
    ResourceBlock,
    ResourceLinkBlock,
    TextBlock,
    TextResource,
)
from hermes_acp.text import clean, head_and_tail, shorten
from hermes_acp.workspace import Workspace

EMBEDDED_CHARACTERS = 400_000
URI_CHARACTERS = 300

_PART = re.compile("[?#]")

Tell = Callable[[Notice], None]


async def read_prompt(blocks: Sequence[Block], workspace: Workspace, tell: Tell) -> UserMessage:
    """The user message of a prompt's blocks, in their order.

    Args:
        blocks: ACP content blocks; those of an unknown type are named to the model as not seen.
        workspace: where links to files are looked up. Only small text files inside it are read.
        tell: told of a picture that cannot be shown to the model; the rest of the prompt is kept.
    """
    return UserMessage(tuple([await _part(block, workspace, tell) for block in blocks]))


def with_text(message: UserMessage, blocks: Sequence[Block], text: str) -> UserMessage:
    """The message of these blocks with one text in place of all that was typed; attachments stay where they are."""
    typed = [at for at, block in enumerate(blocks) if isinstance(block, TextBlock)]
    parts = [Text(clean(text)) if at in typed[:1] else part for at, part in enumerate(message.parts)]
    return UserMessage(tuple(part for at, part in enumerate(parts) if at not in typed[1:]))


def text_of(blocks: Sequence[Block]) -> str:
    """The text blocks alone, joined: what a slash command is looked for in."""
    return "\n".join(block.text for block in blocks if isinstance(block, TextBlock)).strip()


def is_blank(blocks: Sequence[Block]) -> bool:
    """Whether the blocks hold nothing that a model could answer: providers refuse empty text."""
    return all(isinstance(block, TextBlock) and not block.text.strip() for block in blocks)


async def _part(block: Block, workspace: Workspace, tell: Tell) -> Part:
    match block:
        case TextBlock():
            return Text(clean(block.text))
        case ImageBlock():
            return await _picture(block.data, block.uri or "", tell)
        case ResourceLinkBlock():
            return Text(clean(await _link(block, workspace)))
        case ResourceBlock():
            return await _resource(block.resource, tell)
        case _:
            return Text(f"[The user attached content of the kind {clean(block.type)!r}, which cannot be read here.]")


async def _picture(data: str, uri: str, tell: Tell) -> Part:
    """A picture fit to be stored and sent; its bytes say what it is, whatever type was given for it."""
    try:
        return (await pictures.fit(await pictures.from_base64(data))).image
    except BrokenPicture as error:
        name = f"the picture {shorten(clean(uri), URI_CHARACTERS)}" if uri else "a picture"
        tell(Notice("warning", "A picture cannot be shown to the model", f"It has been left out: {name} {error}."))
        return Text(f"[The user attached {name}, which cannot be shown here: it {error}.]")


async def _resource(resource: TextResource | BlobResource, tell: Tell) -> Part:
    if isinstance(resource, TextResource):
        return Text(clean(tagged(resource.uri, head_and_tail(resource.text, EMBEDDED_CHARACTERS))))
    kind = resource.mime_type or ""
    data = await _bytes(resource.blob)
    if begins_like_picture(data) or (kind.startswith("image/") and not kind.startswith("image/svg")):
        return await _picture(resource.blob, resource.uri, tell)
    text = as_text(data) if data else None
    if text is not None:
        return Text(clean(tagged(resource.uri, head_and_tail(text, EMBEDDED_CHARACTERS))))
    uri = shorten(clean(resource.uri), URI_CHARACTERS)
    return Text(f"[The user attached {uri} ({clean(kind) or 'binary data'}): it cannot be shown as text.]")


async def _bytes(blob: str) -> bytes:
    try:
        return await pictures.from_base64(blob)
    except BrokenPicture:
        return b""


async def _link(block: ResourceLinkBlock, workspace: Workspace) -> str:
    if not block.uri.startswith(("/", "file://")):
        return f"[{block.name}]({block.uri})"
    path, part = await asyncio.to_thread(_linked, block.uri, workspace)
    if path is None:
        return f"The user refers to {block.name}: {block.uri}"
    name = f"{block.name} ({part})" if part else block.name
    text = await small_text(path, workspace)
    if text is None:
        return f"The user refers to {name}: {path}"
    return tagged(str(path), text) if name == path.name else f"{name}:\n{tagged(str(path), text)}"


def _linked(uri: str, workspace: Workspace) -> tuple[Path | None, str]:
    """The path of a file URI (RFC 8089), percent-decoded once; of one that was never encoded as it is written.

    Beside it the part of the file that is meant (such as `#L10:20`), where only the address before it is a file's.
    """
    written = uri.removeprefix("file://").removeprefix("localhost")
    address = _PART.split(uri, maxsplit=1)[0]
    try:
        decoded, plain, whole = map(workspace.resolve, (uri, written, address))
        if decoded.exists() or not (plain.exists() or whole.exists()):
            return decoded, ""
        return (plain, "") if plain.exists() else (whole, uri.removeprefix(address))
    except (ToolError, OSError, ValueError):
        return None, ""
