"""Tools of other programs: the MCP servers of a session.

Only `client` and what it alone imports need the mcp package, which is imported in a thread once there is a server.
"""
