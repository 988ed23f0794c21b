"""What looks like a slash command and is none: most often a slip of the finger."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from hermes_acp.text import visible

_MOST_NEAR = 3
_WORD = re.compile(r"/[A-Za-z?][\w-]{0,31}(?!\S)")

_ELSEWHERE = {
    "?": "help",
    "h": "help",
    "commands": "help",
    "models": "model",
    "clear": "reset",
    "new": "reset",
    "cost": "context",
    "usage": "context",
    "status": "context",
    "tokens": "context",
    "summarize": "compact",
    "compress": "compact",
    "approvals": "permissions",
    "rewind": "undo",
    "revert": "undo",
    "cancel": "stop",
    "abort": "stop",
    "continue": "resume",
    "sessions": "resume",
    "history": "resume",
    "exit": "quit",
    "q": "quit",
    "bye": "quit",
}
"""What other programs call commands that there are here too."""


def unknown_command(text: str, names: Iterable[str], folder: Path) -> str:
    """What to tell a person whose text begins like a command that does not exist, in Markdown; "" when it does not.

    The path of something that exists is none, and neither is a word that goes on like a path.

    Args:
        text: what was typed.
        names: of the commands that there are, without the slash.
        folder: the one that the person works in.
    """
    found = _WORD.match(text)
    known = list(names)
    if not found or found[0][1:] in known or os.path.lexists(folder / found[0]):
        return ""
    near = [f"`/{name}`" for name in _near(found[0][1:].lower(), known)]
    hint = f"Did you mean {' or '.join(near)}?" if near else "`/help` lists those that there are."
    return f"There is no command `{visible(found[0])}`, and the model was not asked. {hint} {_AS_TEXT}"


_AS_TEXT = "With a blank before the slash it goes to the model as it is."


def _near(name: str, known: list[str]) -> list[str]:
    """The commands that may have been meant, the likeliest first."""
    meant = _ELSEWHERE.get(name)
    begun = [each for each in known if each.startswith(name)]
    close = get_close_matches(name, known, n=_MOST_NEAR, cutoff=0.6)
    found = dict.fromkeys([*([meant] if meant in known else []), *begun, *close])
    return list(found)[:_MOST_NEAR]
