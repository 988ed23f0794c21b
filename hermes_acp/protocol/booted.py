"""The wire as it is handed over once the first line was read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Booted:
    """A wire that is ready to be served.

    `reader` and `writer` are file descriptors that no child inherits. `leftover` are bytes that were read
    and not used. `greeting` holds the params of `initialize` when it has been answered, else None.
    `ended` says that the editor has already closed its side. `argv` are the command's own arguments.
    """

    __slots__ = ("argv", "ended", "greeting", "leftover", "reader", "writer")

    def __init__(self, reader: int, writer: int, argv: list[str]) -> None:
        self.reader = reader
        self.writer = writer
        self.argv = argv
        self.leftover = b""
        self.greeting: dict[str, Any] | None = None
        self.ended = False
