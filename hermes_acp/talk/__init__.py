"""A session without an editor: its settings, where its model is, and how it is opened and closed."""
