"""What the demo provider knows: reading a report of unittest, and general repairs of Python functions."""
