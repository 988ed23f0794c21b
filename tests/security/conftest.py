"""A model server for the rows, and agents of their own."""

from tests.e2e.conftest import editor

__all__ = ["editor"]
