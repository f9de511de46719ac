"""One retrieval with the question, one answer after a chain of thought."""

from pydantic import Field

from core.ports.reasoning import Reasoner
from core.ports.retrieval import MAX_K
from core.strategies import StrategyConfig
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner
from reasoning.strategies.vanilla import Vanilla

NEEDS_MODEL = True
SOURCE = "arXiv 2201.11903"


class Config(StrategyConfig):
    """What is retrieved."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    k: int = Field(default=10, ge=1, le=MAX_K, description="Passages; the request's `k` takes precedence.")


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return SessionReasoner("cot", backends, config.searcher, Vanilla(config.k, thinking=True).solve)
