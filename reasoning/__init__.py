"""Reasoning: from a question and ranked chunks to a cited answer. The reasoners are the modules of `strategies`."""

from reasoning.actions.queries.restate_question import restate
from reasoning.engine.reasoner import ReasoningBackends

__all__ = ["REASONERS", "ReasoningBackends", "restate"]

REASONERS = "reasoning.strategies"
"""The package in which `core.strategies` looks for reasoners."""
