"""The person's settings, read from the command line, the environment, their files and the project's."""

from hermes_acp.settings.credentials import is_signed_out, origin, sign_in, sign_out
from hermes_acp.settings.endpoint import ModelEndpoint
from hermes_acp.settings.homes import Home
from hermes_acp.settings.keyrings import KeyringUnusable, begin_reading
from hermes_acp.settings.load import Settings, config_in, load_settings, resolve_model
from hermes_acp.settings.local_servers import FoundServer, look
from hermes_acp.settings.logs import start_logging, start_speaking
from hermes_acp.settings.reserves import Choice, distinct, resolve_reserves, resolve_sides
from hermes_acp.settings.sources import from_arguments

__all__ = [
    "Choice",
    "FoundServer",
    "Home",
    "KeyringUnusable",
    "ModelEndpoint",
    "Settings",
    "begin_reading",
    "config_in",
    "distinct",
    "from_arguments",
    "is_signed_out",
    "load_settings",
    "look",
    "origin",
    "resolve_model",
    "resolve_reserves",
    "resolve_sides",
    "sign_in",
    "sign_out",
    "start_logging",
    "start_speaking",
]
