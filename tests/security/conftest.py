"""A model server for the rows, and agents of their own."""

from tests.e2e.conftest import editor, model, project

__all__ = ["editor", "model", "project"]
