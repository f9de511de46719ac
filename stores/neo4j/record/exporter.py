"""Everything that readers see of a corpus, row by row."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import IO, Any

from stores.neo4j.driver.database import Database, Transaction
from stores.neo4j.driver.statements import statements

__all__ = ["Neo4jExporter"]

_STATE = statements("graph")["corpus"]
_TRIES = 2
_BATCH = 2000

_ExportRow = dict[str, object]

_CYPHER = statements("exporter")
_FACT = ("id", "triple_id", "chunk_id", "subject_id", "predicate", "object_id")


class Neo4jExporter:
    """Fills `core.ports.record.Exporter`.

    Neo4j shows a transaction what others commit while it reads, so the rows go to a file first, and count if the
    generation is still the same behind them. A corpus that is written all the time is read under its lock in the end.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def rows(self, corpus_id: str, *, canonical: bool) -> AsyncIterator[Mapping[str, object]]:
        with tempfile.TemporaryFile("w+", encoding="utf-8", prefix="hopweave-export-") as spool:
            await self._fill(spool, corpus_id, canonical=canonical)
            spool.seek(0)
            while lines := await asyncio.to_thread(lambda: list(islice(spool, _BATCH))):
                for line in lines:
                    yield json.loads(line)

    async def _fill(self, spool: IO[str], corpus_id: str, *, canonical: bool) -> None:
        def work(tx: Transaction) -> bool:
            """Whether nobody wrote meanwhile."""
            before = tx.row(_STATE, corpus=corpus_id)
            spool.seek(0)
            spool.truncate()
            for row in _export_rows(tx, corpus_id, canonical=canonical):
                spool.write(json.dumps(row) + "\n")
            return tx.row(_STATE, corpus=corpus_id) == before

        for _ in range(_TRIES):
            if await self._database.read(work):
                return
        await self._database.write(corpus_id, work)


def _export_rows(tx: Transaction, corpus_id: str, *, canonical: bool) -> Iterator[_ExportRow]:
    """All rows in the order of the port, as the server streams them."""

    def stream(kind: str) -> Iterator[Sequence[Any]]:
        return tx.stream(_CYPHER[kind], prefix=f"{corpus_id}:")

    for row in stream("document"):
        yield _document(row, canonical=canonical)
    yield from _grains(stream)
    if not canonical:
        yield from _more(stream)


def _grains(stream: Callable[[str], Iterator[Sequence[Any]]]) -> Iterator[_ExportRow]:
    for row in stream("chunk"):
        yield _chunk(row)
    for id, name, display in stream("entity"):
        yield {"kind": "entity", "id": id, "name": name, "display": display}
    for chunk_id, mentions in stream("mention"):
        yield from _mentions(chunk_id, mentions)
    for row in stream("fact"):
        yield {"kind": "fact", **dict(zip(_FACT, row, strict=True))}


def _more(stream: Callable[[str], Iterator[Sequence[Any]]]) -> Iterator[_ExportRow]:
    """What another store needs to go on from here."""
    for first_id, synonyms in stream("synonym"):
        for second_id, score in sorted(synonyms):
            yield {"kind": "synonym", "first_id": first_id, "second_id": second_id, "score": score}
    for id, extract_hash, payload in stream("extraction"):
        yield {"kind": "extraction", "document_id": id, "extract_hash": extract_hash, "payload": json.loads(payload)}


def _document(row: Sequence[Any], *, canonical: bool) -> _ExportRow:
    id, key, title, media_type, content_hash, chunks, malformed, metadata, size, fingerprint, given_title = row
    shown: _ExportRow = {
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


def _chunk(row: Sequence[Any]) -> _ExportRow:
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


def _mentions(chunk_id: str, mentions: Sequence[tuple[str, Sequence[str], Sequence[int]]]) -> Iterator[_ExportRow]:
    for entity_id, forms, counts in sorted(mentions):
        for form, count in sorted(zip(forms, counts, strict=True)):
            yield {"kind": "mention", "chunk_id": chunk_id, "entity_id": entity_id, "form": form, "count": count}
