"""Files that are named with an @ in what is typed: small texts and pictures go with the message."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

from hermes_acp.agent.attached import small_text, tagged
from hermes_acp.errors import ToolError
from hermes_acp.local import pictures
from hermes_acp.local.paths import inside
from hermes_acp.local.picture_formats import BrokenPicture, begins_like_picture
from hermes_acp.messages import Image, Part, Text, UserMessage
from hermes_acp.text import clean
from hermes_acp.tools.safety.paths import is_secret
from hermes_acp.workspace import Workspace

MOST_FILES = 20

_MENTION = re.compile(r'(?:^|(?<=\s))@(?:"([^"\n]+)"|(\S+))')
_PUNCTUATION = ".,;:!?)]}'"


async def with_files(text: str, workspace: Workspace) -> UserMessage:
    """The message of a text, with the files that it names as far as a model can be given them whole. The others stay
    names: the model has tools to look at them."""
    parts: list[Part] = [Text(clean(text))]
    for path in await asyncio.to_thread(_named, text, workspace):
        if content := await small_text(path, workspace):
            parts.append(Text(clean(tagged(str(path), content))))
        elif image := await _picture(path, workspace):
            parts.append(image)
    return UserMessage(tuple(parts))


def _named(text: str, workspace: Workspace) -> list[Path]:
    """The files that a text names, each once."""
    found = dict.fromkeys(path for written in _mentions(text) if (path := _file(written, workspace)))
    return list(found)[:MOST_FILES]


def _mentions(text: str) -> Iterator[str]:
    for match in _MENTION.finditer(text):
        yield match[1] or match[2]


def _file(written: str, workspace: Workspace) -> Path | None:
    for name in (written, written.rstrip(_PUNCTUATION)):
        try:
            path = workspace.resolve(name)
            if name and path.is_file():
                return path
        except (ToolError, OSError, ValueError):
            continue
    return None


async def _picture(path: Path, workspace: Workspace) -> Image | None:
    if not inside(path, workspace.roots) or is_secret(path):
        return None
    try:
        data = await workspace.read(path)
        return (await pictures.fit(data)).image if begins_like_picture(data) else None
    except (BrokenPicture, ToolError, OSError, ValueError):
        return None
