"""Text as it stands on disk: a decoding that gives back the very same bytes, or none at all.

A codec is used for a file only when encoding its text again yields the bytes that were read, and all codecs
here encode each character by itself. So whatever an edit leaves alone in the text, it leaves alone in the
bytes.
"""

from __future__ import annotations

import codecs
import re

from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import clean

_BREAK = re.compile(r"\r\n|\n|\r")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BINARY = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF-", b"PK\x03\x04", b"\x1f\x8b", b"\x7fELF", b"\xca\xfe\xba\xbe")
_LEGACY = (("gb2312", "gb18030"), ("cp1252", "cp1252"), ("latin-1", "latin-1"))
"""What a text must be valid in, and the encoding it is then read and written with; the last always fits."""

_ESCAPED = re.compile("[\udc80-\udcff]")
_WIDE = re.compile("[^\x00-\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TextFile:
    """The text of a file without its byte order mark, and what is needed to write it back.

    `errors` is "surrogateescape" for UTF-8 with a few bytes that are not: those stand in the text as lone
    surrogates. `newline` is the line break that most lines have ("\\n" when there are none).
    """

    text: str
    encoding: str = "utf-8"
    errors: str = "strict"
    bom: bytes = b""
    newline: str = "\n"
    mixed: bool = False

    def encode(self, text: str) -> bytes:
        """The bytes of the file if it held `text`.

        Raises:
            UnicodeEncodeError: the file's encoding has no such character.
        """
        return self.bom + text.encode(self.encoding, self.errors)


class NotText(ValueError):
    """The bytes are not text in any encoding known here."""


def decode(data: bytes) -> TextFile:
    """The text of a file's bytes.

    Raises:
        NotText: there are NUL bytes (outside UTF-16 and UTF-32 with a byte order mark), or a signature of a
            binary format.
    """
    if is_binary(data):
        raise NotText("the file is binary")
    bom, encoding = _mark(data)
    body = data[len(bom) :]
    if encoding and (text := _exact(body, encoding)) is not None:
        return _described(text, encoding, "strict", bom)
    if encoding not in ("", "utf-8"):
        raise NotText(f"the file is broken {encoding.upper()}")
    return _guessed(body, bom)


def is_binary(data: bytes) -> bool:
    """Whether the bytes, or the first of a file's bytes, are no text."""
    if data.startswith(_BINARY):
        return True
    return b"\0" in data and _mark(data)[1] in ("", "utf-8")


def is_wide(data: bytes) -> bool:
    """Whether a file that begins with these bytes is UTF-16 or UTF-32, where line feeds are no single bytes."""
    return _mark(data)[1] not in ("", "utf-8")


def readable(data: bytes) -> str:
    """The text of a piece of a file that is not binary, for reading only; a character cut off at the end is dropped."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data).removeprefix("\ufeff")
    except UnicodeDecodeError:
        return clean(decode(data).text)


def flat(text: str) -> str:
    """The text with each line break, in whatever style, as one line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def lines(text: str) -> list[str]:
    """The lines of the text without their breaks; one more than there are breaks."""
    return flat(text).split("\n")


def breaks(text: str) -> list[str]:
    """The line breaks of the text, in order."""
    return [match[0] for match in _BREAK.finditer(text)]


def styles(text: str) -> set[str]:
    """The styles of line break that the text has."""
    return {style for style, count in _counts(text).items() if count}


def _mark(data: bytes) -> tuple[bytes, str]:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return bom, encoding
    return b"", ""


def _exact(body: bytes, encoding: str, errors: str = "strict") -> str | None:
    try:
        text = body.decode(encoding, errors)
        return text if text.encode(encoding, errors) == body else None
    except UnicodeError:
        return None


def _guessed(body: bytes, bom: bytes) -> TextFile:
    if (exact := _exact(body, "utf-8")) is not None:
        return _described(exact, "utf-8", "strict", bom)
    mostly = body.decode("utf-8", "surrogateescape")
    if bom or len(_WIDE.findall(mostly)) > len(_ESCAPED.findall(mostly)):
        return _described(mostly, "utf-8", "surrogateescape", bom)
    for narrow, encoding in _LEGACY:
        text = _exact(body, encoding) if _exact(body, narrow) is not None else None
        if text is not None:
            return _described(text, encoding, "strict", bom)
    raise NotText("the file is in no known encoding")


def _described(text: str, encoding: str, errors: str, bom: bytes) -> TextFile:
    counts = _counts(text)
    newline = max(counts, key=lambda style: counts[style])
    return TextFile(text, encoding, errors, bom, newline, mixed=sum(map(bool, counts.values())) > 1)


def _counts(text: str) -> dict[str, int]:
    both = text.count("\r\n")
    return {"\n": text.count("\n") - both, "\r\n": both, "\r": text.count("\r") - both}
