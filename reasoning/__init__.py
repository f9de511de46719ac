"""Ranked chunks to an answer. The reasoners are the modules of `reasoning.strategies`."""

from reasoning.engine.backends import Backends

__all__ = ["REASONERS", "Backends"]

REASONERS = "reasoning.strategies"
"""The package that `core.strategies` looks for reasoners in."""
