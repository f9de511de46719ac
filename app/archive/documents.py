"""Assembles the documents of a section from their rows, and checks that these rows belong together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.archive.format.rows import ArchiveChunkRow, ArchiveDocumentRow
from app.archive.format.section import ArchiveSection, group_rows
from core.documents import Chunk, Metadata, Span
from core.graph import Extraction, Fact, Mention, Surface, Triple
from core.ports.record import ChunkRow as RecordRow
from core.ports.record import NewRevision
from indexer import ChunkContent, make_chunk_rows, make_chunks

__all__ = ["ArchivedDocument", "assemble_documents"]

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
    graph = _Graph(section, names, group_rows(mentions, "chunk_id"), group_rows(facts, "chunk_id"))
    chunks_of = group_rows(chunks, "document_id")
    extractions = group_rows(section.find("extraction", ids), "document_id")
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
