"""The ShareGPT form of a conversation: how it is written, and how a file of it is checked."""
