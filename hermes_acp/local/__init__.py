"""This machine as a workspace: files by bytes, commands by process group."""
