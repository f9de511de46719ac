"""LevelRAG: a high-level searcher plans what to look up; low-level searchers rewrite queries for their indexes.

`reasoner` has the options and the course of a question, `exploration` the rounds of the high-level searcher. The
low-level searchers are in `low_level` and, for keyword queries, in `sparse`.
"""

from core.ports.reasoning import Reasoner
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner
from reasoning.strategies.level.reasoner import Config, LevelRag

__all__ = ["NEEDS_MODEL", "SOURCE", "Config", "build"]

NEEDS_MODEL = True
SOURCE = "arXiv 2502.18139"


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    level = LevelRag(config, backends)
    return SessionReasoner("level", backends, "", level.solve, memory=config.memory, uses=level.searchers)
