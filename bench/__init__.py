"""Measures of the agent beside a minimal one, on the same machine in the same run: `python -m bench`."""
