"""The amendments of clauses: which amendment changes a passage, for readers and for language models.

An amended contract stays in force beside its amendment, and its clauses are found as before. So whoever reads a clause
has to read the sentence that changes it as well.

First comes the writing of an answer with more quotes: each is written as a paragraph before a place, and all markers
are numbered again.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from app.services.validity.in_force import Selection, describe_relation, find_validity, name_document, shorten
from core.documents import Chunk, DocumentRef, Span
from core.execution.threads import compute
from core.passage_context import describe_hit
from core.ports.reasoning import Answer, Citation, Support
from core.ports.retrieval import Hit
from core.validity import Relation, Validity
from core.validity.changes import ClauseChange, find_clause_changes, is_changed, says_more
from core.validity.parts import is_placed
from core.validity.statements import AMENDED_BY

if TYPE_CHECKING:
    from app.container import Container


_MARKERS = re.compile(r"(?: ?\[\d{1,3}\])+")
_BETWEEN = "\n\n"
_NUMBER = re.compile(r"\[(\d{1,3})\]")


@dataclass(frozen=True, kw_only=True)
class Insertion:
    """A quote that is to stand before the paragraph of a place. The marker and the place of `citation` are set anew; a
    marker other than 0 is of a passage that the answer cites already.
    """

    before: int
    citation: Citation


@dataclass(frozen=True, kw_only=True)
class _Edit:
    """Words in the place of `start` to `end`: markers behind a quote, or nothing yet."""

    start: int
    end: int
    inserted: Insertion | None = None


def insert_quotes(
    text: str, citations: Sequence[Citation], insertions: Sequence[Insertion]
) -> tuple[str, tuple[Citation, ...]]:
    """Returns the text with the quotes, and all citations in the order of the text.

    Only the markers directly behind the words of a citation are markers: a quote may have a number in brackets itself.
    """
    edits = [_insert_at(_begin(text, insertion.before), insertion) for insertion in insertions]
    ends = {citation.answer_span.end for citation in citations}
    edits += [_Edit(start=end, end=found.end()) for end in ends if (found := _MARKERS.match(text, end)) is not None]
    numbers: dict[int, int] = {}
    out, at, made, moved = "", 0, list[Citation](), list[tuple[int, int]]()
    for edit in sorted(edits, key=lambda edit: edit.start):
        out += text[at : edit.start]
        at = edit.end
        if edit.inserted is None:
            out += _NUMBER.sub(lambda found: f"[{_number(numbers, int(found[1]))}]", text[edit.start : edit.end])
        else:
            quote = " ".join(edit.inserted.citation.quote.split())
            marker = _number(numbers, edit.inserted.citation.marker or -len(made) - 1)
            span = Span(start=len(out), end=len(out) + len(quote))
            made.append(replace(edit.inserted.citation, marker=marker, answer_span=span))
            out += f"{quote} [{marker}]\n\n"
        moved.append((edit.start if edit.inserted is not None else edit.start + 1, len(out) - at))
    kept = [_move(citation, numbers, moved) for citation in citations]
    return out + text[at:], tuple(sorted([*made, *kept], key=lambda citation: citation.answer_span.start))


def take_out(text: str, citations: Sequence[Citation], taken: Citation) -> tuple[str, tuple[Citation, ...]] | None:
    """Returns the text and the citations without the paragraph of one quote; None if the paragraph has more than it."""
    start, end = taken.answer_span.start, taken.answer_span.end
    markers = _MARKERS.match(text, end)
    stop = markers.end() if markers else end
    is_alone = text[:start].endswith(_BETWEEN) and text[stop : stop + len(_BETWEEN)] in ("", _BETWEEN)
    others = [citation for citation in citations if citation is not taken]
    if not is_alone or any(start <= other.answer_span.start < stop for other in others):
        return None
    length = stop - start + len(_BETWEEN)
    moved = [
        citation if citation.answer_span.start < start else replace(citation, answer_span=_shift(citation, -length))
        for citation in others
    ]
    return text[: start - len(_BETWEEN)] + text[stop:], tuple(moved)


def _shift(citation: Citation, by: int) -> Span:
    return Span(start=citation.answer_span.start + by, end=citation.answer_span.end + by)


def _insert_at(place: int, insertion: Insertion) -> _Edit:
    return _Edit(start=place, end=place, inserted=insertion)


def _begin(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


def _number(numbers: dict[int, int], known: int) -> int:
    return numbers.setdefault(known, len(numbers) + 1)


def _move(citation: Citation, numbers: dict[int, int], moved: Sequence[tuple[int, int]]) -> Citation:
    span = citation.answer_span
    start, end = (place + _find_shift(place, moved) for place in (span.start, span.end))
    return replace(citation, marker=_number(numbers, citation.marker), answer_span=Span(start=start, end=end))


def _find_shift(place: int, moved: Sequence[tuple[int, int]]) -> int:
    """Returns by how much a place moves: `moved` has the places from which on the text moves, and by how much."""
    return next((shift for begin, shift in reversed(moved) if begin <= place), 0)


_MOST_AMENDMENTS = 5
"""Amendments of a document that are read, the newest first."""
_MOST_CHUNKS = 200
"""Passages of an amendment that are read."""
_MOST_ADDED = 3
"""Passages that are added to those of a search, and sentences that are quoted in an answer."""


@dataclass(frozen=True, kw_only=True)
class _Amending:
    """A change of a clause, and the passage of the amendment that says it. `is_all`: no other sentence of the amendment
    may be a change that was not read.
    """

    change: ClauseChange
    relation: Relation
    chunk: Chunk
    is_all: bool

    @property
    def document(self) -> DocumentRef:
        return self.relation.document

    @property
    def since(self) -> date | None:
        """None: the day is not known."""
        return self.relation.since

    @property
    def span(self) -> Span:
        return Span(start=self.change.start, end=self.change.start + len(self.change.text))


@dataclass(frozen=True)
class _Cited:
    """A citation of an answer, and the hit that it quotes."""

    citation: Citation
    hit: Hit

    @property
    def range(self) -> tuple[int, int]:
        return self.citation.source_span.start, self.citation.source_span.end


class Amendments:
    """The changes of clauses by amendments that are in force and among the documents of a request.

    An amendment changes clauses only if it may: what only claims to amend a document changes nothing.
    """

    def __init__(self, container: "Container", selection: Selection) -> None:
        self._container, self._selection = container, selection
        self._corpora = {part.corpus.name: part for part in selection.parts}
        self._read: dict[tuple[str, str], Sequence[_Amending]] = {}

    async def add(self, hits: Sequence[Hit], documents: frozenset[str] | None) -> tuple[Hit, ...]:
        """Returns the hits, each followed by the passages of amendments that change it."""
        added: list[Hit] = []
        known = {hit.chunk.id for hit in hits}
        most = len(hits) + _MOST_ADDED
        for hit in hits:
            added.append(hit)
            for found in await self.find(hit, 0, len(hit.chunk.text)):
                is_there = found.chunk.id in known or (documents is not None and found.document.id not in documents)
                if is_there or len(known) >= most:
                    continue
                known.add(found.chunk.id)
                added.append(_make_hit(found, hit))
        return tuple(added)

    async def find(self, hit: Hit, start: int, end: int) -> list[_Amending]:
        """Returns the changes of the clause that a part of a passage is of, the newest first."""
        changes = await self._list_changes(hit.corpus, hit.document.id)
        heading, text, span = hit.chunk.heading, hit.chunk.text, Span(start=start, end=end)
        direct = [found.change for found in changes if is_changed(found.change, heading, text, span)]
        replaced = " ".join(change.text for change in direct)  # a later amendment quotes the words of an earlier one
        return [found for found in changes if direct and is_changed(found.change, heading, text, span, replaced)]

    async def list_unaffected(self, cited: Sequence[_Cited]) -> dict[tuple[str, str], str]:
        """Returns the sentences on amendments none of whose known changes is of a quote, by the ids of the document and
        the amendment; they say whether there may be other changes. Nothing is said of an amendment without known
        changes, nor of a quote whose clause is not known.
        """
        documents = {(quote.hit.corpus, quote.citation.document.id): quote.citation.document for quote in cited}
        told: dict[tuple[str, str], str] = {}
        for (corpus, id), ref in documents.items():
            quotes = [quote for quote in cited if quote.citation.document.id == id]
            if not all(is_placed(quote.hit.chunk.heading, quote.hit.chunk.text[: quote.range[1]]) for quote in quotes):
                continue
            of: dict[str, list[_Amending]] = {}
            for found in await self._list_changes(corpus, id):
                of.setdefault(found.document.id, []).append(found)
            validity = find_validity(self._selection.registers.get(corpus), id)
            if validity is not None:
                told |= {(id, by): _describe_unaffected(ref, validity, found) for by, found in of.items()}
        return told

    async def _list_changes(self, corpus: str, document_id: str) -> Sequence[_Amending]:
        place = (corpus, document_id)
        if place not in self._read:
            validity = find_validity(self._selection.registers.get(corpus), document_id)
            self._read[place] = [] if validity is None else await self._load(corpus, validity.relations)
        return self._read[place]

    async def _load(self, corpus: str, relations: Sequence[Relation]) -> list[_Amending]:
        part, day = self._corpora[corpus], self._selection.day
        amending = {
            relation.document.id: relation
            for relation in relations
            if relation.kind == AMENDED_BY
            and not relation.problem
            and (part.documents is None or relation.document.id in part.documents)
        }
        is_begun = [
            relation for relation in amending.values() if day is None or relation.since is None or relation.since <= day
        ]
        newest = sorted(is_begun, key=lambda relation: relation.since or date.min, reverse=True)
        found: dict[tuple[str, str], _Amending] = {}
        for relation in newest[:_MOST_AMENDMENTS]:
            contents = self._container.record.contents
            chunks = await contents.get_chunks_of(part.corpus.id, relation.document.id, limit=_MOST_CHUNKS)
            for amended in await compute(_read_changes, chunks, relation):
                found.setdefault((relation.document.id, amended.change.text), amended)
        return list(found.values())


def _read_changes(chunks: Sequence[Chunk], relation: Relation) -> list[_Amending]:
    read = [(chunk, list(find_clause_changes(chunk.text, chunk.heading))) for chunk in chunks]
    is_all = len(chunks) < _MOST_CHUNKS and not any(says_more(chunk.text, changes) for chunk, changes in read)
    return [
        _Amending(change=change, relation=relation, chunk=chunk, is_all=is_all)
        for chunk, changes in read
        for change in changes
    ]


def _make_hit(found: _Amending, beside: Hit) -> Hit:
    return Hit(chunk=found.chunk, document=found.document, score=beside.score, corpus=beside.corpus)


async def quote_amendments(
    amendments: Amendments, answer: Answer
) -> tuple[Answer, Mapping[tuple[str, str], Sequence[str]]]:
    """Returns the answer, and sentences on the amendments of clauses that it cites, by the ids of the document and of
    its amendment. An answer that only quotes has the sentence of the amendment before the clause, with a citation. If
    none of its quotes is of a clause that a read amendment changes, the sentence says this.
    """
    hits = {hit.chunk.id: hit for step in answer.steps for hit in step.hits}
    cited = [_Cited(citation, hit) for citation in answer.citations if (hit := hits.get(citation.chunk_id)) is not None]
    changes = [(quote, found) for quote in cited for found in await amendments.find(quote.hit, *quote.range)]
    lines: dict[tuple[str, str], Sequence[str]] = {}
    for quote, found in changes:
        pair = (quote.citation.document.id, found.document.id)
        lines[pair] = tuple(dict.fromkeys([*lines.get(pair, ()), _describe(quote.citation.document, found)]))
    if answer.support is not Support.QUOTED or answer.table:
        return answer, lines
    for pair, line in (await amendments.list_unaffected(cited)).items():
        lines.setdefault(pair, (line,))
    return _put_changes_before(answer, changes), lines


def _put_changes_before(answer: Answer, changes: Sequence[tuple["_Cited", _Amending]]) -> Answer:
    """Returns the answer with each sentence of an amendment before the first quote that it changes: a new quote, or a
    quote of the answer that stood behind.
    """
    text, citations = answer.text, answer.citations
    placed: dict[str, tuple[Citation, Citation]] = {}
    added: dict[str, Hit] = {}
    for quote, found in changes:
        is_full = len(placed) >= _MOST_ADDED
        if found.change.text in placed or (target := _find_same(quote.citation, citations)) is None or is_full:
            continue
        behind = next((citation for citation in citations if _has(citation, found)), None)
        if behind is None:
            added[found.chunk.id] = beside = _make_hit(found, quote.hit)
            placed[found.change.text] = (target, _make_citation(target, found, beside))
        elif behind.answer_span.start > target.answer_span.start and not any(
            _find_same(before, [behind]) for before, _ in placed.values()
        ):
            rest = take_out(text, citations, behind)
            if rest is not None:
                (text, citations), placed[found.change.text] = rest, (target, behind)
    if not placed:
        return answer
    insertions = [
        Insertion(before=place.answer_span.start, citation=source)
        for target, source in placed.values()
        if (place := _find_same(target, citations)) is not None
    ]
    text, citations = insert_quotes(text, citations, insertions)
    last = answer.steps[-1]
    more = tuple(hit for id, hit in added.items() if id not in {hit.chunk.id for hit in last.hits})
    steps = (*answer.steps[:-1], replace(last, hits=last.hits + more))
    return replace(answer, text=text, citations=citations, steps=steps)


def _find_same(citation: Citation, citations: Sequence[Citation]) -> Citation | None:
    """Returns the citation of the same words, which may stand in another place of the answer."""
    place = (citation.chunk_id, citation.source_span)
    return next((other for other in citations if (other.chunk_id, other.source_span) == place), None)


def _has(citation: Citation, found: _Amending) -> bool:
    """Returns whether a quote has the sentence of an amendment, in this or an overlapping passage."""
    said, change = (" ".join(text.split()) for text in (citation.quote, found.change.text))
    return citation.document.id == found.document.id and change in said


def _make_citation(beside: Citation, found: _Amending, hit: Hit) -> Citation:
    return Citation(
        marker=0,
        chunk_id=found.chunk.id,
        document=found.document,
        page=found.chunk.page,
        quote=found.change.text,
        part_of=describe_hit(hit, found.span),
        answer_span=Span(start=0, end=0),
        source_span=found.span,
        corpus=beside.corpus,
    )


def _describe_unaffected(ref: DocumentRef, validity: Validity, changes: Sequence[_Amending]) -> str:
    """Returns what is said of an amendment whose known changes are not of a quote: if it may have other changes, what
    is said of any amendment stands before it.
    """
    parts = ", ".join(dict.fromkeys(_name_part(found.change) for found in changes))
    if not changes[0].is_all:
        line = describe_relation(ref, validity, changes[0].relation)
        read = f"The changes that were read there ({parts}) are not of what is quoted here"
        return f"{line} {read}; other changes may stand there."
    amendment, since = changes[0].document, "" if changes[0].since is None else f" since {changes[0].since}"
    amended = f"“{name_document(ref, amendment)}” is amended by “{name_document(amendment, ref)}”{since}"
    return f"{amended}; the changes that were read there ({parts}) are not of what is quoted here."


def _name_part(change: ClauseChange) -> str:
    return f"“{change.part}”" if change.is_title or change.is_term else change.part


def _describe(ref: DocumentRef, found: _Amending) -> str:
    since = "" if found.since is None else f" since {found.since}"
    changed = f"{_name_part(found.change)} of “{name_document(ref, found.document)}” is changed by"
    return f"{changed} “{name_document(found.document, ref)}”{since} (“{shorten(found.change.text)}”)."
