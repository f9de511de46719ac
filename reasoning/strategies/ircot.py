"""IRCoT: alternates one sentence of a chain of thought and a retrieval with it, then answers from all passages."""

from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Reasoner
from core.ports.retrieval import MAX_K, Hit
from core.strategies import StrategyConfig
from reasoning.actions.answers.conclude import conclude
from reasoning.actions.answers.next_sentence import ends_thinking, next_sentence
from reasoning.engine.answers import answer_from_conclusion, fill_step
from reasoning.engine.backends import ReasoningBackends
from reasoning.engine.reasoner import SessionReasoner
from reasoning.engine.session import Session

__all__ = ["NEEDS_MODEL", "SOURCE", "Config", "Ircot", "build"]

NEEDS_MODEL = True
SOURCE = "arXiv 2212.10509"
_LAST = "answer"


class Config(StrategyConfig):
    """How much is retrieved with each sentence, and when the chain of thought ends."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    k: int = Field(
        default=4,
        ge=1,
        le=MAX_K,
        description="Passages a retrieval (the paper: 2, 4, 6 or 8); the request's `k` takes precedence.",
    )
    max_passages: int = Field(default=15, ge=1, le=MAX_K, description="At most this many passages are collected.")
    max_sentences: int = Field(default=8, ge=1, le=50, description="At most this many sentences are thought.")
    reader: Literal["cot", "direct"] = Field(
        default="cot", description="Whether the last call thinks again before it answers, or answers at once."
    )


class Ircot:
    """The chain of thought only steers retrieval: the answer is written from question and passages, as in the paper."""

    def __init__(self, config: Config) -> None:
        self._config = config

    async def solve(self, session: Session) -> Answer:
        session.plan([PlannedStep(id=_LAST, question=session.question.text)])
        passages: dict[str, Hit] = {}
        thoughts: list[str] = []
        query = session.question.text
        while query and len(thoughts) < self._config.max_sentences:
            sentence = await self._think(session, query, thoughts, passages)
            if sentence in thoughts:
                session.trace.note("ircot: the chain of thought went in circles and was ended")
                break
            thoughts.append(sentence)
            query = "" if ends_thinking(sentence) else sentence
        else:
            if query:
                session.trace.note(
                    f"ircot: {len(thoughts)} sentences did not lead to an answer; answered from what was found"
                )
        return await self._read(session, tuple(passages.values()))

    async def _think(self, session: Session, query: str, thoughts: list[str], passages: dict[str, Hit]) -> str:
        """Retrieves with the last sentence (at first the question) while there is room, and returns the next one."""
        id, depth = str(len(thoughts) + 1), len(thoughts)
        parents = (str(depth),) if thoughts else ()
        async with session.step(id, query, parents=parents, depth=depth) as step:
            session.plan([PlannedStep(id=id, question=query, parents=parents, depth=depth)])
            room = self._config.max_passages - len(passages)
            if room > 0:
                k = session.question.k or self._config.k
                hits = await session.search(query, k, step=id, private=bool(thoughts))
                new = [hit for hit in hits if hit.chunk.id not in passages]
                passages.update((hit.chunk.id, hit) for hit in new[:room])
            shown = tuple(passages.values())
            step.answer = await next_sentence(session, session.question.text, thoughts, shown, step=id)
        return step.answer

    async def _read(self, session: Session, passages: tuple[Hit, ...]) -> Answer:
        question = session.question.text
        thoughts = [id for id in session.steps if id != _LAST]
        async with session.step(_LAST, question, parents=tuple(thoughts[-1:]), depth=len(thoughts)) as step:
            thinking = self._config.reader == "cot"
            conclusion = await conclude(session, question, passages, thinking=thinking, step=_LAST)
            fill_step(step, conclusion)
        return answer_from_conclusion(session, conclusion)


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return SessionReasoner("ircot", backends, config.searcher, Ircot(config).solve)
