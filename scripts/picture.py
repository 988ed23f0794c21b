"""Draw a real run of the demo: picture.py OUTPUT.svg"""

from __future__ import annotations

import os
import pty
import re
import sys
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

WIDTH = 118
HEAD, TAIL = 9, 42
COMMAND = [sys.executable, "-m", "hermes_acp", "demo", "--yes"]
FONT_OF_A_SERVER = re.compile(r"@font-face \{\{.*?\}\}", re.DOTALL)


def run_in_terminal() -> str:
    """What the demo writes to a terminal, colours included."""
    pieces: list[bytes] = []

    def keep(descriptor: int) -> bytes:
        data = os.read(descriptor, 65536)
        pieces.append(data)
        return data

    os.environ["COLUMNS"] = str(WIDTH)
    status = pty.spawn(COMMAND, keep)
    if status != 0:
        sys.exit("the demo failed")
    return b"".join(pieces).decode("utf-8").replace("\r\n", "\n")


def shortened(screen: str) -> str:
    """The beginning and the end, and how many lines were left out between them."""
    lines = screen.rstrip("\n").split("\n")
    left_out = (
        f"\x1b[2m… {len(lines) - HEAD - TAIL} lines: the listing, the test run that fails, what was read …\x1b[0m"
    )
    return "\n".join([*lines[:HEAD], left_out, "", *lines[-TAIL:]])


def main() -> None:
    """Run the demo and write the picture."""
    console = Console(record=True, width=WIDTH, file=StringIO(), legacy_windows=False)
    console.print(Text("$ make demo", style="bold"))
    console.print(Text.from_ansi(shortened(run_in_terminal())))
    form = FONT_OF_A_SERVER.sub("", CONSOLE_SVG_FORMAT).replace("<svg ", '<svg xml:space="preserve" ', 1)
    picture = console.export_svg(title="hermes-acp", code_format=form, unique_id="demo")
    Path(sys.argv[1]).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
