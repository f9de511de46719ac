"""Which documents in force contradict what an answer cites, and which of both counts.

Only documents of one subject are compared (`pairs`). Their clauses tell whether they contradict each other
(`core.validity.contradictions`).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

from app.services.validity.comparison import read_text
from app.services.validity.in_force import Selection, find_validity, list_writers, name_document, shorten
from app.services.validity.pairs import Pair, find_ranked, list_pairs
from app.services.verification import Masks
from core.corpora import Corpus
from core.documents import DocumentRef
from core.errors import BudgetExhausted, LoadFailed, ModelFailed, ModelUnavailable, NotFound
from core.events import TokenEvent
from core.execution.limits import WorkLimit, check_work
from core.execution.threads import compute
from core.ports.reasoning import Answer, Question
from core.text.terms import split_words
from core.text.titles import family_of, find_wanted_marks
from core.trace import Trace
from core.validity import Register, Relation, Statement, StatementSource, Validity
from core.validity.claims import Standing, compare_standing
from core.validity.contradictions import Contradiction, find_contradictions
from core.validity.differences import Clause, match_clauses, split_clauses

if TYPE_CHECKING:
    from app.container import Container


_MOST_SECONDS = 2.0
"""Seconds of the processor that two documents are compared."""
_MOST_TOLD = 3
_MOST_ASKED_AGAIN = 3
"""Times that a question is asked again: the document that prevails may be one over which a third one prevails."""


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """A document that an answer cites, and another one in force that contradicts what is cited.

    `standing` tells whether the other document prevails.
    """

    corpus: str
    cited: DocumentRef
    other: DocumentRef
    found: Contradiction
    standing: Standing


@dataclass(frozen=True, kw_only=True)
class Settled:
    """The answer that counts, its conflicts, and the question that it answers: asked again, without some documents."""

    answer: Answer
    question: Question
    conflicts: Sequence[Conflict]


async def settle_conflicts(
    container: "Container",
    selection: Selection,
    question: Question,
    answer: Answer,
    ask: Callable[[Question, Trace], Awaitable[Answer]],
    trace: Trace,
) -> Settled:
    """Returns the answer that counts, and its conflicts. If other documents prevail over what an answer cites, `ask` is
    called again without the latter, at most `_MOST_ASKED_AGAIN` times; if what prevails then answers nothing, or the
    budget ends, or a model fails, the answer before stays. An answer that lists documents is not asked for again: it
    counts all that say something.
    """
    ranked: Mapping[str, Sequence[DocumentRef]] = {}
    if selection.day is not None and not answer.abstained:
        ranked = await find_ranked(container, selection, answer, trace)
    conflicts = await _find_conflicts(container, selection, question.text, answer, trace, ranked=ranked)
    settled = Settled(answer=answer, question=question, conflicts=conflicts)
    masks, lost, earlier = Masks(container, question), set[tuple[str, str]](), list[Conflict]()
    for _ in range(_MOST_ASKED_AGAIN):
        losing = set() if answer.table else _list_lost(settled.conflicts, question.text, settled.answer)
        if not losing - lost:
            break
        lost |= losing
        masked = await masks.mask(lost)
        again = await _ask_again(masked, settled, losing, ask, trace)
        if again is None:
            break
        earlier += settled.conflicts
        conflicts = await _find_conflicts(
            container, selection, question.text, again, trace, ranked=ranked, earlier=earlier
        )
        settled = Settled(answer=again, question=masked, conflicts=conflicts)
    return settled


async def _ask_again(
    masked: Question,
    settled: Settled,
    losing: set[tuple[str, str]],
    ask: Callable[[Question, Trace], Awaitable[Answer]],
    trace: Trace,
) -> Answer | None:
    """Returns the answer without the documents that lose; None if what prevails over them answers nothing, the budget
    ends, or a model fails.
    """
    again_trace = trace.branch()
    try:
        again = await ask(masked, again_trace)
    except BudgetExhausted:
        trace.note("the budget ended before the question was asked again of the documents that prevail")
        return None
    except (ModelFailed, ModelUnavailable):
        trace.note("a language model failed when the question was asked again of the documents that prevail")
        return None
    prevailing = {(told.corpus, told.other.id) for told in settled.conflicts if (told.corpus, told.cited.id) in losing}
    if again.abstained or prevailing.isdisjoint(
        (citation.corpus, citation.document.id) for citation in again.citations
    ):
        return None
    for event in again_trace.events:
        if not isinstance(event, TokenEvent):  # a reader has the text of the first answer: the final one replaces it
            trace.emit(event)
    trace.notes += [note for note in again_trace.notes if note not in trace.notes]
    return again


async def _find_conflicts(
    container: "Container",
    selection: Selection,
    question: str,
    answer: Answer,
    trace: Trace,
    *,
    ranked: Mapping[str, Sequence[DocumentRef]],
    earlier: Sequence[Conflict] = (),
) -> list[Conflict]:
    """Returns the conflicts of what an answer cites, at most one for two documents. What an earlier answer cited in
    conflict is compared as well as what was retrieved for this one, and the documents that `find_ranked` found.
    """
    if selection.day is None or answer.abstained:
        return []
    # names of thousands of versions may be read
    pairs = await compute(list_pairs, selection, answer, _list_cited(earlier), ranked)
    clauses: dict[tuple[str, str], Sequence[Clause]] = {}
    conflicts: list[Conflict] = []
    writers = await list_writers(container) if pairs else ()
    for pair in pairs:
        cited, other = ((pair.part.corpus.id, ref.id) for ref in (pair.cited, pair.other))  # ids are of one corpus
        for place, ref in ((cited, pair.cited), (other, pair.other)):
            if place not in clauses:
                clauses[place] = await _read(container, pair.part.corpus, ref)
        try:
            found = await _compare(pair, clauses[cited], clauses[other], question)
        except LoadFailed:
            trace.note(f"{pair.cited.key!r} and {pair.other.key!r} are too long to be compared in full for conflicts")
            continue
        if found is not None:
            register = selection.registers.get(pair.part.corpus.name)
            begun, others_begun = _begin(register, pair.cited), _begin(register, pair.other)
            standing = compare_standing(pair.cited, pair.other, begun, others_begun, writers)
            conflicts.append(
                Conflict(
                    corpus=pair.part.corpus.name, cited=pair.cited, other=pair.other, found=found, standing=standing
                )
            )
    return conflicts


def _list_cited(conflicts: Iterable[Conflict]) -> Mapping[str, Sequence[DocumentRef]]:
    cited: dict[str, list[DocumentRef]] = {}
    for conflict in conflicts:
        cited.setdefault(conflict.corpus, []).append(conflict.cited)
    return cited


def _list_lost(conflicts: Iterable[Conflict], question: str, answer: Answer) -> set[tuple[str, str]]:
    """Returns the documents that an answer should not have been made of, by corpus and id: documents over which another
    one prevails that is cited later, or not at all. Documents that the question names are none.
    """
    order = [(citation.corpus, citation.document.id) for citation in answer.citations]
    lost: set[tuple[str, str]] = set()
    for conflict in conflicts:
        cited, other = (conflict.corpus, conflict.cited.id), (conflict.corpus, conflict.other.id)
        comes_first = other in order and order.index(other) < order.index(cited)
        if conflict.standing.prevails and not comes_first and not _is_named(conflict.cited, conflict.other, question):
            lost.add(cited)
    return lost


def show_conflicts(answer: Answer, conflicts: Sequence[Conflict]) -> Answer:
    """Returns the answer with its conflicts: a relation `contradicts` of each citation, and a sentence of the note."""
    if not conflicts:
        return answer
    relations: dict[tuple[str, str], list[Relation]] = {}
    for conflict in conflicts:
        relations.setdefault((conflict.corpus, conflict.cited.id), []).append(_relate(conflict))
    citations = tuple(
        replace(citation, validity=_join(citation.validity, relations.get((citation.corpus, citation.document.id), [])))
        for citation in answer.citations
    )
    told = dict.fromkeys(
        f"“{name_document(conflict.other, conflict.cited)}” says otherwise: “{shorten(conflict.found.otherwise)}” "
        f"(in force; {conflict.standing.reason})."
        for conflict in conflicts
    )
    note = " ".join([*([answer.note] if answer.note else []), *list(told)[:_MOST_TOLD]])
    return replace(answer, citations=citations, note=note)


def _relate(conflict: Conflict) -> Relation:
    statement = Statement(
        states="contradicts",
        value=conflict.other.key,
        source=StatementSource.SENTENCE,
        text=conflict.found.otherwise,
    )
    return Relation(kind="contradicts", document=conflict.other, statement=statement, problem=conflict.standing.reason)


def _join(validity: Validity | None, relations: Sequence[Relation]) -> Validity | None:
    if not relations:
        return validity
    validity = validity or Validity()
    return replace(validity, relations=(*validity.relations, *relations))


def _begin(register: Register | None, ref: DocumentRef) -> date | None:
    validity = find_validity(register, ref.id)
    return None if validity is None else validity.valid_from


def _is_named(ref: DocumentRef, other: DocumentRef, question: str) -> bool:
    """Returns whether a question is about a document itself, by its title or version, or compares it with another."""
    wanted = find_wanted_marks(question)
    marks, others_marks = family_of(ref.key, ref.title)[1], family_of(other.key, other.title)[1]
    if wanted & (marks - others_marks):
        return True
    title, others_title = ({word.stem for word in split_words(named.title)} for named in (ref, other))
    return bool(title - others_title) and title <= {word.stem for word in split_words(question)}


async def _read(container: "Container", corpus: Corpus, ref: DocumentRef) -> Sequence[Clause]:
    """Returns the clauses of a document; none if it was deleted, or taken from the caller, meanwhile."""
    try:
        text = await read_text(container, corpus, await container.record.documents.get(corpus.id, ref.id))
    except NotFound:
        return ()
    return (await compute(split_clauses, text))[0]


async def _compare(pair: Pair, own: Sequence[Clause], others: Sequence[Clause], question: str) -> Contradiction | None:
    """Returns the first contradiction of a quote. Raises `LoadFailed` after `_MOST_SECONDS`."""
    limit = WorkLimit(pair.cited.key, _MOST_SECONDS, "")
    match = cache(lambda: match_clauses(others, own))

    def compare() -> Contradiction | None:
        with limit.running():
            for quote in pair.quotes:
                check_work()
                if (found := next(find_contradictions(quote, own, others, question, match), None)) is not None:
                    return found
            return None

    try:
        return await compute(compare)
    finally:
        limit.end()  # nobody waits any more
