"""Hazards that other agents fell to, tried on a whole agent over its real stdio."""

from tests.support.reserves import configure, reserve
from tests.support.shared import one_editor, one_model, raw_editor, server, shared_editor

__all__ = ["configure", "one_editor", "one_model", "raw_editor", "reserve", "server", "shared_editor"]
