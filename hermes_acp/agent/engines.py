"""The context engine that the settings name."""

from __future__ import annotations

from importlib import import_module

from hermes_acp.agent.context_compressor import ContextCompressor
from hermes_acp.agent.context_engine import ContextEngine, WholeHistory
from hermes_acp.config import Config
from hermes_acp.errors import ConfigError


def context_engine(config: Config) -> ContextEngine:
    """The engine of `context.engine`.

    Raises:
        ConfigError: a class of one's own cannot be found, or is none.
    """
    match config.context.engine:
        case "compressor":
            parts = config.compression
            return ContextCompressor(parts.threshold, parts.auto_threshold, parts.protect_last_n)
        case "whole":
            return WholeHistory()
        case name:
            return _own(name)


def _own(name: str) -> ContextEngine:
    module, _, attribute = name.partition(":")
    try:
        engine = getattr(import_module(module), attribute)()
    except Exception as error:
        raise ConfigError(f"context.engine: {name} cannot be used: {error}") from error
    if not isinstance(engine, ContextEngine):
        raise ConfigError(f"context.engine: {name} is no ContextEngine")
    return engine
