"""Models behind APIs, and providers made of providers."""
