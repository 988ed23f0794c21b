"""The tools that work on the session itself, each made for one session: every module here that has a `make`."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from hermes_acp.agent.conversation import Toolbox
from hermes_acp.agent.tools.desk import Desk


def agent_tools(desk: Desk) -> Toolbox:
    """The agent-level tools of one session by name, in the order of their names."""
    modules = (import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    tools = [module.make(desk) for module in modules if hasattr(module, "make")]
    return {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}
