"""Hopweave's own: one call settles a question or plans it, and only what is missing is asked.

`reasoner` has the options and the course of a question, `execution` carries out the plan, and `small_model` has the
course with a small model.
"""

from core.ports.reasoning import Reasoner
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner
from reasoning.strategies.auto.reasoner import Auto, Config

__all__ = ["NEEDS_MODEL", "Config", "build"]

NEEDS_MODEL = True


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return SessionReasoner("auto", backends, config.searcher, Auto(config, backends).solve)
