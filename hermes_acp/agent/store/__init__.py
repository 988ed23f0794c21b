"""Sessions on disk: SQLite on one thread, two records for each session."""
