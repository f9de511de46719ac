"""Hopweave's own: one call plans, one call answers each step, and only unsure answers are reviewed.

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
    fine = backends.named_searcher(config.fine) if config.fine and config.review else None
    return SessionReasoner("auto", backends, config.searcher, Auto(config, fine).solve)
