"""Makes questions with known answers and supports from a corpus: the choice, and what each question must pass.

`make_questions` is the whole way: `kinds.py` has candidates of each kind, `_is_sound` what all of them must pass.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heapreplace

from app.services.made_questions.cells import may_have_cells
from app.services.made_questions.clauses import may_have_clauses
from app.services.made_questions.kinds import MAKERS
from app.services.made_questions.material import Material, Passage, keyed_hash
from app.services.made_questions.questions import KINDS, Kind, MadeQuestion
from app.services.made_questions.sources import Sources
from core.errors import InvalidInput
from core.execution.limits import check_work
from core.text.answers import is_contained, normalise_answer
from core.text.value_kinds import find_stems


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
