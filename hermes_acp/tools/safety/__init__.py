"""What is safe to do unasked: command lines are read, judged part by part, and written again as they were judged."""
