"""Reasoning: from a question and ranked chunks to a cited answer. The reasoners are the modules of `strategies`."""

from reasoning.conversation import restate
from reasoning.engine.backends import ReasoningBackends

__all__ = ["REASONERS", "ReasoningBackends", "restate"]

REASONERS = "reasoning.strategies"
"""The package in which `core.strategies` looks for reasoners."""
