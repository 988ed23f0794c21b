"""The face in the terminal: a conversation that is typed and streamed."""
