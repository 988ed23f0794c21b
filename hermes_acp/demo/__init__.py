"""A headless editor that shows the agent at work; imports no other part of the package."""

from hermes_acp.demo.editor import run

__all__ = ["run"]
