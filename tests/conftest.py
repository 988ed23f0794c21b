"""What holds for all tests."""

from hypothesis import settings

# A shared machine may stop a test for longer than any example takes.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")
