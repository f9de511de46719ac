"""A section: the rows of one corpus of a file, kept in a spool until the whole file is checked.

Rows are checked against their ids, which are digests of content, so a changed row is detected. The documents of a
section are assembled from its rows, which must belong together.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from app.archive.rows import (
    ArchiveChunkRow,
    ArchiveDocumentRow,
    ArchiveEntityRow,
    ArchiveFactRow,
    ArchiveMentionRow,
    ArchiveMergeRow,
    ArchiveOriginalRow,
    ArchiveQuestionRow,
    ArchiveRejectionRow,
    ArchiveSynonymRow,
    ArchiveVectorRow,
    parse_row,
)
from core import ids
from core.corpora import CorpusSettings
from core.documents import Chunk, Metadata, Span, check_key, check_media_type
from core.errors import InvalidInput, LoadFailed
from core.graph import Extraction, Fact, Mention, Surface, Triple
from core.ports.embedding import Vectors
from core.ports.record import ChunkRow as RecordRow
from core.ports.record import GraphMerge, NewRevision
from core.ports.views import VectorKind
from core.principals import check_access
from indexer import ChunkContent, canonical_json, fingerprint_of, make_chunk_rows, make_chunks
from stores.sqlite import Spool, SpooledRow

_PAGE = 1000
_MOST_CHUNKS = 2000  # of one batch of documents


def _make_keys(row: Any) -> tuple[tuple[str, str], ...]:
    """Returns the keys of a row in the spool, each with a second name: the name of its vector, original or partner."""
    match row:
        case ArchiveDocumentRow():
            return ((row.id, row.content_hash),)
        case ArchiveChunkRow():
            return ((row.document_id, row.view_id),)
        case ArchiveMentionRow():
            return ((row.chunk_id, row.entity_id),)
        case ArchiveFactRow():
            return ((row.chunk_id, row.triple_id),)
        case ArchiveOriginalRow():
            return ((row.content_hash, str(row.part)),)
        case _:
            return _make_other_keys(row)


def _make_other_keys(row: Any) -> tuple[tuple[str, str], ...]:
    if row.kind == "synonym":
        return (row.first_id, row.second_id), (row.second_id, row.first_id)
    if row.kind == "merge":
        return ((row.from_id, row.into_id),)
    if row.kind == "rejection":
        id = ids.pair_id(row.first_id, row.second_id)
        return ((id, id),)
    if row.kind in ("threshold", "schema"):
        return ((row.kind, row.kind),)
    if row.kind == "extraction":
        return ((row.document_id, row.extract_hash),)
    return ((row.id, row.id),)


@dataclass(frozen=True, kw_only=True)
class ArchiveSection:
    """One corpus of a file. `number` is its position in the file, `sha256` the digest of its lines once read."""

    source: str
    number: int
    name: str
    settings: CorpusSettings
    generation: int
    sha256: str
    spool: Spool

    def heap(self, kind: str, of: str = "") -> str:
        """Returns the name under which the spool stores rows of a kind."""
        return f"{self.number}:{kind}:{of}"

    def find(self, kind: str, keys: list[str] | set[str]) -> list[tuple[int, Any]]:
        """Returns the rows of a kind with these keys, each with its line number."""
        return [(found.line, parse_row(found.body)) for found in self.spool.find(self.heap(kind), keys)]

    def count(self, kind: str) -> int:
        return self.spool.count(self.heap(kind))

    def read_batches(self) -> Iterator[list[tuple[int, ArchiveDocumentRow]]]:
        """Yields all documents, ordered by id, with their line numbers, in batches for one transaction each."""
        last = ""
        batch: list[tuple[int, ArchiveDocumentRow]] = []
        chunks = 0
        while ids := self.spool.list_keys(self.heap("document"), after=last, limit=_PAGE):
            for line, document in sorted(self.find("document", ids), key=lambda found: str(found[1].id)):
                if batch and (chunks + document.chunks > _MOST_CHUNKS or len(batch) == _PAGE):
                    yield batch
                    batch, chunks = [], 0
                batch.append((line, document))
                chunks += document.chunks
            last = ids[-1]
        if batch:
            yield batch

    def read_merges(self) -> list[GraphMerge]:
        """Returns all merges of entities, by the id of the merged entity."""
        merges: list[GraphMerge] = []
        while ids := self.spool.list_keys(self.heap("merge"), after=merges[-1].from_id if merges else "", limit=_PAGE):
            rows = [row for _, row in self.find("merge", ids)]
            merges += sorted(GraphMerge(row.from_id, row.from_name, row.into_id, row.into_name) for row in rows)
        return merges

    def read_rejections(self) -> list[tuple[str, str]]:
        """Returns all rejected pairs of entities, as two ids in ascending order each."""
        pairs: list[tuple[str, str]] = []
        last = ""
        while keys := self.spool.list_keys(self.heap("rejection"), after=last, limit=_PAGE):
            pairs += [(row.first_id, row.second_id) for _, row in self.find("rejection", keys)]
            last = keys[-1]
        return sorted(pairs)

    def read_threshold(self) -> float | None:
        """Returns the threshold for merging entities; None if the corpus has none."""
        return next((row.merge_above for _, row in self.find("threshold", ["threshold"])), None)

    def read_schema(self) -> str | None:
        """Returns the text of the schema of the graph; None if the corpus has none."""
        return next((row.text for _, row in self.find("schema", ["schema"])), None)

    def read_questions(self) -> Iterator[list[ArchiveQuestionRow]]:
        """Yields all stored questions, the oldest first, in batches for one transaction each."""
        ids: list[str] = []
        last = ""
        while page := self.spool.list_keys(self.heap("question"), after=last, limit=_PAGE):
            ids += page
            last = page[-1]
        ordered = [row for _, row in sorted(self.find("question", ids), key=lambda found: found[0])]
        for at in range(0, len(ordered), _PAGE):
            yield ordered[at : at + _PAGE]

    def read_vectors(self, kind: VectorKind, ids: list[str]) -> tuple[list[str], Vectors]:
        """Returns the vectors that are in the file: their ids, and a matrix with one row for each."""
        found = self.spool.find(self.heap("vector", kind), ids)
        dimension = self.settings.dimension
        vectors = [_decode_vector(parse_row(one.body), dimension) for one in found]
        return [one.key for one in found], np.stack(vectors) if vectors else np.empty((0, dimension), np.float32)

    def read_originals(self, names: set[str]) -> Iterator[bytes]:
        """Yields those originals that are in the file."""
        for name in sorted(names):
            parts = self.spool.find(self.heap("original"), [name])
            if parts:
                yield b"".join(part.body for part in parts)

    def count_missing(self, kind: str, of: str = "") -> int:
        """Returns how many rows of a kind have no vector (`of`: chunk, entity, fact) or no original (`of` empty)."""
        other = self.heap("vector", of) if of else self.heap("original")
        return self.spool.count_missing(self.heap(kind), other)

    def make_error(self, line: int, reason: str) -> LoadFailed:
        """Returns the error for a line that does not fit the others."""
        return LoadFailed(f"{self.source} line {line}: {reason}; the file was damaged, or changed after it was written")


def _group_rows(rows: list[tuple[int, Any]], by: str) -> dict[str, list[tuple[int, Any]]]:
    """Groups rows by one of their fields."""

    def key(found: tuple[int, Any]) -> str:
        return str(getattr(found[1], by))

    return {value: list(group) for value, group in groupby(sorted(rows, key=key), key=key)}


def make_spooled_rows(row: Any, line: int, body: bytes) -> list[SpooledRow]:
    return [SpooledRow(key, id, line, body) for key, id in _make_keys(row)]


_Found = tuple[int, Any]


@dataclass(frozen=True, kw_only=True)
class ArchivedDocument:
    """A document with everything that the record stores of it."""

    revision: NewRevision
    title: str
    found_metadata: Metadata
    malformed_triples: int
    enabled: bool
    passages: tuple[ChunkContent, ...]
    chunks: tuple[Chunk, ...]
    mentions: tuple[Mention, ...]
    facts: tuple[Fact, ...]
    extractions: Mapping[str, Extraction]

    def make_rows(self) -> tuple[RecordRow, ...]:
        """Makes the rows of the chunks. This is slow and no check needs them, so it is done on demand."""
        return make_chunk_rows(self.title, self.passages, self.chunks)


def assemble_documents(
    section: ArchiveSection, documents: list[tuple[int, ArchiveDocumentRow]]
) -> list[ArchivedDocument]:
    """Returns the documents with their chunks, mentions, facts and extractions.

    Raises `LoadFailed` with the line of a row that does not belong to the others.
    """
    ids = [document.id for _, document in documents]
    chunks = section.find("chunk", ids)
    mentions = section.find("mention", [chunk.id for _, chunk in chunks])
    facts = section.find("fact", [chunk.id for _, chunk in chunks])
    entities = section.find("entity", {mention.entity_id for _, mention in mentions})
    names = {entity.id: entity.name for _, entity in entities}
    graph = _Graph(section, names, _group_rows(mentions, "chunk_id"), _group_rows(facts, "chunk_id"))
    chunks_of = _group_rows(chunks, "document_id")
    extractions = _group_rows(section.find("extraction", ids), "document_id")
    return [
        _assemble_document(
            section, line, document, chunks_of.get(document.id, []), graph, extractions.get(document.id, [])
        )
        for line, document in documents
    ]


class _Graph:
    """The mentions and facts of chunks, checked and converted."""

    def __init__(
        self,
        section: ArchiveSection,
        names: Mapping[str, str],
        mentions: Mapping[str, list[_Found]],
        facts: Mapping[str, list[_Found]],
    ) -> None:
        self._section = section
        self._names = names
        self._mentions = mentions
        self._facts = facts

    def mentions(self, chunk_id: str) -> list[Mention]:
        made: dict[tuple[str, str], Mention] = {}
        for line, row in self._mentions.get(chunk_id, []):
            if row.entity_id not in self._names:
                raise self._section.make_error(line, "this mention's entity is not in the file")
            if (row.entity_id, row.form) in made:
                raise self._section.make_error(line, "this mention is in the file twice")
            made[row.entity_id, row.form] = Mention(
                chunk_id=chunk_id,
                entity_id=row.entity_id,
                name=self._names[row.entity_id],
                form=row.form,
                count=row.count,
            )
        return list(made.values())

    def facts(self, chunk_id: str) -> list[Fact]:
        mentioned = {row.entity_id for _, row in self._mentions.get(chunk_id, [])}
        made: dict[str, Fact] = {}
        for line, row in self._facts.get(chunk_id, []):
            if not {row.subject_id, row.object_id} <= mentioned:
                raise self._section.make_error(line, "this fact is about an entity that its passage does not mention")
            if row.id in made:
                raise self._section.make_error(line, "this fact is in the file twice")
            made[row.id] = Fact(
                id=row.id,
                triple_id=row.triple_id,
                chunk_id=chunk_id,
                subject_id=row.subject_id,
                predicate=row.predicate,
                object_id=row.object_id,
            )
        return list(made.values())


def _assemble_document(
    section: ArchiveSection,
    line: int,
    document: ArchiveDocumentRow,
    chunks: list[_Found],
    graph: _Graph,
    extractions: list[_Found],
) -> ArchivedDocument:
    if len(chunks) != document.chunks:
        reason = f"this document has {document.chunks:,} passages, and {len(chunks):,} of them are in the file"
        raise section.make_error(line, reason)
    ordered = sorted(chunks, key=lambda found: int(found[1].position))
    passages = tuple(_make_passage(row) for _, row in ordered)
    return ArchivedDocument(
        revision=NewRevision(
            key=document.key,
            media_type=document.media_type,
            content_hash=document.content_hash,
            size=document.size,
            fingerprint=document.fingerprint,
            title=document.given_title,
            metadata=document.sent_metadata,
            access=check_access(document.access, "`access`"),
        ),
        title=document.title,
        found_metadata=document.metadata,
        malformed_triples=document.malformed_triples,
        enabled=document.enabled,
        passages=passages,
        chunks=_make_chunks(section, document, ordered, passages),
        mentions=tuple(mention for _, row in ordered for mention in graph.mentions(row.id)),
        facts=tuple(fact for _, row in ordered for fact in graph.facts(row.id)),
        extractions={row.extract_hash: _make_extraction(row) for _, row in extractions},
    )


def _make_chunks(
    section: ArchiveSection, document: ArchiveDocumentRow, found: list[_Found], passages: tuple[ChunkContent, ...]
) -> tuple[Chunk, ...]:
    """Makes the chunks again from their content. Ids, view ids and positions must equal those in the file."""
    made = make_chunks(document.key, document.title, passages, section.settings.embedding_model)
    for (line, there), chunk in zip(found, made, strict=True):
        if there.position != chunk.position:
            raise section.make_error(line, "the position of this passage does not fit its document")
        if (there.id, there.view_id) != (chunk.id, chunk.view_id):
            raise section.make_error(line, "this passage has an id that does not belong to its content")
    return made


def _make_passage(row: ArchiveChunkRow) -> ChunkContent:
    return ChunkContent(
        text=row.text,
        heading=row.heading,
        page=row.page,
        span=None if row.span is None else Span(start=row.span[0], end=row.span[1]),
        tokens=row.tokens,
        extract_hash=row.extract_hash,
    )


def _make_extraction(row: Any) -> Extraction:
    payload = row.payload
    return Extraction(
        entities=tuple(Surface(form=form, count=count) for form, count in payload.entities),
        triples=tuple(Triple(subject=s, predicate=p, object=o) for s, p, o in payload.triples),
        malformed=payload.malformed,
    )


_LENGTH_TOLERANCE = 1e-2
"""Embedders normalize vectors in single precision; stores return them as they were written."""


def check_content(row: Any, dimension: int) -> None:
    """Raises `LoadFailed` if the ids of a row do not belong to its content.

    The id of a chunk depends on its document and is checked with that, in `app.archive.section`.
    """
    match row:
        case ArchiveDocumentRow():
            _check_document(row)
        case ArchiveEntityRow():
            _check_id("entity", row.id, ids.entity_id(row.name))
        case ArchiveFactRow():
            _check_id("fact's triple", row.triple_id, ids.triple_id(row.subject_id, row.predicate, row.object_id))
            _check_id("fact", row.id, ids.assertion_id(row.triple_id, row.chunk_id))
        case ArchiveMergeRow():
            _check_id("merge's entity", row.from_id, ids.entity_id(row.from_name))
            _check_id("merge's entity", row.into_id, ids.entity_id(row.into_name))
        case ArchiveSynonymRow() | ArchiveRejectionRow() if row.first_id >= row.second_id:
            raise LoadFailed(f"this {row.kind}'s two entities are not in order")
        case ArchiveVectorRow():
            _decode_vector(row, dimension)


def _decode_vector(row: ArchiveVectorRow, dimension: int) -> Vectors:
    """Returns the vector of a row. Raises `LoadFailed` if it is no unit vector of this dimension."""
    raw = decode_base64(row.data)
    if len(raw) != 4 * dimension:
        raise LoadFailed(f"this vector has {len(raw)} bytes; one of {dimension} dimensions has {4 * dimension}")
    vector = np.frombuffer(raw, dtype="<f4")
    if not np.isfinite(vector).all():
        raise LoadFailed("this vector contains a value that is not a finite number")
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if abs(length - 1) > _LENGTH_TOLERANCE:
        raise LoadFailed(f"this vector has length {length:.3g}; vectors of a corpus have length 1")
    return vector


def decode_base64(data: str) -> bytes:
    """Raises `LoadFailed` if `data` is not valid base64."""
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise LoadFailed(f"`data` is not valid base64 ({error})") from error


def _check_document(row: ArchiveDocumentRow) -> None:
    try:
        check_key(row.key)
        check_media_type(row.media_type)
        fingerprint = fingerprint_of(
            key=row.key,
            media_type=row.media_type,
            title=row.given_title,
            metadata=row.sent_metadata,
            content_hash=row.content_hash,
        )
        canonical_json(row.metadata)
        check_access(row.access, "`access`")
    except InvalidInput as error:
        raise LoadFailed(str(error)) from error
    if {**row.metadata, **row.sent_metadata} != row.metadata:
        raise LoadFailed("the metadata of this document are not those of its submission")
    _check_id("document", row.id, ids.document_id(row.key))
    _check_id("document's fingerprint", row.fingerprint, fingerprint)


def _check_id(what: str, there: str, computed: str) -> None:
    if there != computed:
        raise LoadFailed(f"this {what} has an id that does not belong to its content")
