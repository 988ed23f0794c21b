"""What several tests share: an editor, the protocol's schema, short programs."""
