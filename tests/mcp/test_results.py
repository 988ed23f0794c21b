"""What servers answer, as a model reads it."""

from __future__ import annotations

import base64
from typing import Any

import mcp_types as types
import pytest

from hermes_acp.cards import ToolResult
from hermes_acp.local.pictures import MAX_SIDE
from hermes_acp.mcp.results import MOST_CHARACTERS, MOST_PICTURES, read_result
from tests.support.pictures import plain


async def read(*content: dict[str, Any], **more: Any) -> ToolResult:
    return await read_result(types.CallToolResult.model_validate({"content": list(content), **more}))


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def picture(data: bytes, mime_type: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": mime_type}


async def test_texts_are_joined_and_cleaned() -> None:
    result = await read(text("one"), text("  "), text("\x1b[31mtwo\x1b[0m \ud800"))
    assert (result.text, result.is_error) == ("one\ntwo \ufffd", False)


async def test_an_error_is_one() -> None:
    assert (await read(text("no such ticket"), isError=True)).is_error


async def test_nothing_is_said_to_be_nothing() -> None:
    assert (await read()).text == "(no output)"
    assert (await read(text(" \n "))).text == "(no output)"


async def test_structured_content_stands_in_for_a_text_that_is_missing() -> None:
    assert (await read(structuredContent={"ä": [1]})).text == '{"ä": [1]}'
    assert (await read(text("one"), structuredContent={"n": 1})).text == "one"


async def test_what_is_long_is_shortened_in_the_middle() -> None:
    result = await read(text("begin" + "x" * 1_000_000 + "end"))
    assert len(result.text) <= MOST_CHARACTERS
    assert result.text.startswith("begin")
    assert result.text.endswith("end")


async def test_pictures_are_made_to_fit_and_known_by_their_bytes() -> None:
    result = await read(picture(plain(3000, 20), "image/gif"))
    [image] = result.images
    assert (image.mime_type, result.text) == ("image/png", "(a picture)")
    assert len(base64.b64decode(image.data)) < len(plain(3000, 3000))
    assert MAX_SIDE < 3000


@pytest.mark.parametrize("data", ["", "not base64!", base64.b64encode(b"no picture").decode()])
async def test_a_broken_picture_is_a_note(data: str) -> None:
    result = await read(text("here"), {"type": "image", "data": data, "mimeType": "image/png"})
    assert result.images == ()
    assert result.text.startswith("here\n[A picture that ")


async def test_more_pictures_than_can_be_shown_are_notes() -> None:
    result = await read(*[picture(plain(2, 2))] * (MOST_PICTURES + 2))
    assert len(result.images) == MOST_PICTURES
    assert result.text.count("One picture more") == 2


async def test_resources_and_links_become_text() -> None:
    memo = {"type": "resource", "resource": {"uri": "memo://1", "text": "a memo"}}
    blob = {"type": "resource", "resource": {"uri": "file:///a.zip", "blob": "AAAA", "mimeType": "application/zip"}}
    shown = {"uri": "file:///a.png", "blob": base64.b64encode(plain(2, 2)).decode(), "mimeType": "image/png"}
    link = {"type": "resource_link", "name": "more\u202e", "uri": "https://x", "description": "about"}
    sound = {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}
    result = await read(memo, blob, {"type": "resource", "resource": shown}, link, sound)
    assert result.text.splitlines() == [
        "[memo://1]",
        "a memo",
        "[file:///a.zip]",
        "[3 bytes, application/zip, not shown.]",
        "[file:///a.png]",
        "[more\\u{202e}](https://x): about",
        "[A sound, audio/wav, which cannot be heard here.]",
    ]
    assert len(result.images) == 1
