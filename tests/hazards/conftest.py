"""Hazards that other agents fell to, tried on a whole agent over its real stdio."""

from tests.e2e.conftest import editor, model, project

__all__ = ["editor", "model", "project"]
