"""Hopweave's own: one call settles a question or plans it, and only what is missing is asked.

`reasoner` has the course of a question, `execution` carries out the plan, and `node` answers one node of it.
"""

from core.ports.reasoning import Reasoner
from reasoning.engine.backends import ReasoningBackends
from reasoning.engine.reasoner import SessionReasoner
from reasoning.strategies.auto.config import Config
from reasoning.strategies.auto.reasoner import Auto

__all__ = ["NEEDS_MODEL", "Config", "build"]

NEEDS_MODEL = True


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return SessionReasoner("auto", backends, config.searcher, Auto(config).solve)
