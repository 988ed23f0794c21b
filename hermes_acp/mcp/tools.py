"""A tool of an MCP server as a tool of the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from hermes_acp.cards import Effect, ToolKind, ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.mcp.schemas import Validate, acceptable, describe, validator
from hermes_acp.nesting import DEEPEST
from hermes_acp.text import clean, shorten, visible
from hermes_acp.tools.base import Action, Tool, ToolContext

if TYPE_CHECKING:
    import mcp_types as types

TOOLSET = "mcp"

Show = Callable[[str], None]
Call = Callable[[str, Mapping[str, Any], Show], Awaitable[ToolResult]]
"""Calls a server's tool by its own name, and shows how far it is."""


@dataclass(frozen=True)
class ServersForm:
    """What a server says that its tool takes."""

    name: str
    description: str
    schema: dict[str, Any] = field(repr=False)

    @cached_property
    def _fault(self) -> Validate:
        return validator(self.schema)

    def check(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments without lone surrogates, and without the nulls that stand for leaving something out.

        Raises:
            ToolError: they do not fit.
        """
        cleaned: dict[str, Any] = _cleaned(arguments, DEEPEST)
        required = self.schema.get("required", ())
        plain = {key: value for key, value in cleaned.items() if value is not None or key in required}
        if not self._fault(cleaned):
            return cleaned
        if fault := self._fault(plain):
            raise ToolError(
                f"Wrong arguments for {self.name}: {fault}. Nothing was done; call again with this corrected."
            )
        return plain


def make_tool(name: str, server: str, listed: types.Tool, call: Call) -> Tool:
    """The tool of this name that calls what a server has listed."""
    queries = listed.annotations is not None and listed.annotations.read_only_hint is True
    effect: Effect = "query" if queries else "call"
    kind: ToolKind = "fetch" if queries else "other"
    title = f"{_shown(server)}: {_shown(listed.name)}"
    description = describe(listed.description) or f"The tool {title}."

    async def prepare(arguments: Mapping[str, Any], ctx: ToolContext) -> Action:
        return Action(title, partial(call, listed.name, arguments, ctx.show), effect)

    return Tool(
        name=name,
        toolset=TOOLSET,
        kind=kind,
        label=title,
        params=ServersForm(name, description, acceptable(listed.input_schema)),
        effect=effect,
        prepare=prepare,
    )


def _shown(name: str) -> str:
    return shorten(visible(clean(name)).replace("\n", "\\n"), 100)


def _cleaned(value: Any, levels: int) -> Any:
    if levels < 0:
        raise ToolError(f"The arguments are nested more than {DEEPEST} levels deep; nothing was done.")
    match value:
        case str():
            return clean(value)
        case Mapping():
            return {clean(str(key)): _cleaned(each, levels - 1) for key, each in value.items()}
        case list() | tuple():
            return [_cleaned(each, levels - 1) for each in value]
        case _:
            return value
