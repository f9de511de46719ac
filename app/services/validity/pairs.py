"""Pairs of documents that may contradict one another: a document that an answer cites, and another one of its subject.

Documents are of one subject if their names are the same but for marks of versions, one of them amends or claims to
supersede the other, or both have an authority. Documents with an authority are searched for what is cited, since the
passages that were retrieved for a question may be of one of them only. Only documents that the caller may see, and that
the question may be answered from, are paired.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, islice
from typing import TYPE_CHECKING

from app.services.validity.in_force import Selection, find_validity
from core.documents import DocumentRef
from core.errors import ModelFailed, Unavailable
from core.ports.reasoning import Answer
from core.ports.retrieval import Query, QueryPart
from core.strategies import StrategySpec
from core.text.titles import family_of
from core.trace import Trace
from core.validity import AUTHORITY, Register, StatementSource, read_authority

if TYPE_CHECKING:
    from app.container import Container


_MOST_COMPARED = 6
"""Pairs of documents that are compared for a question."""
_MOST_LOOKED_AT, _MOST_OF_A_KIND = 1_000, 100
"""Pairs that are looked at for pairs to compare, and documents of them that are related to a cited one, of its family,
or seen: a family may have thousands of versions.
"""
_MOST_SEARCHES, _MOST_FOUND, _LONGEST_SEARCHED = 3, 10, 500
"""Searches for what documents with an authority say of the cited words, hits of each, and characters of its query."""
_FAILED = "the documents with an authority could not be searched for what contradicts the answer"
_SEARCHER = StrategySpec(name="fused")
_HAS_AUTHORITY = {AUTHORITY: {"$exists": True}}


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A cited document with its quotes, and another one. `is_related`: a statement of one of them names the other."""

    part: QueryPart
    cited: DocumentRef
    other: DocumentRef
    is_related: bool
    quotes: Sequence[str]


async def find_ranked(
    container: "Container", selection: Selection, answer: Answer, trace: Trace
) -> Mapping[str, Sequence[DocumentRef]]:
    """Returns, by corpus, the documents with an authority that are most like what is cited of such documents. What was
    retrieved for the question may have only one of two documents that contradict one another.

    A search that fails is noted: the answer is there already.
    """
    found: dict[str, dict[str, DocumentRef]] = {}
    searches = 0
    for part in selection.parts:
        name = part.corpus.name
        quotes = _list_ranked_quotes(answer, name)
        if not quotes:
            continue
        ranked = await container.select_documents(part.corpus, _HAS_AUTHORITY) or frozenset()
        ranked = ranked if part.documents is None else ranked & part.documents
        for id, quote in quotes.items():
            others = ranked - {id}
            if not others or searches == _MOST_SEARCHES:
                continue
            searches += 1
            query = Query(corpus=part.corpus, text=quote[:_LONGEST_SEARCHED], k=_MOST_FOUND, documents=others)
            try:
                result = await container.searcher(_SEARCHER).search(query, Trace())
            except (ModelFailed, Unavailable):
                trace.note(_FAILED)
                continue
            found.setdefault(name, {}).update({hit.document.id: hit.document for hit in result.hits})
    return {name: list(refs.values()) for name, refs in found.items()}


def _list_ranked_quotes(answer: Answer, corpus: str) -> Mapping[str, str]:
    """Returns what is cited of each document of a corpus that has an authority, by the document's id."""
    quotes: dict[str, list[str]] = {}
    for citation in answer.citations:
        if citation.url is None and citation.corpus == corpus and read_authority(citation.document.metadata):
            quotes.setdefault(citation.document.id, []).append(citation.quote)
    return {id: " ".join(of_document) for id, of_document in quotes.items()}


def list_pairs(
    selection: Selection,
    answer: Answer,
    earlier: Mapping[str, Sequence[DocumentRef]],
    ranked: Mapping[str, Sequence[DocumentRef]],
) -> list[Pair]:
    """Returns the pairs to compare; two documents that are both cited come in the order of their citations only.

    `earlier` are documents that an earlier answer cited, and `ranked` what `find_ranked` found, by corpus.
    """
    looked_at = islice(_list_candidates(selection, answer, earlier, ranked), _MOST_LOOKED_AT)
    compared: set[tuple[str, frozenset[str]]] = set()

    def choose() -> Iterator[Pair]:
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


def _list_candidates(
    selection: Selection,
    answer: Answer,
    earlier: Mapping[str, Sequence[DocumentRef]],
    ranked: Mapping[str, Sequence[DocumentRef]],
) -> Iterator[Pair]:
    """Yields each cited document with others that may be of its subject: what is related, then the same family, then
    what was seen for this answer, or cited by an earlier one, then what has an authority and says the like.
    """
    for part in selection.parts:
        name, register = part.corpus.name, selection.registers.get(part.corpus.name)
        found = [hit.document for step in answer.steps for hit in step.hits if hit.url is None and hit.corpus == name]
        cited: dict[str, DocumentRef] = {}
        quotes: dict[str, dict[str, None]] = {}
        for citation in answer.citations:
            if citation.url is None and citation.corpus == name:
                cited[citation.document.id] = citation.document
                quotes.setdefault(citation.document.id, {})[citation.quote] = None
        seen = list({ref.id: ref for ref in [*cited.values(), *earlier.get(name, ()), *found]}.values())
        for ref in cited.values():
            if not _is_current(register, ref, part, selection.day):
                continue
            validity = find_validity(register, ref.id)
            relations = () if validity is None else validity.relations
            related = {relation.document.id: relation.document for relation in relations}
            kinds = (related.values(), _list_family(register, ref), seen, ranked.get(name, ()))
            others = chain.from_iterable(islice(kind, _MOST_OF_A_KIND) for kind in kinds)
            for other in {other.id: other for other in others if other.id != ref.id}.values():
                is_related = other.id in related
                yield Pair(part=part, cited=ref, other=other, is_related=is_related, quotes=list(quotes[ref.id]))


def _list_family(register: Register | None, ref: DocumentRef) -> Sequence[DocumentRef]:
    family = family_of(ref.key, ref.title)[0]
    return register.families.get(family, ()) if register is not None and family else ()


def _is_of_subject(pair: Pair, register: Register | None) -> bool:
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
