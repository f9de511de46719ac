"""Self-RAG by prompts: retrieves on demand, answers from each passage, criticizes each answer, and keeps the best."""

from typing import Literal

from pydantic import Field

from core.ports.reasoning import Answer, Reasoner
from core.ports.retrieval import MAX_K
from core.strategies import StrategyConfig, preset_field
from reasoning.actions.answers.answer import fill_step
from reasoning.citations.quotes import passage_text
from reasoning.engine.answers import abstain, answer_from_step, make_answer
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner, memory_field
from reasoning.engine.session import Session
from reasoning.shared.self_reflection import ReflectionSettings, answer_with_reflection

NEEDS_MODEL = True
SOURCE = "arXiv 2310.11511"


class Config(StrategyConfig):
    """When to retrieve, how many candidates, and how they are weighted (the paper's section 3.3)."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    k: int = Field(default=5, ge=1, le=MAX_K, description="Passages; the request's `k` takes precedence.")
    candidates: int = Field(default=5, ge=1, le=20, description="This many of the best passages get an answer each.")
    retrieve: Literal["adaptive", "always", "never"] = Field(
        default="adaptive", description="`adaptive`: the model decides whether the question has to be looked up."
    )
    together: bool = Field(
        default=True,
        description="Read all passages together if none alone states the answer, as in a comparison; false: the paper.",
    )
    own_grade: bool = Field(
        default=True,
        description="What a candidate says of its own support bounds the critique's score of it; false: the critique "
        "alone counts, as in the paper.",
    )
    relevance_weight: float = Field(
        default=1.0, ge=0, le=1000, description="Weight of the passage's relevance (0 or 1)."
    )
    support_weight: float = Field(
        default=1.0, ge=0, le=1000, description="Weight of the support for the answer (0, .5 or 1)."
    )
    usefulness_weight: float = Field(
        default=0.5, ge=0, le=1000, description="Weight of the answer's usefulness (-1 to 1)."
    )
    memory: bool = memory_field()
    preset: Literal["", "paper"] = preset_field(
        paper={
            "searcher": "dense",
            "k": 5,
            "candidates": 5,
            "retrieve": "adaptive",
            "together": False,
            "own_grade": False,
            "relevance_weight": 1.0,
            "support_weight": 1.0,
            "usefulness_weight": 0.5,
            "memory": True,
        }
    )


class SelfRag:
    """Prompts replace the paper's reflection tokens. An answer is one segment, as the paper does for short answers."""

    def __init__(self, config: Config) -> None:
        self._config = config

    async def solve(self, session: Session) -> Answer:
        question = session.question
        async with session.step("1", question.text) as step:
            settings = self._settings(question.k)
            answer = await answer_with_reflection(session, question.text, settings, step="1", private=False)
            fill_step(step, answer)
        shown = tuple(passage_text(hit) for hit in answer.shown)
        if not answer.found:
            return abstain(session, shown=shown, unstated=answer.unstated)
        if not answer.quotes:
            return make_answer(session, answer.text, answer.support, unstated=answer.unstated, shown=shown)
        return answer_from_step(session, session.steps["1"])

    def _settings(self, k: int | None) -> ReflectionSettings:
        config = self._config
        return ReflectionSettings(
            k=k or config.k,
            candidates=config.candidates,
            retrieve=config.retrieve,
            together=config.together,
            own_grade=config.own_grade,
            relevance_weight=config.relevance_weight,
            support_weight=config.support_weight,
            usefulness_weight=config.usefulness_weight,
        )


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return SessionReasoner("self_rag", backends, config.searcher, SelfRag(config).solve, memory=config.memory)
