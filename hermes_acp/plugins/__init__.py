"""Plugins: packages that are installed beside this one and have a say in tool calls.

They are loaded in a thread when a session has its first prompt; without any, not even pluggy is imported.
"""
