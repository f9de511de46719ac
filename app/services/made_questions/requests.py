"""Made questions for callers of the server: `make_for_caller` makes them, `measure_searchers` asks searchers with them.

Nothing is stored: a question quotes documents, and whoever has it keeps it (decision 0097). A question whose documents
the caller does not see any more is not asked.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.container import Container
from app.services.made_questions.making import MadeQuestions, make_questions
from app.services.made_questions.material import read_material
from app.services.made_questions.questions import KINDS, Kind, SupportedQuestion
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.errors import Conflict, InvalidInput, LoadFailed
from core.execution.limits import WorkLimit
from core.execution.threads import call_in_thread
from core.ids import document_id
from core.ports.retrieval import check_searched
from core.strategies import StrategySpec
from core.trace import Trace
from core.validity.register import EVERYTHING_IN_FORCE
from retrieval.supports import all_recall, collapse_hits, match_supports, recall, reciprocal_rank

MOST_MADE = 500
"""Questions of one request."""

MOST_PASSAGES = 10_000
"""Passages of a corpus of which a request makes questions."""

MOST_SECONDS = 60.0
"""Of the processor, for the questions of a request."""

MOST_ASKED = 100
MOST_SEARCHERS = 5
MOST_SUPPORTS = 20
"""Of one measurement: questions, searchers, and supports of a question."""

_PLACES = 10
_CHUNKS_PER_PLACE = 3
"""Chunks of a search for each document that is counted, as in `evaluation.experiment`."""


async def make_for_caller(
    container: Container, corpus: Corpus, *, count: int, seed: int, kinds: Sequence[Kind] = KINDS
) -> MadeQuestions:
    """Returns questions of the documents that the caller sees. One request of a process works at a time.

    Raises `InvalidInput` for a corpus of more than `MOST_PASSAGES` passages, if no question can be made, and after
    `MOST_SECONDS`, and `Conflict` if a document of a question was taken from the caller, or deleted, meanwhile.
    """
    limit = WorkLimit(corpus.name, MOST_SECONDS, "")

    def work() -> MadeQuestions:
        with limit.running():
            return make_questions(material, count, seed, kinds)

    await container.making.acquire(container.caller)
    try:
        material = await read_material(container, corpus, seed, most=MOST_PASSAGES)
        working = asyncio.ensure_future(call_in_thread(work))
        try:
            made = await asyncio.shield(working)
        finally:
            limit.end()  # if the request is cancelled, nobody waits; the thread keeps the slot until its next check
            await asyncio.wait({working})
    except LoadFailed as error:
        raise InvalidInput(
            f"the questions of {corpus.name!r} take more than {MOST_SECONDS:g} s of the processor, too long for a "
            f"request; name fewer kinds, or on the machine of the server, run: hopweave questions make FOLDER "
            f"--corpus {corpus.name}"
        ) from error
    finally:
        container.making.release()
    await _check_there(container, corpus, made)
    return made


async def _check_there(container: Container, corpus: Corpus, made: MadeQuestions) -> None:
    """Raises `Conflict` if the caller does not see a document any more that a question quotes or is about."""
    ids = {document_id(key) for question in made.questions for key in question.keys}
    if ids - (await container.record.documents.get_refs(corpus.id, ids)).keys():
        raise Conflict("a document was taken from this key, or deleted, while questions were made of it: ask again")


@dataclass(frozen=True, kw_only=True)
class SearcherScores:
    """Means over the questions that were asked, from 0 to 1: `recall@2`, `@5`, `@10`, `all_recall@5`, `mrr`."""

    searcher: str
    scores: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """How well searchers find the supports of `asked` questions in the corpus of this generation.

    `gone` are the ids of the questions that were not asked: a supporting document is not there any more, or the caller
    does not see it.
    """

    generation: int
    asked: int
    gone: tuple[str, ...]
    searchers: tuple[SearcherScores, ...]


async def measure_searchers(
    container: Container,
    corpus: Corpus,
    questions: Sequence[SupportedQuestion],
    searchers: Mapping[str, StrategySpec],
    trace: Trace,
) -> Measurement:
    """Asks each question by each searcher, one after another; the budget of `trace` is for all of them together.

    Questions are asked of all documents, in force or not, since they are made of all. Raises what a search raises.
    """
    if not searchers:
        raise InvalidInput("no searcher is named; name at least one")
    for spec in searchers.values():
        await check_searched(container.searcher(spec), corpus)
    ids = {document_id(support.key) for question in questions for support in question.supporting}
    seen = await container.record.documents.get_refs(corpus.id, ids)
    gone = [
        question.id
        for question in questions
        if any(document_id(support.key) not in seen for support in question.supporting)
    ]
    asked = [question for question in questions if question.id not in gone]
    return Measurement(
        generation=corpus.generation,
        asked=len(asked),
        gone=tuple(gone),
        searchers=tuple(
            [
                SearcherScores(searcher=name, scores=await _measure(container, corpus, asked, spec, trace))
                for name, spec in searchers.items()
            ]
        ),
    )


async def _measure(
    container: Container, corpus: Corpus, questions: Sequence[SupportedQuestion], spec: StrategySpec, trace: Trace
) -> Mapping[str, float]:
    """Returns the mean of each measure; no measure without a question."""
    rows = [await _score(container, corpus, question, spec, trace) for question in questions]
    return {name: sum(row[name] for row in rows) / len(rows) for name in (rows[0] if rows else ())}


async def _score(
    container: Container, corpus: Corpus, question: SupportedQuestion, spec: StrategySpec, trace: Trace
) -> Mapping[str, float]:
    k = min(_CHUNKS_PER_PLACE * _PLACES, container.limits.k or _CHUNKS_PER_PLACE * _PLACES)
    request = SearchRequest(query=question.text, searcher=spec, k=k, as_of=EVERYTHING_IN_FORCE)
    result = await search(container, corpus, request, trace)
    shown = match_supports(collapse_hits(result.hits, question.supporting)[:_PLACES], question.supporting)
    return {
        **{f"recall@{places}": recall(shown, question.supporting, places) for places in (2, 5, 10)},
        "all_recall@5": all_recall(shown, question.supporting, 5),
        "mrr": reciprocal_rank(shown),
    }
