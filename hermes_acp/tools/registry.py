"""The tools there are: every module of this package that has one."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from hermes_acp import tools
from hermes_acp.tools.base import Tool


def discover() -> dict[str, Tool]:
    """All tools by name, in the order of their names."""
    modules = (import_module(f"{tools.__name__}.{found.name}") for found in pkgutil.iter_modules(tools.__path__))
    found = [tool for module in modules if isinstance(tool := getattr(module, "TOOL", None), Tool)]
    return {tool.name: tool for tool in sorted(found, key=lambda tool: tool.name)}
