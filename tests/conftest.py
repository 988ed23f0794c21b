"""What holds for all tests."""

import signal

from hypothesis import settings

# A shared machine may stop a test for longer than any example takes.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")

# In the background of a shell Ctrl-C is ignored, and every child would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
