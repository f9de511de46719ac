"""Which documents in force contradict what an answer cites, and which of both counts.

Documents are compared only if they are of one subject: their names are the same but for marks of versions, one of them
amends or claims to supersede the other, or both have an authority. Their clauses tell whether they contradict each
other (`core.validity.contradictions`). Only documents that the caller may see, and that the question may be answered
from, are compared.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING

from app.services.validity.comparison import read_text
from app.services.validity.in_force import Selection, find_validity, list_writers, name_document, shorten
from app.services.verification import Masks
from core.corpora import Corpus
from core.documents import DocumentRef
from core.errors import BudgetExhausted, LoadFailed, ModelFailed, ModelUnavailable, NotFound
from core.events import TokenEvent
from core.execution.limits import WorkLimit, check_work
from core.execution.threads import compute
from core.ports.reasoning import Answer, Question
from core.ports.retrieval import QueryPart
from core.text.terms import split_words
from core.text.titles import family_of, find_wanted_marks
from core.trace import Trace
from core.validity import Register, Relation, Statement, StatementSource, Validity, read_authority
from core.validity.claims import Standing, compare_standing
from core.validity.contradictions import Contradiction, find_contradictions
from core.validity.differences import Clause, match_clauses, split_clauses

if TYPE_CHECKING:
    from app.container import Container

__all__ = ["Conflict", "Settled", "settle_conflicts", "show_conflicts"]

_MOST_COMPARED = 6
"""Pairs of documents that are compared for a question."""
_MOST_LOOKED_AT, _MOST_OF_A_KIND = 1_000, 100
"""Pairs that are looked at for pairs to compare, and documents of them that are related to a cited one, of its family,
or seen: a family may have thousands of versions.
"""
_MOST_SECONDS = 2.0
"""Seconds of the processor that two documents are compared."""
_MOST_TOLD = 3


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


@dataclass(frozen=True, kw_only=True)
class _Pair:
    part: QueryPart
    cited: DocumentRef
    other: DocumentRef
    is_related: bool
    quotes: Sequence[str]


async def settle_conflicts(
    container: "Container",
    selection: Selection,
    question: Question,
    answer: Answer,
    ask: Callable[[Question, Trace], Awaitable[Answer]],
    trace: Trace,
) -> Settled:
    """Returns the answer that counts, and its conflicts. If other documents prevail over what an answer cites, `ask` is
    called once more without the latter; if what prevails then answers nothing, or the budget ends, or a model fails,
    the first answer stays. An answer that lists documents is not asked for again: it counts all that say something.
    """
    conflicts = await _find_conflicts(container, selection, question.text, answer, trace)
    first = Settled(answer=answer, question=question, conflicts=conflicts)
    lost = set() if answer.table else _list_lost(conflicts, question.text, answer)
    if not lost:
        return first
    masked, again_trace = await Masks(container, question).mask(lost), trace.branch()
    try:
        again = await ask(masked, again_trace)
    except BudgetExhausted:
        trace.note("the budget ended before the question was asked again of the documents that prevail")
        return first
    except (ModelFailed, ModelUnavailable):
        trace.note("a language model failed when the question was asked again of the documents that prevail")
        return first
    prevailing = {(told.corpus, told.other.id) for told in conflicts if (told.corpus, told.cited.id) in lost}
    if again.abstained or prevailing.isdisjoint(
        (citation.corpus, citation.document.id) for citation in again.citations
    ):
        return first
    for event in again_trace.events:
        if not isinstance(event, TokenEvent):  # a reader has the text of the first answer: the final one replaces it
            trace.emit(event)
    trace.notes += [note for note in again_trace.notes if note not in trace.notes]
    conflicts = await _find_conflicts(container, selection, question.text, again, trace, conflicts)
    return Settled(answer=again, question=masked, conflicts=conflicts)


async def _find_conflicts(
    container: "Container",
    selection: Selection,
    question: str,
    answer: Answer,
    trace: Trace,
    earlier: Sequence[Conflict] = (),
) -> list[Conflict]:
    """Returns the conflicts of what an answer cites, at most one for two documents. What an earlier answer cited in
    conflict is compared as well as what was retrieved for this one.
    """
    if selection.day is None or answer.abstained:
        return []
    pairs = await compute(_list_pairs, selection, answer, earlier)  # names of thousands of versions may be read
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


def _list_pairs(selection: Selection, answer: Answer, earlier: Sequence[Conflict]) -> list[_Pair]:
    """Returns what is to be compared; two documents that are both cited come in the order of their citations only."""
    looked_at = islice(_list_candidates(selection, answer, earlier), _MOST_LOOKED_AT)
    compared: set[tuple[str, frozenset[str]]] = set()

    def choose() -> Iterator[_Pair]:
        for pair in looked_at:
            both = pair.part.corpus.name, frozenset((pair.cited.id, pair.other.id))
            register = selection.registers.get(pair.part.corpus.name)
            if (
                both not in compared
                and _is_of_subject(pair, register)
                and _is_current(register, pair.other, pair.part, selection.day)
            ):
                compared.add(both)
                yield pair

    return list(islice(choose(), _MOST_COMPARED))


def _list_candidates(selection: Selection, answer: Answer, earlier: Sequence[Conflict]) -> Iterator[_Pair]:
    """Yields each cited document with others that may be of its subject: what is related, then the same family, then
    what was seen for this answer, or cited by an earlier one.
    """
    for part in selection.parts:
        name, register = part.corpus.name, selection.registers.get(part.corpus.name)
        found = [hit.document for step in answer.steps for hit in step.hits if hit.url is None and hit.corpus == name]
        before = [conflict.cited for conflict in earlier if conflict.corpus == name]
        cited: dict[str, DocumentRef] = {}
        quotes: dict[str, dict[str, None]] = {}
        for citation in answer.citations:
            if citation.url is None and citation.corpus == name:
                cited[citation.document.id] = citation.document
                quotes.setdefault(citation.document.id, {})[citation.quote] = None
        seen = list({ref.id: ref for ref in [*cited.values(), *before, *found]}.values())
        for ref in cited.values():
            if not _is_current(register, ref, part, selection.day):
                continue
            validity = find_validity(register, ref.id)
            relations = () if validity is None else validity.relations
            related = {relation.document.id: relation.document for relation in relations}
            kinds = (related.values(), _list_family(register, ref), seen)
            others = chain.from_iterable(islice(kind, _MOST_OF_A_KIND) for kind in kinds)
            for other in {other.id: other for other in others if other.id != ref.id}.values():
                is_related = other.id in related
                yield _Pair(part=part, cited=ref, other=other, is_related=is_related, quotes=list(quotes[ref.id]))


def _list_family(register: Register | None, ref: DocumentRef) -> Sequence[DocumentRef]:
    family = family_of(ref.key, ref.title)[0]
    return register.families.get(family, ()) if register is not None and family else ()


def _is_of_subject(pair: _Pair, register: Register | None) -> bool:
    ref, other = pair.cited, pair.other
    if pair.is_related or (read_authority(ref.metadata) and read_authority(other.metadata)):
        return True
    (family, marks), (others_family, others_marks) = (family_of(named.key, named.title) for named in (ref, other))
    states = _states(register, ref), _states(register, other)
    # reports of two quarters are no versions of one rule, unless both say from when they are in force
    enough = all(states) if _are_periods(marks) and _are_periods(others_marks) else any(states)
    return bool(family) and family == others_family and enough


def _are_periods(marks: Collection[str]) -> bool:
    return any(mark[0] in "qm" and mark[1:].isdigit() for mark in marks)


def _states(register: Register | None, ref: DocumentRef) -> bool:
    """Returns whether a document has an authority, or somebody says something of its validity: a date in the name of a
    file may be the day of a meeting.
    """
    validity = find_validity(register, ref.id)
    if read_authority(ref.metadata):
        return True
    return validity is not None and (
        bool(validity.relations)
        or any(statement.source is not StatementSource.FILE_NAME for statement in validity.statements)
    )


def _is_current(register: Register | None, ref: DocumentRef, part: QueryPart, day: date | None) -> bool:
    """Returns whether a question may be answered from a document, and it has begun and not ended: an expired contract
    is still searched, but contradicts nothing.
    """
    if part.documents is not None and ref.id not in part.documents:
        return False
    validity = find_validity(register, ref.id)
    if validity is None or day is None:
        return True
    begins, ends = validity.valid_from, validity.valid_to
    return (begins is None or begins <= day) and (ends is None or day <= ends)


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


async def _compare(pair: _Pair, own: Sequence[Clause], others: Sequence[Clause], question: str) -> Contradiction | None:
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
