"""A till for a small shop."""
