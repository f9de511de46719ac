"""What the server gives of a corpus as rows for export."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.statements import statements

__all__ = ["ExportRow", "export_rows"]

ExportRow = dict[str, object]

_CYPHER = statements("exporter")


def export_rows(tx: Transaction, corpus_id: str, *, canonical: bool) -> Iterator[ExportRow]:
    """All rows in the order of the port, as the server streams them."""

    def stream(kind: str) -> Iterator[Sequence[Any]]:
        return tx.stream(_CYPHER[kind], prefix=f"{corpus_id}:")

    for row in stream("document"):
        yield _document(row, canonical=canonical)
    yield from _grains(stream)
    if not canonical:
        yield from _more(stream)


def _grains(stream: Callable[[str], Iterator[Sequence[Any]]]) -> Iterator[ExportRow]:
    for row in stream("chunk"):
        yield _chunk(row)
    for id, name, display in stream("entity"):
        yield {"kind": "entity", "id": id, "name": name, "display": display}
    for chunk_id, mentions in stream("mention"):
        yield from _mentions(chunk_id, mentions)
    for row in stream("fact"):
        yield {"kind": "fact", **dict(zip(_FACT, row, strict=True))}


def _more(stream: Callable[[str], Iterator[Sequence[Any]]]) -> Iterator[ExportRow]:
    """What another store needs to go on from here."""
    for first_id, synonyms in stream("synonym"):
        for second_id, score in sorted(synonyms):
            yield {"kind": "synonym", "first_id": first_id, "second_id": second_id, "score": score}
    for id, extract_hash, payload in stream("extraction"):
        yield {"kind": "extraction", "document_id": id, "extract_hash": extract_hash, "payload": json.loads(payload)}


_FACT = ("id", "triple_id", "chunk_id", "subject_id", "predicate", "object_id")


def _document(row: Sequence[Any], *, canonical: bool) -> ExportRow:
    id, key, title, media_type, content_hash, chunks, malformed, metadata, size, fingerprint, given_title = row
    shown: ExportRow = {
        "kind": "document",
        "id": id,
        "key": key,
        "title": title,
        "media_type": media_type,
        "content_hash": content_hash,
        "chunks": chunks,
        "malformed_triples": malformed,
        "metadata": json.loads(metadata),
    }
    return shown if canonical else {**shown, "size": size, "fingerprint": fingerprint, "given_title": given_title}


def _chunk(row: Sequence[Any]) -> ExportRow:
    id, document_id, position, heading, page, start, end, text, view_id, extract_hash, tokens = row
    return {
        "kind": "chunk",
        "id": id,
        "document_id": document_id,
        "position": position,
        "heading": heading,
        "page": page,
        "span": None if start is None else [start, end],
        "text": text,
        "view_id": view_id,
        "extract_hash": extract_hash,
        "tokens": tokens,
    }


def _mentions(chunk_id: str, mentions: Sequence[tuple[str, Sequence[str], Sequence[int]]]) -> Iterator[ExportRow]:
    for entity_id, forms, counts in sorted(mentions):
        for form, count in sorted(zip(forms, counts, strict=True)):
            yield {"kind": "mention", "chunk_id": chunk_id, "entity_id": entity_id, "form": form, "count": count}
