"""The command line for a person: commands, their options, and one clear line for everything that is wrong."""

from hermes_acp.cli.main import run

__all__ = ["run"]
