"""Clients that others have written, each driving the built agent through one turn."""
