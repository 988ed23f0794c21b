"""What to paste into an editor, so that it finds this installation."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hermes_acp.lazy_dataclasses import dataclass

_SCRIPT = "hermes-acp-agent"
_NAME = "Hermes ACP"


@dataclass(frozen=True, slots=True)
class Snippet:
    """An editor's entry: the text of it for a launch, where that goes, and what is done next."""

    render: Callable[[Sequence[str]], str]
    place: str
    then: str


def launch() -> tuple[str, ...]:
    """The command that starts this installation for an editor, with absolute paths."""
    folders = (sysconfig.get_path("scripts"), os.path.dirname(os.path.abspath(sys.argv[0])))
    for folder in folders:
        script = Path(folder, _SCRIPT)
        if script.is_file() and os.access(script, os.X_OK):
            return (str(script), "--stdio")
    return (sys.executable, "-m", "hermes_acp", "--stdio")


def _entry(command: Sequence[str], **more: str) -> dict[str, object]:
    return {**more, "command": command[0], "args": [*command[1:]], "env": {}}


def _zed(command: Sequence[str]) -> str:
    return _json({"agent_servers": {_NAME: _entry(command, type="custom")}})


def _vscode(command: Sequence[str]) -> str:
    """For the extension of this project, and for ACP Client, which has a list of agents."""
    own = {"hermes-acp.command": command[0], "hermes-acp.args": [*command[1:]]}
    return _json({**own, "acp.agents": {_NAME: _entry(command)}})


def _jetbrains(command: Sequence[str]) -> str:
    return _json({"agent_servers": {_NAME: _entry(command)}})


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _nvim(command: Sequence[str]) -> str:
    words = ", ".join(map(_lua, command))
    return f"""\
require("codecompanion").setup({{
  interactions = {{ chat = {{ adapter = "hermes" }} }},
  adapters = {{
    acp = {{
      hermes = function()
        return require("codecompanion.adapters").extend("goose", {{
          name = "hermes",
          formatted_name = "{_NAME}",
          commands = {{ default = {{ {words} }} }},
        }})
      end,
    }},
  }},
}})"""


def _emacs(command: Sequence[str]) -> str:
    program, *words = map(_elisp, command)
    return f"""\
(require 'acp)
(require 'agent-shell)
(add-to-list 'agent-shell-agent-configs
             (agent-shell-make-agent-config
              :identifier 'hermes-acp
              :mode-line-name "{_NAME}"
              :buffer-name "{_NAME}"
              :shell-prompt "{_NAME}> "
              :shell-prompt-regexp "{_NAME}> "
              :client-maker (lambda (buffer)
                              (acp-make-client :command {program}
                                               :command-params '({" ".join(words)})
                                               :context-buffer buffer))))"""


def _lua(text: str) -> str:
    """A string of Lua 5.1 (manual, section 2.1)."""
    return '"' + "".join(map(_lua_character, text)) + '"'


def _lua_character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character >= " " else f"\\{ord(character):03d}"


def _elisp(text: str) -> str:
    """A string of Emacs Lisp (manual, "Syntax for Strings"): line ends may stand in it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


SNIPPETS: Mapping[str, Snippet] = {
    "zed": Snippet(_zed, "settings.json (zed: open settings file)", "agent: new thread, Hermes ACP"),
    "nvim": Snippet(_nvim, "init.lua, with CodeCompanion.nvim installed", ":CodeCompanionChat"),
    "vscode": Snippet(
        _vscode,
        "the user's settings.json, for the extension Hermes ACP or the extension ACP Client",
        "open Hermes ACP in the side bar, or ACP: Connect to Agent",
    ),
    "emacs": Snippet(_emacs, "init.el, with the package agent-shell", "M-x agent-shell"),
    "jetbrains": Snippet(_jetbrains, "~/.jetbrains/acp.json", "choose Hermes ACP in the AI chat"),
}
"""The editors by the name that `doctor --editor` takes."""
