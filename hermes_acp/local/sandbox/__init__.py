"""The sandbox of commands: walls of the system around each, by bubblewrap."""
