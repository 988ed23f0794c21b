"""A headless editor that shows the agent at work; imports no other part of the package."""
