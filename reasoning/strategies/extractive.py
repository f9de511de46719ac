"""No model: quotes and cites the best sentences of the best passages; abstains if no passage is near the question.

An answer is `stated` if one quoted sentence has all words of the question; else it is `inferred`, since the sentences
may be about something else.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from core.corpora import NO_EMBEDDING
from core.documents import Span
from core.events import AnswerEvent, SearchEvent, StepEvent
from core.ports.reasoning import Answer, Citation, Question, Quote, Reasoner, Step, Support, Unsupported
from core.ports.retrieval import Hit, Query
from core.strategies import StrategyConfig
from core.text.sentences import split_sentences
from core.trace import Trace
from reasoning.citations.markers import make_citation
from reasoning.citations.quotes import passage_text
from reasoning.engine.backends import ReasoningBackends
from reasoning.shared.passage_similarity import find_similarity
from reasoning.shared.question_words import find_missing_words

__all__ = ["Config", "Extractive", "build"]

_PASSAGES = 5
_WORD = re.compile(r"\w+")
_ABSTENTION = "Nothing in this corpus is near enough to the question to be quoted."
_NOT_STATED = "No sentence that was found states the answer."
_LABEL = "Extractive: this answer only quotes sentences; no language model wrote it."
_INFERRED = "No quoted sentence has all words of the question (the nearest lacks {}), so perhaps none answers it."
_UNREAD = (
    "the conversation before the question was not read: `extractive` asks no language model; ask a question that can "
    "be understood alone"
)
_SHOWN_WORDS = 5


class Config(StrategyConfig):
    """How many sentences are quoted, and how near the question a passage has to be."""

    sentences: int = Field(default=3, ge=1, le=20, description="At most this many sentences are quoted.")
    min_similarity: float = Field(
        default=0.42,
        ge=-1,
        le=1,
        description="Abstains if no passage has this cosine with the question; `calibrate-extractive` finds it.",
    )
    overlap_weight: float = Field(
        default=0.5, ge=0, le=1000, description="Weight of the share of the question's words that the sentence holds."
    )
    rank_weight: float = Field(default=0.1, ge=0, le=1000, description="Weight of the passage's rank among the hits.")


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A sentence of a hit; `score` ranks the candidates."""

    hit: Hit
    rank: int
    span: Span
    text: str
    score: float


@dataclass(frozen=True, kw_only=True)
class _Conclusion:
    """The quoted sentences with their markers, or '' and why there are none (`abstention`)."""

    text: str = ""
    citations: tuple[Citation, ...] = ()
    support: Support = Support.NONE
    note: str = ""
    abstention: str = _ABSTENTION


class Extractive:
    """Quotes sentences and never paraphrases, so that every word of the answer is in a passage."""

    def __init__(self, config: Config, backends: ReasoningBackends) -> None:
        self._config = config
        self._backends = backends

    async def answer(self, question: Question, trace: Trace) -> Answer:
        began = time.monotonic()
        query = Query(
            corpus=question.corpus,
            text=question.text,
            k=question.k or _PASSAGES,
            documents=question.documents,
            parts=question.parts,
            web=question.web,
            masked=question.masked,
            private=False,
        )
        hits = (await self._backends.searcher.search(query, trace)).hits
        trace.emit(SearchEvent(query=question.text, searcher=self._backends.searcher_name, hits=hits, step="1"))
        if question.history:
            trace.note(_UNREAD)
        with trace.timed("quote"):
            chosen = self._choose(await self._candidates(question.text, hits))
        conclusion = _conclude(question, chosen)
        text, support = conclusion.text, conclusion.support
        seconds = time.monotonic() - began
        step = Step(id="1", question=question.text, hits=hits, answer=text, support=support, seconds=seconds)
        trace.emit(StepEvent(result=step))
        answer = Answer(
            text=text or conclusion.abstention,
            reasoner="extractive",
            citations=conclusion.citations,
            steps=(step,),
            abstained=not text,
            support=support,
            note=conclusion.note,
            shown=tuple(passage_text(hit) for hit in hits),
        )
        trace.emit(AnswerEvent(answer=answer))
        return answer

    async def _candidates(self, question: str, hits: tuple[Hit, ...]) -> list[_Candidate]:
        """Returns the sentences of the hits; none if no hit is near enough to the question."""
        cut = [
            (rank, hit, start, end) for rank, hit in enumerate(hits) for start, end in _sentence_spans(hit.chunk.text)
        ]
        if not cut:
            return []
        texts = [hit.chunk.text[start:end] for _, hit, start, end in cut]
        words = _words(question)
        cosines = await self._compare(question, texts, hits)
        if cosines is None:
            return []
        candidates = []
        for (rank, hit, start, end), text, cosine in zip(cut, texts, np.asarray(cosines, dtype=float), strict=True):
            overlap = len(words & _words(text)) / len(words) if words else 0.0
            if not (overlap or self._embeds):
                continue
            place = 1.0 / (1 + rank)
            score = float(cosine) + self._config.overlap_weight * overlap + self._config.rank_weight * place
            candidates.append(_Candidate(hit=hit, rank=rank, span=Span(start=start, end=end), text=text, score=score))
        return candidates

    @property
    def _embeds(self) -> bool:
        return self._backends.embedder.model != NO_EMBEDDING

    async def _compare(self, question: str, texts: Sequence[str], hits: tuple[Hit, ...]) -> NDArray[np.float32] | None:
        """Returns the cosine of each sentence with the question; None if no hit is near enough to it.

        All are 0 in a corpus without vectors: there, the words of the question choose the sentences.
        """
        embedder = self._backends.embedder
        if not self._embeds:
            return np.zeros(len(texts), np.float32)
        vector = await embedder.embed_query(question)
        if await find_similarity(embedder, vector, hits) < self._config.min_similarity:
            return None
        cosines: NDArray[np.float32] = await embedder.embed_passages(texts) @ vector
        return cosines

    def _choose(self, candidates: list[_Candidate]) -> list[_Candidate]:
        """Returns the best sentences in the order of their passages; equal sentences count once."""
        best: dict[str, _Candidate] = {}
        for candidate in sorted(candidates, key=lambda c: (-c.score, c.rank, c.span.start)):
            if len(best) < self._config.sentences:
                best.setdefault(candidate.text.casefold(), candidate)
        return sorted(best.values(), key=lambda c: (c.rank, c.span.start))


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return Extractive(config, backends)


def _sentence_spans(text: str) -> list[tuple[int, int]]:
    """Returns the spans of the sentences, without the white space around them."""
    found = []
    for start, end in split_sentences(text):
        stripped = text[start:end].strip()
        begin = text.index(stripped, start)
        found.append((begin, begin + len(stripped)))
    return found


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text.casefold()) if len(word) > 2 or not word.isascii())


def _conclude(question: Question, chosen: list[_Candidate]) -> _Conclusion:
    """Returns the answer of the chosen sentences, and what it stands on; nothing if the request wants only what is
    stated, and they do not state it.
    """
    if not chosen:
        return _Conclusion()
    found = (find_missing_words(question.text, one.text, one.hit.document.title) for one in chosen)
    missing = min(found, key=len)
    text, citations = _cite(chosen)
    if not missing:
        return _Conclusion(text=text, citations=citations, support=Support.STATED, note=_LABEL)
    shown = ", ".join(f"“{word}”" for word in missing[:_SHOWN_WORDS]) + (", …" if len(missing) > _SHOWN_WORDS else "")
    if question.unsupported is Unsupported.ABSTAIN:
        return _Conclusion(abstention=_NOT_STATED, note=f"The nearest sentence lacks: {shown}.")
    note = f"{_LABEL} {_INFERRED.format(shown)}"
    return _Conclusion(text=text, citations=citations, support=Support.INFERRED, note=note)


def _cite(chosen: list[_Candidate]) -> tuple[str, tuple[Citation, ...]]:
    """Joins the sentences, each followed by the marker of its passage, with one citation for each sentence."""
    markers = {id: n for n, id in enumerate(dict.fromkeys(c.hit.chunk.id for c in chosen), start=1)}
    text = ""
    citations = []
    for candidate in chosen:
        marker = markers[candidate.hit.chunk.id]
        start = len(text) + bool(text)
        text += f"{' ' if text else ''}{candidate.text}"
        citations.append(
            make_citation(
                marker,
                Quote(hit=candidate.hit, text=candidate.text, span=candidate.span),
                Span(start=start, end=len(text)),
            )
        )
        text += f" [{marker}]"
    return text, tuple(citations)
