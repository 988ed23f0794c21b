"""hermes-acp: a coding agent that lives in editors and speaks the Agent Client Protocol."""

__version__ = "0.1.0"
