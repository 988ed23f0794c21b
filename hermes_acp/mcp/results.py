"""What a server answers to a call, as the result of a tool: text for the model, pictures made to fit."""

from __future__ import annotations

import json
from collections.abc import Iterable

import mcp_types as types

from hermes_acp.cards import ToolResult
from hermes_acp.local import pictures
from hermes_acp.local.picture_formats import BrokenPicture
from hermes_acp.messages import Image
from hermes_acp.text import clean, head_and_tail, plain, shorten, visible

MOST_CHARACTERS = 32_000
"""Of one result; as much as is kept of a command's output."""

MOST_PICTURES = 10


async def read_result(answer: types.CallToolResult) -> ToolResult:
    """The result of a tool that this answer stands for."""
    texts: list[str] = []
    images: list[Image] = []
    for block in answer.content:
        if isinstance(block, types.ImageContent):
            texts += await _take_picture(block.data, images)
        elif isinstance(block, types.EmbeddedResource) and isinstance(block.resource, types.BlobResourceContents):
            texts += await _take_blob(block.resource, images)
        else:
            texts.append(_text(block))
    if answer.structured_content is not None and not any(map(str.strip, texts)):
        texts.append(json.dumps(answer.structured_content, ensure_ascii=False, default=str))
    return ToolResult(_joined(texts, images), is_error=bool(answer.is_error), images=tuple(images))


def _joined(texts: Iterable[str], images: list[Image]) -> str:
    text = plain(clean("\n".join(filter(str.strip, texts)))).strip()
    nothing = "(a picture)" if images else "(no output)"
    return head_and_tail(text, MOST_CHARACTERS) if text else nothing


def _text(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.EmbeddedResource(resource=types.TextResourceContents() as resource):
            return f"[{_line(str(resource.uri))}]\n{resource.text}"
        case types.ResourceLink():
            about = f": {_line(block.description)}" if block.description else ""
            return f"[{_line(block.name)}]({_line(str(block.uri))}){about}"
        case types.AudioContent():
            return f"[A sound, {_line(block.mime_type)}, which cannot be heard here.]"
        case _:
            return "[Content of a kind that is not known here.]"


async def _take_blob(resource: types.BlobResourceContents, images: list[Image]) -> list[str]:
    name = f"[{_line(str(resource.uri))}]"
    if (resource.mime_type or "").startswith("image/"):
        return [name, *await _take_picture(resource.blob, images)]
    kind = _line(resource.mime_type or "of an unknown kind")
    return [f"{name}\n[{len(resource.blob) * 3 // 4} bytes, {kind}, not shown.]"]


async def _take_picture(data: str, images: list[Image]) -> list[str]:
    """Add the picture to the others; what there is to be said of it."""
    if len(images) >= MOST_PICTURES:
        return ["[One picture more than can be shown.]"]
    try:
        images.append((await pictures.fit(await pictures.from_base64(data))).image)
    except BrokenPicture as error:
        return [f"[A picture that {error}.]"]
    return []


def _line(text: str) -> str:
    return shorten(visible(clean(text)).replace("\n", " "), 300)
