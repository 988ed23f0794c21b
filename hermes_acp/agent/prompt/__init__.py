"""The layers that a session's system prompt is made of."""
