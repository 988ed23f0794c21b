"""Slash commands and session options, the same in every face."""
