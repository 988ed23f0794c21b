"""What is safe to do unasked: pure judgements, no I/O."""
