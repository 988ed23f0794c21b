"""Says what a shell line that could not be judged would run, to help the person who is asked; decides nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from hermes_acp.text import clean, shorten

_LONGEST = 16_000
_MOST_NODES = 20_000
_SHOWN = 8
_CHARACTERS = 60
_STRANGE = re.compile(r"[^\t\n -~]")
"""What the parser is not given: its scanner looks characters up in tables of ASCII and crashes on others. Each is one
letter to it, so that its places are those of the line."""

_WRITING = (b">", b">>", b"&>", b"&>>", b">|", b">&", b"<>")


def explain(line: str) -> str:
    """The programs that a line names and the files that it writes to, in one sentence or two.

    Nobody may rely on it: what a line does may depend on what it reads. Takes its time, and belongs in a thread.
    """
    if len(line) > _LONGEST:
        return "It is too long to be explained."
    root = _parser().parse(_STRANGE.sub("x", line).encode("ascii")).root_node
    nodes = list(_nodes(root))
    found = [node for node in nodes if node.type == "command" and node.child_by_field_name("name")]
    written = [target for node in nodes if (target := _written(node)) is not None]
    programs, targets = ([_one_line(line, node) for node in each] for each in (found, written))
    sentences = [
        _sentence("It would run", programs),
        _sentence("It would write to", targets),
        "Not all of it could be read." if root.has_error or len(nodes) == _MOST_NODES else "",
    ]
    return " ".join(filter(None, sentences))


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def _nodes(root: Node) -> Iterator[Node]:
    """Every node in the order of the text, however deep; of a very long line the first ones."""
    left, count = [root], 0
    while left and count < _MOST_NODES:
        node = left.pop()
        count += 1
        yield node
        left += reversed(node.children)


def _written(node: Node) -> Node | None:
    """The file that a redirection opens for writing, if it is one."""
    if node.type != "file_redirect" or not any(child.text in _WRITING for child in node.children):
        return None
    target = node.child_by_field_name("destination")
    return None if target is None or target.type == "number" else target


def _one_line(line: str, node: Node) -> str:
    text = clean(line[node.start_byte : node.end_byte])
    return f"`{shorten(' '.join(text.split()), _CHARACTERS)}`"


def _sentence(beginning: str, things: Sequence[str]) -> str:
    once = list(dict.fromkeys(things))
    if not once:
        return ""
    more = f" and {len(once) - _SHOWN} more" if len(once) > _SHOWN else ""
    return f"{beginning} {', '.join(once[:_SHOWN])}{more}."
