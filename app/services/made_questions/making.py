"""Makes questions with known answers and supports from a corpus: the choice, and what each question must pass.

`make_questions` is the whole way: `kinds.py` has candidates of each kind, `_is_sound` what all of them must pass.

`make_for_caller` makes questions for callers of the server, and `measure_searchers` asks searchers with them. Nothing
is stored: a question quotes documents, and whoever has it keeps it (decision 0097). A question whose documents the
caller does not see any more is not asked.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heapreplace

from app.container import Container
from app.services.made_questions.cells import may_have_cells
from app.services.made_questions.clauses import may_have_clauses
from app.services.made_questions.kinds import MAKERS
from app.services.made_questions.material import Material, Passage, keyed_hash, read_material
from app.services.made_questions.questions import KINDS, Kind, MadeQuestion, SupportedQuestion
from app.services.made_questions.sources import Sources
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.errors import Conflict, InvalidInput, LoadFailed
from core.execution.limits import WorkLimit, check_work
from core.execution.threads import call_in_thread
from core.ids import document_id
from core.ports.retrieval import check_searched
from core.strategies import StrategySpec
from core.text.answers import is_contained, normalise_answer
from core.text.value_kinds import find_stems
from core.trace import Trace
from core.validity.register import EVERYTHING_IN_FORCE
from retrieval.supports import all_recall, collapse_hits, match_supports, recall, reciprocal_rank


@dataclass(frozen=True, kw_only=True)
class MadeQuestions:
    """The questions that are chosen, how many of each kind could have been made, and why there are not more."""

    questions: tuple[MadeQuestion, ...]
    possible: Mapping[Kind, int]
    notes: tuple[str, ...] = ()


def parse_kinds(text: str | None) -> tuple[Kind, ...]:
    """Returns the kinds of a list such as `single,two_hop`; raises `InvalidInput` for a kind that there is not."""
    if text is None:
        return KINDS
    names = [name.strip().replace("-", "_") for name in text.split(",") if name.strip()]
    unknown = next((name for name in names if name not in {str(kind) for kind in Kind}), None)
    if unknown is not None or not names:
        raise InvalidInput(f"--kinds {unknown or text!r} is no kind of question; there are: {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in names)


def make_questions(material: Material, count: int, seed: int, kinds: Sequence[Kind] = KINDS) -> MadeQuestions:
    """Returns at most `count` questions, as many of each kind as of the others where there are enough, over as many
    documents as possible, and first the questions that name the fewest of their documents. The same corpus, seed and
    kinds give the same questions.

    Raises `InvalidInput` if no question can be made, and `LoadFailed` once the work of the thread is ended.
    """
    _check(material)
    sources = Sources.of(material)
    possible: dict[Kind, list[MadeQuestion]] = {}
    for kind in kinds:
        unique: dict[str, MadeQuestion] = {}
        for question in MAKERS[kind](sources):
            check_work()
            if _is_sound(question):
                unique[question.text] = question
        possible[kind] = sorted(
            unique.values(), key=lambda question: (_share_named(question), keyed_hash(seed, question.text))
        )
    questions = tuple(_choose(possible, count))
    if not questions:
        raise InvalidInput(f"no question can be made: {'; '.join(_explain(material, kind) for kind in kinds)}")
    return MadeQuestions(
        questions=questions,
        possible={kind: len(own) for kind, own in possible.items()},
        notes=tuple(_note(material, possible, count)),
    )


def _share_named(question: MadeQuestion) -> float:
    """Returns the share of the documents of a question whose titles it has. A title leads each searcher to its
    document.
    """
    titles = {quote.passage.key: quote.passage.title for quote in question.quotes}
    named = sum(is_contained(title, question.text) for title in titles.values())
    return named / len(titles) if titles else 0.0


def _check(material: Material) -> None:
    """Raises `InvalidInput` if no question can be made of a corpus, and says what to do."""
    if not material.total:
        raise InvalidInput("the corpus has no documents, so there is nothing to ask about; ingest some first")
    if not material.passages:
        others = ", ".join(f"{count:,} in {language}" for language, count in sorted(material.languages.items()))
        raise InvalidInput(f"questions are worded in English, and no document is in English ({others})")
    if not material.facts and not any(map(_may_offer, material.passages)):
        raise InvalidInput(
            "the corpus has no facts, no tables and no clauses of contracts, of which questions are made: ingest it "
            "with --extractor syntax, or reindex it (hopweave corpora reindex NAME --extractor syntax)"
        )


def _may_offer(passage: Passage) -> bool:
    return may_have_cells(passage) or may_have_clauses(passage)


_NEEDS = {
    Kind.SINGLE: "facts between whole names, whose sentence names the subject",
    Kind.TWO_HOP: "two facts of different documents with a name in common, and no document with both ends",
    Kind.COMPARISON: "two things of a kind with dates in different documents",
    Kind.CELL: "tables with names of rows and columns",
    Kind.CLAUSE: "sentences with a party and a modal verb, definitions, or other forms of contracts and policies",
    Kind.COUNT: "names of two words or more in 2 to 12 documents",
    Kind.UNANSWERABLE: "facts of which another thing of the same type has none",
}


def _explain(material: Material, kind: Kind) -> str:
    if kind in (Kind.COUNT, Kind.UNANSWERABLE) and not material.is_whole:
        if material.is_read:
            return f"{kind} needs all documents to be in English"
        return f"{kind} needs all documents to be read, and only {material.documents:,} of {material.total:,} were"
    return f"{kind} needs {_NEEDS[kind]}"


def _note(material: Material, possible: Mapping[Kind, Sequence[MadeQuestion]], count: int) -> Iterator[str]:
    share = count // len(possible)
    for kind, questions in possible.items():
        if len(questions) < share:
            yield f"{len(questions):,} of {share:,}: {_explain(material, kind)}"
    if not material.is_read:
        yield (
            f"{material.documents:,} of {material.total:,} documents were read; an answer is the only answer "
            "in what was read"
        )
    for language, documents in sorted(material.languages.items()):
        if language != "en":
            yield f"{documents:,} documents in {language} were left out: questions are worded in English"


def _choose(possible: Mapping[Kind, Sequence[MadeQuestion]], count: int) -> Iterator[MadeQuestion]:
    """Yields questions of all kinds in turn, of each kind next one whose documents were asked about least."""
    asked = Counter[str]()

    def count_asked(question: MadeQuestion) -> float:
        return sum(asked[key] for key in question.keys) / len(question.keys)

    # Counts only grow, so the least entry of a heap is the next one if its count is still true.
    waiting = {kind: [(0.0, place) for place in range(len(questions))] for kind, questions in possible.items()}
    while count > 0 and any(waiting.values()):
        for kind in [kind for kind, heap in waiting.items() if heap][:count]:
            heap, own = waiting[kind], possible[kind]
            while (now := count_asked(own[heap[0][1]])) > heap[0][0]:
                heapreplace(heap, (now, heap[0][1]))
            chosen = own[heappop(heap)[1]]
            asked.update(chosen.keys)
            count -= 1
            yield chosen


_LONGEST_QUESTION = 240
_MIN_STEM = 4


def _is_sound(question: MadeQuestion) -> bool:
    """Whether a question is short, and does not have its answer, or a word of it, in its words. A comparison names
    what it compares.
    """
    if len(question.text) > _LONGEST_QUESTION:
        return False
    if question.kind in (Kind.COMPARISON, Kind.COUNT, Kind.UNANSWERABLE):
        return True
    if question.kind is Kind.CLAUSE:
        return bool(normalise_answer(question.answer)) and not is_contained(question.answer, question.text)
    said = find_stems(question.text)
    own = {stem for stem in find_stems(question.answer) if len(stem) >= _MIN_STEM or stem.isdigit()}
    return (
        bool(normalise_answer(question.answer)) and not is_contained(question.answer, question.text) and not own & said
    )


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
