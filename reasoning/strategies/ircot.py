"""IRCoT: one sentence of a chain of thought and one retrieval with it in turn, then an answer from all of it."""

import time
from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Question, Reasoner, Step
from core.ports.retrieval import MAX_K, Hit
from core.strategies import StrategyConfig
from core.trace import Trace
from reasoning.actions.answers.conclude import conclude
from reasoning.actions.answers.next_sentence import ends_thinking, next_sentence
from reasoning.engine.backends import Backends
from reasoning.engine.running import abstention, finished, run
from reasoning.engine.session import Session

__all__ = ["NEEDS_MODEL", "SOURCE", "Config", "Ircot", "build"]

NEEDS_MODEL = True
SOURCE = "arXiv 2212.10509"
_NAME = "ircot"
_LAST = "answer"


class Config(StrategyConfig):
    """How much is retrieved with each sentence, and when it ends."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's.")
    k: int = Field(
        default=4, ge=1, le=MAX_K, description="Passages a retrieval (the paper: 2, 4, 6 or 8); the request's `k` wins."
    )
    max_passages: int = Field(default=15, ge=1, le=MAX_K, description="So many passages are collected at most.")
    max_sentences: int = Field(default=8, ge=1, le=50, description="So many sentences are thought at most.")
    reader: Literal["cot", "direct"] = Field(
        default="cot", description="Whether the last call thinks again before it answers, or answers at once."
    )


class Ircot:
    """The chain only steers the retrieval: the answer comes from the question and the passages, as in the paper."""

    def __init__(self, config: Config, backends: Backends) -> None:
        self._config = config
        self._models = backends.chat(_NAME)
        self._searcher = backends.named_searcher(config.searcher)

    async def answer(self, question: Question, trace: Trace) -> Answer:
        return await run(_NAME, question, trace, self._models, self._searcher, self._answer)

    async def _answer(self, session: Session) -> Answer:
        session.plan([PlannedStep(id=_LAST, question=session.question.text)])
        passages: dict[str, Hit] = {}
        said: list[str] = []
        query = session.question.text
        while query and len(said) < self._config.max_sentences:
            sentence = await self._step(session, query, said, passages)
            if sentence in said:
                session.trace.note("ircot: the chain of thought went in circles and was ended")
                break
            said.append(sentence)
            query = "" if ends_thinking(sentence) else sentence
        else:
            if query:
                session.trace.note(
                    f"ircot: {len(said)} sentences did not lead to an answer; answered from what was found"
                )
        return await self._read(session, tuple(passages.values()))

    async def _step(self, session: Session, query: str, said: list[str], passages: dict[str, Hit]) -> str:
        """Retrieve with the last sentence (at first the question), unless there is no room; then the next one."""
        began = time.perf_counter()
        id = str(len(said) + 1)
        parents = (str(len(said)),) if said else ()
        session.plan([PlannedStep(id=id, question=query, parents=parents, depth=len(said))])
        room = self._config.max_passages - len(passages)
        if room > 0:
            k = session.question.k or self._config.k
            hits = await session.search(query, k, step=id, private=bool(said))
            new = [hit for hit in hits if hit.chunk.id not in passages]
            passages.update((hit.chunk.id, hit) for hit in new[:room])
        sentence = await next_sentence(session, session.question.text, said, tuple(passages.values()), step=id)
        session.answered(
            Step(
                id=id,
                question=query,
                hits=session.found(id),
                answer=sentence,
                parents=parents,
                depth=len(said),
                seconds=time.perf_counter() - began,
                tokens=session.tokens_of(id),
            )
        )
        return sentence

    async def _read(self, session: Session, passages: tuple[Hit, ...]) -> Answer:
        began = time.perf_counter()
        question = session.question.text
        thinking = self._config.reader == "cot"
        said = await conclude(session, question, passages, thinking=thinking, step=_LAST)
        thoughts = [id for id in session.steps if id != _LAST]
        session.answered(
            Step(
                id=_LAST,
                question=question,
                hits=(),
                answer=said.text,
                parents=tuple(thoughts[-1:]),
                depth=len(thoughts),
                seconds=time.perf_counter() - began,
                tokens=session.tokens_of(_LAST),
            )
        )
        if not said.text:
            return abstention(_NAME, session, shown=said.shown)
        return finished(_NAME, session, said.text, said.citations, said.shown)


def build(config: Config, backends: Backends) -> Reasoner:
    return Ircot(config, backends)
