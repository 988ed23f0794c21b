"""What a tool is: data, a function that makes one call ready, and nothing to inherit from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from hermes_acp.cards import Diff, Effect, Location, ToolKind, ToolResult
from hermes_acp.errors import ToolError
from hermes_acp.host import Host, Nobody
from hermes_acp.lazy_dataclasses import dataclass
from hermes_acp.tools.arguments import explain
from hermes_acp.tools.safety.judged import Judged
from hermes_acp.workspace import USUAL, Access, Show, Workspace


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call may use: the session's files and commands, a way to show output while it runs, and whoever
    is there to be told and asked."""

    call_id: str
    workspace: Workspace
    show: Show = lambda text, terminal_id=None: None
    host: Host = field(default_factory=Nobody)


@dataclass(frozen=True, slots=True)
class Action:
    """A call made ready: what it will do, in the words a person is asked with, and the coroutine doing it.

    `run` does exactly what the other fields say, or raises `ToolError`: it is bound to what was read when
    the call was made ready, and refuses when that has changed since. `paths` are resolved; a call whose
    `effect` is "execute" has its `command` text, exactly as it will run, what was `judged` of it, what it may
    reach (`access`), and in words `where` it runs; it is `contained` when that is a sandbox without the network.
    """

    title: str
    run: Callable[[], Awaitable[ToolResult]]
    effect: Effect
    paths: tuple[Path, ...] = ()
    command: str = ""
    judged: Judged | None = None
    access: Access = USUAL
    where: str = ""
    contained: bool = False
    diffs: tuple[Diff, ...] = ()
    locations: tuple[Location, ...] = ()


class Form(Protocol):
    """What a tool takes where no model of ours says so, but somebody else's JSON Schema."""

    @property
    def description(self) -> str:
        """What the tool does, for the model."""

    @property
    def schema(self) -> dict[str, Any]:
        """The arguments as a JSON Schema that every provider takes."""

    def check(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments as the tool is to be given them.

        Raises:
            ToolError: they do not fit; the text says what to change.
        """


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the model.

    `params` is what the model fills in: a model of pydantic, whose docstring and field descriptions are what the
    language model reads, or a `Form`.
    `effect` is what its calls can do to files and programs: "read" tools stay in plan mode (where a call that
    stops something is refused by itself). `prepare` checks and reads, and changes nothing. `paths` names the
    files a call will touch, from its arguments alone, so that calls on one file can be kept in order. An
    `interactive` tool asks the person.
    """

    name: str
    toolset: str
    kind: ToolKind
    label: str
    params: type[BaseModel] | Form
    effect: Effect
    prepare: Callable[[Any, ToolContext], Awaitable[Action]]
    paths: Callable[[Any, Workspace], tuple[Path, ...]] = lambda args, workspace: ()
    interactive: bool = False

    def schema(self) -> dict[str, Any]:
        """The function schema a provider is given: name, description, parameters (JSON Schema)."""
        parameters = _parameters(self.params) if isinstance(self.params, type) else self.params.schema
        return {"name": self.name, "description": self.description, "parameters": parameters}

    @property
    def description(self) -> str:
        """What the tool does, in the words that the model reads."""
        return _described(self.params) if isinstance(self.params, type) else self.params.description

    def parse(self, arguments: Mapping[str, Any]) -> Any:
        """What a model wrote as arguments, as `prepare` takes it.

        Raises:
            ToolError: it does not fit; the text says what to change.
        """
        if not isinstance(self.params, type):
            return self.params.check(arguments)
        try:
            return self.params.model_validate(dict(arguments))
        except ValidationError as error:
            raise ToolError(f"Wrong arguments for {self.name}: {explain(error)}") from None


@cache
def _described(params: type[BaseModel]) -> str:
    return cleandoc(params.__doc__ or "")


@cache
def _parameters(params: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a tool's parameters; made once, since every model call needs it."""
    schema = params.model_json_schema()
    schema.pop("title", None)
    schema.pop("description", None)
    return schema
