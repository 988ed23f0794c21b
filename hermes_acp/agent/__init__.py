"""The engine: the turn, providers, context and store. Knows nothing of ACP."""
