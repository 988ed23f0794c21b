"""What is pasted into editors: read by the languages that it is written in, whatever the path is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lupa import LuaRuntime

from hermes_acp.cli.snippets import SNIPPETS, launch

PATHS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
NASTY = '/home/ü ser/it\'s "quoted"\\n [[x]] ]] $HOME/hermes-acp-agent'


def in_json(editor: str, command: tuple[str, ...]) -> Any:
    [*_, agents] = json.loads(SNIPPETS[editor].render(command)).values()
    return agents["Hermes ACP"]


def in_lua(command: tuple[str, ...]) -> list[str]:
    """The command that CodeCompanion would be given."""
    lua = LuaRuntime(encoding="utf-8")
    given = lua.execute(
        """
        local snippet, given = ...
        local function require(name)
          if name == "codecompanion" then return { setup = function(options) given = options end } end
          return { extend = function(_, more) return more end }
        end
        local names = { require = require }
        local run = setfenv and assert(loadstring(snippet)) or assert(load(snippet, "snippet", "t", names))
        if setfenv then setfenv(run, names) end
        run()
        return given
        """,
        SNIPPETS["nvim"].render(command),
    )
    assert given.interactions.chat.adapter == "hermes"
    return [*given.adapters.acp.hermes().commands.default.values()]


TOKEN = re.compile(r"""\s+|(?P<punctuation>[()'])|"(?P<string>(?:[^"\\]|\\.)*)"|(?P<symbol>[^\s()'";]+)""", re.DOTALL)


def in_elisp(text: str) -> list[Any]:
    """The forms of a text, as lists; strings are pairs of "string" and their value."""
    open_lists: list[list[Any]] = [[]]
    position = 0
    while position < len(text):
        token = TOKEN.match(text, position)
        assert token, text[position:]
        position = token.end()
        if token["punctuation"] == "(":
            open_lists.append([])
        elif token["punctuation"] == ")":
            done = open_lists.pop()
            open_lists[-1].append(done)
        elif token["string"] is not None:
            open_lists[-1].append(("string", re.sub(r"\\(.)", r"\1", token["string"], flags=re.DOTALL)))
        elif token["symbol"]:
            open_lists[-1].append(token["symbol"])
    [forms] = open_lists
    return forms


def elisp_command(text: str) -> tuple[str, ...]:
    config = in_elisp(text)[-1][-1]
    client = config[config.index(":client-maker") + 1][-1]
    words = client[client.index(":command-params") + 1]
    return tuple(value for _, value in (client[client.index(":command") + 1], *words))


@pytest.mark.parametrize("editor", ["zed", "vscode", "jetbrains"])
@given(path=PATHS)
def test_json_holds_the_launch(editor: str, path: str) -> None:
    entry = in_json(editor, (path, "-m", "hermes_acp", "--stdio"))
    assert (entry["command"], entry["args"]) == (path, ["-m", "hermes_acp", "--stdio"])


@given(path=PATHS)
def test_lua_holds_the_launch(path: str) -> None:
    assert in_lua((path, "--stdio")) == [path, "--stdio"]


@given(path=PATHS)
def test_elisp_holds_the_launch(path: str) -> None:
    assert elisp_command(SNIPPETS["emacs"].render((path, "--stdio"))) == (path, "--stdio")


def test_the_keys_are_those_that_the_editors_read() -> None:
    assert list(json.loads(SNIPPETS["zed"].render(launch()))) == ["agent_servers"]
    assert in_json("zed", launch())["type"] == "custom"
    own = ["hermes-acp.command", "hermes-acp.args"]
    assert list(json.loads(SNIPPETS["vscode"].render(launch()))) == [*own, "acp.agents"]
    package = Path(__file__).parent.parent.parent / "editors" / "vscode-client" / "package.json"
    settings = json.loads(package.read_text(encoding="utf-8"))["contributes"]["configuration"]["properties"]
    assert {*own} <= settings.keys()
    assert list(json.loads(SNIPPETS["jetbrains"].render(launch()))) == ["agent_servers"]


def test_a_path_that_needs_quoting_comes_through_everywhere() -> None:
    command = (NASTY, "--stdio")
    assert in_json("zed", command)["command"] == NASTY
    assert in_lua(command)[0] == NASTY
    assert elisp_command(SNIPPETS["emacs"].render(command)) == command


PAGES = {"zed": "zed", "vscode": "vscode", "jetbrains": "jetbrains", "nvim": "neovim", "emacs": "emacs"}
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize(("editor", "page"), PAGES.items())
def test_the_page_of_an_editor_shows_what_the_doctor_prints(editor: str, page: str) -> None:
    text = (Path(__file__).parent.parent.parent / "docs" / "editors" / f"{page}.md").read_text(encoding="utf-8")
    language, block = BLOCK.findall(text)[0]
    told = SNIPPETS[editor].render(("/path/to/hermes-acp-agent", "--stdio"))
    assert language == {"nvim": "lua", "emacs": "elisp"}.get(editor, "json")
    if language == "json":
        assert json.loads(block) == json.loads(told)
    else:
        assert block == told + "\n"
