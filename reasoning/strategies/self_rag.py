"""Self-RAG by prompts: retrieve on demand, answer from each passage, criticise every answer, keep the best."""

import time
from typing import Literal

from pydantic import Field

from core.ports.reasoning import Answer, Question, Reasoner, Step
from core.ports.retrieval import MAX_K
from core.strategies import StrategyConfig
from core.trace import Trace
from reasoning.engine.backends import Backends
from reasoning.engine.running import abstention, finished, run
from reasoning.engine.session import Session
from reasoning.plans.step_answers import answer_of_step
from reasoning.shared.self_reflection import Reflection, solve

__all__ = ["NEEDS_MODEL", "SOURCE", "Config", "SelfRag", "build"]

NEEDS_MODEL = True
SOURCE = "arXiv 2310.11511"
_NAME = "self_rag"


class Config(StrategyConfig):
    """When to retrieve, how many candidates, and what counts in choosing among them (the paper's section 3.3)."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's.")
    k: int = Field(default=5, ge=1, le=MAX_K, description="Passages; the request's `k` goes before it.")
    candidates: int = Field(default=5, ge=1, le=20, description="So many of the best passages get an answer each.")
    retrieve: Literal["adaptive", "always", "never"] = Field(
        default="adaptive", description="`adaptive`: the model decides whether the question has to be looked up."
    )
    relevance_weight: float = Field(default=1.0, ge=0, description="Weight of the passage's relevance (0 or 1).")
    support_weight: float = Field(default=1.0, ge=0, description="Weight of the support for the answer (0, .5 or 1).")
    usefulness_weight: float = Field(default=0.5, ge=0, description="Weight of the answer's usefulness (-1 to 1).")


class SelfRag:
    """Prompts in place of the paper's reflection tokens; one segment an answer, as the paper does for short answers."""

    def __init__(self, config: Config, backends: Backends) -> None:
        self._config = config
        self._models = backends.chat(_NAME)
        self._searcher = backends.named_searcher(config.searcher)

    async def answer(self, question: Question, trace: Trace) -> Answer:
        return await run(_NAME, question, trace, self._models, self._searcher, self._answer)

    async def _answer(self, session: Session) -> Answer:
        began = time.perf_counter()
        question = session.question
        said = await solve(session, question.text, self._reflection(question.k), step="1", private=False)
        step = Step(
            id="1",
            question=question.text,
            hits=session.found("1"),
            answer=said.text,
            verdict="" if said.sufficient else "insufficient",
            quotes=said.quotes,
            seconds=time.perf_counter() - began,
            tokens=session.tokens_of("1"),
        )
        session.answered(step)
        shown = tuple(f"{hit.document.title}\n{hit.chunk.text}" for hit in said.shown)
        if not said.sufficient:
            return abstention(_NAME, session, shown=shown)
        if not said.quotes:
            return finished(_NAME, session, said.text, shown=shown)
        return answer_of_step(_NAME, session, step)

    def _reflection(self, k: int | None) -> Reflection:
        config = self._config
        return Reflection(
            k=k or config.k,
            candidates=config.candidates,
            retrieve=config.retrieve,
            relevance_weight=config.relevance_weight,
            support_weight=config.support_weight,
            usefulness_weight=config.usefulness_weight,
        )


def build(config: Config, backends: Backends) -> Reasoner:
    return SelfRag(config, backends)
