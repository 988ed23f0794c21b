"""Slash commands as an editor is told of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermes_acp.agent.custom_commands import CustomCommand
from hermes_acp.commands.builtin import every_command
from hermes_acp.protocol import outbound


def available_commands(custom: Sequence[CustomCommand] = ()) -> list[dict[str, Any]]:
    """ACP's list of AvailableCommand: the built-in ones, then the person's own."""
    commands = every_command(custom)
    return [outbound.command(command.name, command.description, hint=command.hint or None) for command in commands]
