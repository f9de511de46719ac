"""The reasoner: searches once, reads the hits, and quotes or declines."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from pydantic import Field

from core.corpora import NO_EMBEDDING, Corpus
from core.documents import Span
from core.events import AnswerEvent, SearchEvent, StepEvent
from core.execution.threads import compute
from core.ports.embedding import Embedder
from core.ports.reasoning import Answer, Citation, Question, Quote, Step, Support, Unsupported
from core.ports.retrieval import Fact, Hit, Query, check_searched
from core.strategies import StrategyConfig
from core.text.lead_in import split_lead_in
from core.text.name_spans import find_names
from core.text.shortening import shorten
from core.text.value_kinds import find_digits, find_stems
from core.trace import Trace
from reasoning.citations.held import is_document_named
from reasoning.citations.markers import make_citation
from reasoning.citations.quotes import passage_text
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.shared.fusion import find_cosines
from reasoning.strategies.extractive.asked import READ, Asked, read_question
from reasoning.strategies.extractive.evidence import (
    FEATURES,
    Floats,
    cover_units,
    decide,
    find_other_subjects,
    measure_evidence,
)
from reasoning.strategies.extractive.stated import asks_of_relation, order_by_facts
from reasoning.strategies.extractive.units import Unit, list_units

__all__ = ["OTHER_NUMBER", "PASSAGES", "Config", "Extractive", "Reading", "read_hits"]

PASSAGES = 5
"""Hits that are read unless the question says another number."""
_MOST_HITS = 50
"""Hits that are read, however many are shown."""
_MOST_UNITS = 200
"""Units that are compared, those with most of the question's words."""
_SURE = 0.7
"""If a quote is less probably right, the note says so, and a request that wants only sure answers gets an abstention.

On kinds of material that the weights were not fitted to, half of the answers below are right, and three in four above.
"""
_QUOTED = 3
"""The units that count for the probability that a unit is right, as the weights were fitted."""
OTHER_NUMBER = 0.5
"""The greatest probability of an answer if no quote has a number of the question: bit 3 is not bit 9."""
_IN_UNIT = FEATURES.index("in_unit")
_NEAREST = 3
_LONGEST_NEAREST = 200
_SHOWN_WORDS = 5
_BETWEEN = "\n\n"
"""Rows and list items must not run into each other."""
_LABEL = "Extractive: this answer only quotes its sources; no language model wrote it."
_UNSURE = (
    "{} It is unsure: the estimate that one of the quotes answers the question is {} %{}. Read the passages around "
    "them, ask in their words, or set up a language model."
)
_NOTHING = "No passage was found that answers this."
_DECLINES = "No sentence here surely answers this. Nearest:"
_UNREAD = (
    "the conversation before the question was not read: `extractive` asks no language model; ask a question that can "
    "be understood alone"
)


class Config(StrategyConfig):
    """How many units are quoted, how probable it has to be that the passages answer, and whether facts help."""

    sentences: int = Field(default=3, ge=1, le=20, description="At most this many sentences or rows are quoted.")
    min_probability: float = Field(
        default=0.3,
        ge=0,
        le=1,
        description=(
            "Declines if it is less probable that the passages answer, by words, values and cosines; "
            "`calibrate-extractive` finds it."
        ),
    )
    facts: bool = Field(
        default=True,
        description="Whether a sentence that states the fact that is asked for goes first, if the corpus has facts.",
    )


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The units of the hits with their `features`, the best first.

    `answerable` is the probability that the hits answer the question, and `right` that one of the first three units
    does. `lacking` are words of the question that are neither in these three units nor in the context and sentences
    beside them. `lacks_number` tells whether a number is among these words.
    """

    asked: Asked
    units: tuple[Unit, ...] = ()
    features: Floats = field(default_factory=lambda: np.zeros((0, len(FEATURES))))
    lacking: tuple[str, ...] = ()
    answerable: float = 0.0
    right: float = 0.0
    lacks_number: bool = False

    @property
    def is_found(self) -> bool:
        """Whether words were typed into a search box, and the best unit has all of them: they ask for that place."""
        return not self.asked.is_question and len(self.features) > 0 and self.features[0, _IN_UNIT] >= 1


class Extractive:
    """Quotes sentences and rows and never paraphrases, so that every word of the answer is in a passage."""

    def __init__(self, config: Config, backends: ReasoningBackends) -> None:
        self._config = config
        self._backends = backends

    async def check(self, corpus: Corpus) -> None:
        await check_searched(self._backends.searcher, corpus)

    async def answer(self, question: Question, trace: Trace) -> Answer:
        began = time.monotonic()
        query = Query(
            corpus=question.corpus,
            text=question.text,
            k=question.k or PASSAGES,
            documents=question.documents,
            parts=question.parts,
            web=question.web,
            masked=question.masked,
            private=False,
            facts=self._config.facts and asks_of_relation(question.text),
        )
        found = await self._backends.searcher.search(query, trace)
        hits = found.hits
        trace.emit(SearchEvent(query=question.text, searcher=self._backends.searcher_name, hits=hits, step="1"))
        if question.history:
            trace.note(_UNREAD)
        with trace.timed("quote"):
            reading = await read_hits(self._backends, question.corpus, question.text, hits, found.facts)
        answer = self._conclude(question, hits, reading)
        step = Step(
            id="1",
            question=question.text,
            hits=hits,
            answer="" if answer.abstained else answer.text,
            support=answer.support,
            seconds=time.monotonic() - began,
        )
        trace.emit(StepEvent(result=step))
        answer = replace(answer, steps=(step,))
        trace.emit(AnswerEvent(answer=answer))
        return answer

    def _conclude(self, question: Question, hits: Sequence[Hit], reading: Reading) -> Answer:
        shown = tuple(passage_text(hit) for hit in hits)
        answers = bool(reading.units) and (reading.answerable >= self._config.min_probability or reading.is_found)
        if not answers or (question.unsupported is Unsupported.ABSTAIN and reading.right < _SURE):
            text, citations = _cite(_choose_nearest(reading.units), _DECLINES, _LONGEST_NEAREST)
            return Answer(
                text=text if citations else _NOTHING,
                reasoner="extractive",
                citations=citations,
                abstained=True,
                shown=shown,
            )
        text, citations = _cite(_choose(reading.units, self._config.sentences))
        return Answer(
            text=text,
            reasoner="extractive",
            citations=citations,
            support=Support.QUOTED,
            note=_LABEL if reading.right >= _SURE else _describe_doubt(reading),
            shown=shown,
        )


async def read_hits(
    backends: ReasoningBackends, corpus: Corpus, question: str, hits: Sequence[Hit], facts: Sequence[Fact] = ()
) -> Reading:
    """Returns the units of the hits, the best first, and how probably they answer the question.

    Units that state what the question asks for, by one of the `facts` of the hits, go before the others. The
    probabilities are of the best unit by words.
    """
    hits = hits[:_MOST_HITS]
    question = _drop_lead_in(question, hits)
    asked = read_question(question, await backends.count_passages(corpus, find_stems(question[:READ])))
    units = await compute(list_units, asked, hits, _MOST_UNITS)
    if not units:
        return Reading(asked=asked)
    covered = await compute(cover_units, asked, hits, units)
    has_cosines = backends.embedder.model != NO_EMBEDDING
    if not has_cosines and not covered.anywhere.any():
        return Reading(asked=asked)
    cosines = await _compare(backends.embedder, question, units, hits)
    features = await compute(measure_evidence, asked, units, covered, *cosines)
    last = find_other_subjects(asked, covered, units)
    decision = decide(features, has_cosines=has_cosines, last=last)
    order = list(decision.order)
    if facts:
        stating = await compute(order_by_facts, question, facts, [units[at] for at in order])
        order = [*(order[n] for n in stating), *(at for n, at in enumerate(order) if n not in set(stating))]
    near = covered.beside[order[:_QUOTED]].max(axis=0)
    missing = [word for word, share in zip(asked.words, near, strict=True) if not share and not word.is_kind]
    lacks_number = any(any(map(str.isdigit, word.stem)) for word in missing)
    return Reading(
        asked=asked,
        units=tuple(units[at] for at in order),
        features=features[order],
        lacking=tuple(word.written for word in missing if not word.is_frequent),
        answerable=decision.answerable,
        right=min(decision.right, OTHER_NUMBER) if lacks_number else decision.right,
        lacks_number=lacks_number,
    )


def _drop_lead_in(question: str, hits: Sequence[Hit]) -> str:
    """Returns the question without a lead-in that names the document of the best hit: all of its passages fit the
    lead-in, so its words do not tell which of them answers, nor whether any does. A number that this document does not
    have, such as another version, is not dropped.
    """
    lead_in, asked = split_lead_in(question)
    if not lead_in or not find_names(lead_in) or not hits:
        return question
    text = passage_text(hits[0])
    if find_digits(lead_in) <= find_digits(f"{text}\n{hits[0].document.key}") and is_document_named(lead_in, text):
        return asked
    return question


async def _compare(
    embedder: Embedder, question: str, units: Sequence[Unit], hits: Sequence[Hit]
) -> tuple[Floats, Floats]:
    """Returns the cosines of units and hits with the question; all are 0 in a corpus without vectors."""
    if embedder.model == NO_EMBEDDING:
        return np.zeros(len(units)), np.zeros(len(hits))
    vector = await embedder.embed_query(question)
    of_units = (await embedder.embed_passages([unit.text for unit in units])) @ vector
    return np.asarray(of_units, np.float64), np.array(await find_cosines(embedder, vector, hits))


def _choose(units: Sequence[Unit], most: int) -> list[Unit]:
    """Returns the best units, the best first. A unit that a better unit contains is left out."""
    chosen: list[Unit] = []
    said: list[str] = []
    for unit in units:
        words = " ".join(unit.text.casefold().split())
        if len(chosen) < most and not any(words in earlier for earlier in said):
            chosen.append(unit)
            said.append(words)
    return chosen


def _choose_nearest(units: Sequence[Unit]) -> list[Unit]:
    """Returns the best unit of each of the three best passages."""
    best: dict[int, Unit] = {}
    for unit in units:
        if len(best) < _NEAREST:
            best.setdefault(unit.rank, unit)
    return list(best.values())


def _describe_doubt(reading: Reading) -> str:
    """Returns the note on quotes that may be wrong: the probability that one of them is right, and what they lack."""
    lacking = reading.lacking
    percent = max(10, 10 * round(10 * reading.right))
    shown = ", ".join(f"“{word}”" for word in lacking[:_SHOWN_WORDS]) + (", …" if len(lacking) > _SHOWN_WORDS else "")
    return _UNSURE.format(_LABEL, percent, f"; they lack {shown}" if lacking else "")


def _cite(units: Sequence[Unit], before: str = "", longest: int | None = None) -> tuple[str, tuple[Citation, ...]]:
    """Joins the units, each a paragraph with the marker of its passage, with one citation for each unit.

    The units follow `before`. With `longest`, the text has so many characters of each unit; citations have all.
    """
    markers = {id: n for n, id in enumerate(dict.fromkeys(unit.hit.chunk.id for unit in units), start=1)}
    text = before
    citations = []
    for unit in units:
        marker = markers[unit.hit.chunk.id]
        text += _BETWEEN if text else ""
        start = len(text)
        text += unit.text if longest is None else shorten(unit.text, longest)
        quote = Quote(hit=unit.hit, text=unit.text, span=unit.span)
        citations.append(make_citation(marker, quote, Span(start=start, end=len(text))))
        text += f" [{marker}]"
    return text, tuple(citations)
