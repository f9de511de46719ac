"""Which documents are in force for a search or a question, and what its hits, citations and notes say of that."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from math import inf
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from app.access.access import Access
from app.access.corpora import RestrictedDocuments
from core.corpora import Corpus
from core.documents import DocumentRef
from core.execution.recent import Recent
from core.execution.threads import compute
from core.filters import DocumentFilter, parse_filter
from core.keys import ApiKey, Scope
from core.ports.reasoning import Answer, Citation
from core.ports.record import Keys, Record
from core.ports.retrieval import Hit, QueryPart
from core.trace import Trace
from core.validity import AsOf, NameFinder, Register, Relation, Statement, Validity, parse_as_of
from core.validity.parts import is_in_part
from core.validity.statements import VALID_FROM, read_day

if TYPE_CHECKING:
    from app.container import Container


_MOST_CHANGES = 3
_MOST_KEPT = 32
"""Registers that are kept until a document changes, or who may see it: a register of 10,000 documents takes tenths of a
second. Callers who see different documents have different registers.
"""
_LONGEST_SENTENCE = 200
_NOTHING: Mapping[tuple[str, str], Sequence[str]] = {}


async def open_register(container: "Container", corpus: Corpus) -> Register | None:
    """Returns the register of the documents that the caller may see; None if none of them states anything.

    A document that the caller may not see retires nothing for it, and is named nowhere.
    """
    documents = container.record.documents
    refs = await documents.list_dated(corpus.id)
    of_caller = (corpus.id, documents.where.digest if isinstance(documents, RestrictedDocuments) else "")
    known = _kept.get(of_caller)
    if not refs:
        if known is not None:
            _kept.put(of_caller, None)
        return None
    finder = known.finder if known is not None and known.dated is refs else NameFinder(refs)
    named: Mapping[str, DocumentRef] = {}
    if finder.where is not None:
        ids = await documents.match(corpus.id, finder.where)
        named = await documents.get_refs(corpus.id, ids - refs.keys())
    writers = await list_writers(container) if finder.has_unmarked_claims else ()
    if (
        known is not None
        and known.dated is refs
        and _are_same(known.named, tuple(named.values()))
        and known.writers == writers
    ):
        return known
    register = Register(refs, finder, named.values(), writers)
    _kept.put(of_caller, register)
    return register


class _Writers:
    """The filters of the keys of a record that write, or wrote before their end, whatever corpora they name: a corpus
    may have had another name. They are parsed again, in a thread, only if such a key has changed.
    """

    def __init__(self) -> None:
        self._read_at = -inf
        self._keys: Sequence[tuple[object, ...]] = ()
        self._filters: tuple[DocumentFilter, ...] = ()

    async def list(self, keys: Keys) -> tuple[DocumentFilter, ...]:
        if (begun := time.monotonic()) - self._read_at < _FRESH_SECONDS:
            return self._filters
        writing = [key for key in await keys.list() if key.filter is not None and Scope.WRITE in key.scopes]
        told = [(key.filter, key.principals) for key in writing]
        filters = self._filters if told == self._keys else await compute(_parse_filters, writing)
        self._read_at, self._keys, self._filters = begun, told, filters
        return filters


def _parse_filters(keys: Sequence[ApiKey]) -> tuple[DocumentFilter, ...]:
    filters = [where for key in keys if (where := Access.of_key(key).where) is not None]
    return tuple({where.digest: where for where in filters}.values())


_FRESH_SECONDS = 1.0
"""The keys are read again after this time, as for requests."""
_writers: WeakKeyDictionary[Record, _Writers] = WeakKeyDictionary()


async def list_writers(container: "Container") -> tuple[DocumentFilter, ...]:
    record = container.whole_record
    return await _writers.setdefault(record, _Writers()).list(record.keys)


_kept: Recent[tuple[str, str], Register | None] = Recent(_MOST_KEPT)
"""By the id of a corpus and the filter of a caller, '' for none: what has changed replaces what was kept."""


def _are_same(known: tuple[DocumentRef, ...], named: tuple[DocumentRef, ...]) -> bool:
    """A `DocumentRef` is equal to another one whatever their access."""
    return known == named and [ref.access for ref in known] == [ref.access for ref in named]


def list_related(answer: Answer) -> set[str]:
    """Returns the ids of the documents that the citations of an answer name for what they say of its documents."""
    told = [citation.validity for citation in answer.citations]
    return {relation.document.id for validity in told if validity for relation in validity.relations}


def find_validity(register: Register | None, document_id: str) -> Validity | None:
    """Returns what is known of the validity of a document; None if nothing is."""
    return None if register is None else register.validity.get(document_id)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The documents of the corpora of a search that count, and what is known of their validity on the day `day`.

    `parts` has one part for each corpus. `left_out` is the number of documents that are not in force; `not_revived` of
    them are superseded by documents that have ended themselves.
    """

    day: AsOf
    parts: tuple[QueryPart, ...]
    registers: Mapping[str, Register]
    left_out: int
    not_revived: int = 0

    def find(self, corpus: str, document_id: str) -> Validity | None:
        return find_validity(self.registers.get(corpus), document_id)

    def note(self, trace: Trace) -> None:
        """Notes that documents are left out: nothing is retired silently."""
        if self.left_out:
            documents = "1 document is" if self.left_out == 1 else f"{self.left_out:,} documents are"
            trace.note(f"as of {self.day}: {documents} not in force and left out; `as_of` `any` searches all")
        if self.not_revived:
            documents = "1 document" if self.not_revived == 1 else f"{self.not_revived:,} documents"
            trace.note(f"{documents} of these stay superseded although what supersedes them has ended, too")

    def show_hits(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Returns the hits with the validity of their documents."""
        return tuple(
            hit if (found := self.find(hit.corpus, hit.document.id)) is None else replace(hit, validity=found)
            for hit in hits
        )

    def show_answer(self, answer: Answer, amended: Mapping[tuple[str, str], Sequence[str]] = _NOTHING) -> Answer:
        """Returns the answer with the validity of what it read and cites, and a note if a rule changed or may have.

        `amended` has sentences on cited clauses, by the ids of their document and of its amendment: nothing more is
        said of these two.
        """
        if not self.registers:
            return answer
        citations = tuple(
            replace(citation, validity=self.find(citation.corpus, citation.document.id))
            for citation in answer.citations
        )
        steps = tuple(replace(step, hits=self.show_hits(step.hits)) for step in answer.steps)
        cited = {
            (citation.corpus, citation.document.id): (citation.document, citation.validity) for citation in citations
        }
        told = [line for lines in amended.values() for line in lines]
        lines = self._list_all_changes(list(cited.values()), amended)
        changes = list(dict.fromkeys([*told, *lines, *self._list_parts(answer, citations)]))
        note = " ".join([*([answer.note] if answer.note else []), *changes[:_MOST_CHANGES]])
        return replace(answer, citations=citations, steps=steps, note=note)

    def _list_parts(self, answer: Answer, citations: Iterable[Citation]) -> Iterable[str]:
        """Yields when a part of a document is in force that a citation stands in, if its document tells that."""
        chunks = {hit.chunk.id: hit.chunk for step in answer.steps for hit in step.hits}
        for citation in citations:
            chunk = chunks.get(citation.chunk_id)
            if citation.validity is None or chunk is None:
                continue
            before = chunk.text[: citation.source_span.end]
            for statement in citation.validity.parts:
                if is_in_part(statement.part, chunk.heading, before) and statement.text not in citation.quote:
                    yield _describe_part(citation.document, statement, self.day)

    def _list_all_changes(
        self,
        cited: Sequence[tuple[DocumentRef, Validity | None]],
        amended: Mapping[tuple[str, str], Sequence[str]],
    ) -> Iterable[str]:
        """Yields the sentences on the changes of cited documents, one for two documents that are both cited."""
        told = dict(amended)
        for ref, found in cited:
            yield from self._list_changes(ref, found, told)
            told |= {(ref.id, relation.document.id): () for relation in found.relations} if found else {}

    def _list_changes(
        self, ref: DocumentRef, validity: Validity | None, amended: Mapping[tuple[str, str], Sequence[str]]
    ) -> Iterable[str]:
        if validity is None:
            return
        # one relation may stand on statements of both documents
        told = {(relation.kind, relation.document.id, relation.problem): relation for relation in validity.relations}
        for relation in told.values():
            if not {(ref.id, relation.document.id), (relation.document.id, ref.id)}.isdisjoint(amended):
                continue
            if (line := describe_relation(ref, validity, relation)) is not None:
                yield line
        supersedes = any(relation.kind == "supersedes" and not relation.problem for relation in validity.relations)
        if supersedes and validity.stated_end is not None:
            end = f"“{name_document(ref)}” is in force until {validity.stated_end}{_quote(validity)}"
            yield f"{end}; then what it supersedes is not in force again."
        elif not validity.relations and validity.valid_to is not None:
            yield f"“{name_document(ref)}” is in force until {validity.valid_to}{_quote(validity)}."


def _describe_part(ref: DocumentRef, statement: Statement, day: AsOf) -> str:
    """Returns the sentence on when a part of a document is in force. Nothing is left out for it."""
    named = read_day(statement.value)
    begins, is_before = statement.states == VALID_FROM, day is not None and named is not None and day < named
    if begins:
        days = f"from {statement.value}" if is_before or day is None else f"since {statement.value}"
    else:
        days = f"until {statement.value}"
    outside = is_before if begins else day is not None and named is not None and day > named
    not_on = f", and so not on {day}" if outside else ""
    return f"{statement.part} of “{name_document(ref)}” is in force {days}{not_on} (“{shorten(statement.text)}”)."


def describe_relation(ref: DocumentRef, validity: Validity, relation: Relation) -> str | None:
    """Returns the sentence on a change of a rule that a cited document has, or claims."""
    this, other = f"“{name_document(ref, relation.document)}”", f"“{name_document(relation.document, ref)}”"
    said = f" (“{shorten(relation.statement.text)}”)" if relation.statement.text else ""
    since = "" if relation.since is None else f" since {relation.since}"
    authority = f", whose authority is {validity.authority}," if validity.authority else ""
    match relation.kind:
        case "superseded_by" if relation.problem:
            return f"{other} claims to supersede {this}{authority} which does not count: {relation.problem}{said}."
        case "supersedes" if relation.problem:
            return f"{this} claims to supersede {other}, which does not count: {relation.problem}{said}."
        case "superseded_by":
            return f"{this} is superseded by {other}{since}{said}."
        case "supersedes":
            return f"{this} supersedes {other}{since}{said}."
        case "amended_by" if relation.problem:
            return f"{other} claims to amend {this}, which does not count: {relation.problem}{said}."
        case "amends" if relation.problem:
            return f"{this} claims to amend {other}, which does not count: {relation.problem}{said}."
        case "amended_by":
            return f"{this} is amended by {other}{since}{said}."
        case "amends":
            return f"{this} amends {other}{since}{said}."
    return None


def name_document(ref: DocumentRef, beside: DocumentRef | None = None) -> str:
    """Returns the title of a document; its key if it has none, or if the document that is named beside it has the same
    title.
    """
    return ref.key if not ref.title or (beside is not None and beside.title == ref.title) else ref.title


def _quote(validity: Validity) -> str:
    said = next(
        (statement.text for statement in validity.statements if statement.states == "valid_to" and statement.text), ""
    )
    return f" (“{shorten(said)}”)" if said else ""


def shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_SENTENCE else line[: _LONGEST_SENTENCE - 1] + "…"


async def select_in_force(
    container: "Container", corpora: Sequence[Corpus], where: Mapping[str, Any] | None, as_of: str | None
) -> Selection:
    """Returns the documents that match a filter and are in force on the day `as_of` (None: today).

    Raises `InvalidFilter`, and `InvalidInput` for a day that there is not.
    """
    day, today = parse_as_of(as_of), datetime.now(UTC).date()
    parts: list[QueryPart] = []
    registers: dict[str, Register] = {}
    left_out = not_revived = 0
    for corpus in corpora:
        register = await open_register(container, corpus)
        if register is not None:
            registers[corpus.name] = register
        retired = _find_retired(register, day, today)
        left_out += len(retired)
        if register is not None and day is not None:
            not_revived += register.count_not_revived(retired, day)
        parts.append(QueryPart(corpus=corpus, documents=await _select(container, corpus, where, register, retired)))
    return Selection(day=day, parts=tuple(parts), registers=registers, left_out=left_out, not_revived=not_revived)


def _find_retired(register: Register | None, day: AsOf, today: date) -> frozenset[str]:
    return frozenset() if register is None or day is None else register.find_retired(day, today)


async def _select(
    container: "Container",
    corpus: Corpus,
    where: Mapping[str, Any] | None,
    register: Register | None,
    retired: frozenset[str],
) -> frozenset[str] | None:
    """What is not in force is left out as by a filter, so that views, graph and PageRank are masked alike."""
    if register is None or not retired:
        return await container.select_documents(corpus, where)
    in_force = parse_filter(where or {}).join(register.in_force(retired))
    return await container.record.documents.match(corpus.id, in_force)
