"""What several conversations with a whole agent start from."""

from tests.support.reserves import configure, reserve

__all__ = ["configure", "reserve"]
