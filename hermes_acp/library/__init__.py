"""The agent for programs: one conversation on a loop of its own, its facts told by callbacks."""
