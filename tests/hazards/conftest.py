"""Hazards that other agents fell to, tried on a whole agent over its real stdio."""

from tests.e2e.conftest import editor
from tests.support.shared import one_editor, one_model, raw_editor, server, shared_editor

__all__ = ["editor", "one_editor", "one_model", "raw_editor", "server", "shared_editor"]
