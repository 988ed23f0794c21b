"""Slash commands of the person's own: Markdown files whose text goes to the model."""

from __future__ import annotations

import os
import re
from pathlib import Path

from hermes_acp.agent.front_matter import read_document
from hermes_acp.agent.prompt.reading import beginning
from hermes_acp.agent.prompt.screening import screen
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.text import shorten

ARGUMENTS = "$ARGUMENTS"

_NAME = re.compile(r"[^\W_][\w.-]{0,63}")
_CHARACTERS = 50_000
_DESCRIPTION = 200
_MOST = 200


@dataclass(frozen=True, slots=True)
class CustomCommand:
    """A command: its name without the slash, what it does, what may follow it, and the text that it stands for."""

    name: str
    description: str
    hint: str
    template: str

    def text(self, arguments: str) -> str:
        """What the model is told: the arguments in their place, or below when they have none."""
        if ARGUMENTS in self.template:
            return self.template.replace(ARGUMENTS, arguments)
        return f"{self.template}\n\n{arguments}" if arguments else self.template


def find_custom_commands(home: Path | None) -> list[CustomCommand]:
    """The commands of the person whose folder is `home`, in the order of their names."""
    try:
        files = sorted(os.listdir(home / "commands")) if home else []
    except OSError:
        return []
    names = [file.removesuffix(".md") for file in files if file.endswith(".md")]
    commands = (find_custom_command(home, name) for name in names[:_MOST])
    return [command for command in commands if command]


def find_custom_command(home: Path | None, name: str) -> CustomCommand | None:
    """The person's command of this name, if there is one."""
    if home is None or not _NAME.fullmatch(name):
        return None
    document = read_document(beginning(home / "commands" / f"{name}.md", _CHARACTERS))
    if not document.body:
        return None
    description = document.fields.get("description", "") or document.body.split("\n")[0].lstrip("# ")
    hint = document.fields.get("argument-hint", "") or ("arguments" if ARGUMENTS in document.body else "")
    return CustomCommand(name, _line(description), _line(hint), document.body)


def _line(text: str) -> str:
    return shorten(" ".join(screen(text).text.split()), _DESCRIPTION)
