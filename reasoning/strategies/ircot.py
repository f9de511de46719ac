"""IRCoT: alternates one sentence of a chain of thought and a retrieval with it, then answers from all passages."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Reasoner
from core.ports.retrieval import MAX_K, Hit
from core.strategies import StrategyConfig, preset_field
from reasoning.actions.answers.conclude import conclude
from reasoning.actions.answers.thoughts import Search, Sentence, next_plain_sentence, next_sentence
from reasoning.engine.answers import answer_from_conclusion, fill_step
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner, memory_field
from reasoning.engine.session import Session
from reasoning.shared.wording import query_key

NEEDS_MODEL = True
SOURCE = "arXiv 2212.10509"
_LAST = "answer"
_ANSWERED = "answered"
_MAX_IN_VAIN = 2
"""Searches for needs in a row that bring nothing new, after which the chain ends."""


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
    needs: bool = Field(
        default=True,
        description="A sentence may say what has to be found: it is searched for and not kept, each call is told what "
        "was searched for and what the last search brought, and the chain ends after two such searches in vain, or "
        "when it repeats itself. false: every sentence is kept and searched with, until one says `answer is`, as in "
        "the paper.",
    )
    memory: bool = memory_field()
    preset: Literal["", "paper"] = preset_field(
        paper={
            "searcher": "sparse",
            "k": 4,
            "max_passages": 15,
            "max_sentences": 8,
            "reader": "cot",
            "needs": False,
            "memory": True,
        }
    )


@dataclass
class _Chain:
    """The chain of thought so far. `query` is searched for next: the question, or the last sentence.

    `facts` are its sentences except the needs, which no passage states; `searches` are the searches for needs.
    `brought` is the number of passages of the last search; None if it was not made. `end` says why the chain has
    ended; '' while it has not.
    """

    query: str
    facts: list[Sentence] = field(default_factory=list)
    searches: list[Search] = field(default_factory=list)
    passages: dict[str, Hit] = field(default_factory=dict)
    brought: int | None = None
    length: int = 0
    end: str = ""
    _needs: bool = False
    _in_vain: int = 0

    def add_passages(self, hits: Sequence[Hit], *, searched: bool) -> None:
        """Adds new hits. Ends the chain after successive searches for needs that brought nothing."""
        self.passages.update((hit.chunk.id, hit) for hit in hits)
        self.brought = len(hits) if searched else None
        if not self._needs:
            return
        if searched:
            self.searches.append(Search(query=self.query, new=len(hits)))
        self._in_vain = 0 if hits else self._in_vain + 1
        if self._in_vain == _MAX_IN_VAIN:
            self.end = f"{self._in_vain} searches in a row for what is missing found nothing new"

    def add_sentence(self, sentence: Sentence) -> None:
        """Adds a sentence, unless it is there already, and ends the chain with the answer."""
        earlier = (*(thought.text for thought in self.facts), *(search.query for search in self.searches), self.query)
        known = set(map(query_key, earlier))
        self.length += 1
        self._needs = sentence.kind == "need"
        if sentence.kind == "answer" or not sentence.text:
            self.end = _ANSWERED
        elif query_key(sentence.text) in known:
            self.end = "the chain of thought went in circles"
        elif sentence.kind == "fact":
            self._in_vain = 0
            self.facts.append(sentence)
        self.query = sentence.text

    def add_plain_sentence(self, sentence: Sentence) -> None:
        """Adds a sentence, whatever it says, and ends the chain with the answer."""
        self.length += 1
        self.facts.append(sentence)
        self.query = sentence.text
        if sentence.kind == "answer":
            self.end = _ANSWERED


class Ircot:
    """The chain of thought only steers retrieval: the answer is written from question and passages, as in the paper."""

    def __init__(self, config: Config) -> None:
        self._config = config

    async def solve(self, session: Session) -> Answer:
        session.plan([PlannedStep(id=_LAST, question=session.question.text)])
        chain = _Chain(query=session.question.text)
        while not chain.end and chain.length < self._config.max_sentences:
            await self._think(session, chain)
        end = chain.end or f"{chain.length} sentences did not lead to an answer"
        if end != _ANSWERED:
            session.trace.note(f"ircot: {end}; answered from what was found")
        return await self._read(session, tuple(chain.passages.values()))

    async def _think(self, session: Session, chain: _Chain) -> None:
        """Retrieves with the last sentence (at first the question) while there is room, and adds the next sentence."""
        id, query, depth = str(chain.length + 1), chain.query, chain.length
        parents = (str(depth),) if depth else ()
        async with session.step(id, query, parents=parents, depth=depth) as step:
            session.plan([PlannedStep(id=id, question=query, parents=parents, depth=depth)])
            room = self._config.max_passages - len(chain.passages)
            hits: tuple[Hit, ...] = ()
            if room > 0:
                k = session.question.k or self._config.k
                hits = await session.search(query, k, step=id, private=None if depth else False)
            new = [hit for hit in hits if hit.chunk.id not in chain.passages]
            chain.add_passages(new[:room], searched=room > 0)
            if chain.end:
                return
            sentence = await self._write(session, chain, step=id)
            step.answer = "" if sentence.kind == "need" else sentence.text
            step.support, step.unstated, step.quotes = sentence.support, sentence.unstated, sentence.quotes

    async def _write(self, session: Session, chain: _Chain, *, step: str) -> Sentence:
        question, shown = session.question.text, tuple(chain.passages.values())
        if self._config.needs:
            sentence = await next_sentence(
                session, question, chain.facts, chain.searches, shown, brought=chain.brought, step=step
            )
            chain.add_sentence(sentence)
        else:
            sentence = await next_plain_sentence(session, question, chain.facts, shown, step=step)
            chain.add_plain_sentence(sentence)
        return sentence

    async def _read(self, session: Session, passages: tuple[Hit, ...]) -> Answer:
        question = session.question.text
        thoughts = [id for id in session.steps if id != _LAST]
        async with session.step(_LAST, question, parents=tuple(thoughts[-1:]), depth=len(thoughts)) as step:
            thinking = self._config.reader == "cot"
            conclusion = await conclude(session, question, passages, thinking=thinking, step=_LAST)
            fill_step(step, conclusion)
        return answer_from_conclusion(session, conclusion)


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return SessionReasoner("ircot", backends, config.searcher, Ircot(config).solve, memory=config.memory)
