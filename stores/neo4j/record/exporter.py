"""The port `Exporter` in Neo4j: all rows of a corpus that readers see, of one generation."""

import asyncio
import contextvars
import json
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import IO, Any

from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.driver.transaction import Transaction, statements

_STATE = statements("graph")["corpus"]
_TRIES = 2
_BATCH = 250
"""Rows that are read at once from the file. Each batch comes from a thread, so that requests take turns between."""

_AT_ONCE = 2
"""Corpora that a process reads at once. Each takes a thread for as long as Neo4j sends rows; in the threads of all
other calls, some exports would keep every other request waiting.
"""

_ExportRow = dict[str, object]

_CYPHER = statements("exporter")
_MERGE = ("from_id", "from_name", "into_id", "into_name")
_FACT = ("id", "triple_id", "chunk_id", "subject_id", "predicate", "object_id")


class Neo4jExporter:
    """Implements `core.ports.record.Exporter`.

    A transaction reads what others commit in the meantime. The rows are therefore first written to a file, which is
    used if the generation is still the same afterwards. If the corpus is written all the time, the last try reads it
    under its lock.
    """

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="export")

    async def rows(self, corpus_id: str, *, canonical: bool) -> AsyncGenerator[Mapping[str, object]]:
        with tempfile.TemporaryFile("w+", encoding="utf-8", prefix="hopweave-export-") as spool:
            await self._read_rows(spool, corpus_id, canonical=canonical)
            spool.seek(0)
            while rows := await asyncio.to_thread(lambda: [json.loads(line) for line in islice(spool, _BATCH)]):
                for row in rows:
                    yield row

    async def _read_rows(self, spool: IO[str], corpus_id: str, *, canonical: bool) -> None:
        def work(tx: Transaction) -> bool:
            """Returns whether no transaction wrote in the meantime."""
            before = tx.row(_STATE, corpus=corpus_id)
            spool.seek(0)
            spool.truncate()
            for row in _export_rows(tx, corpus_id, canonical=canonical):
                spool.write(json.dumps(row) + "\n")
            return tx.row(_STATE, corpus=corpus_id) == before

        loop = asyncio.get_running_loop()
        for _ in range(_TRIES):
            context = contextvars.copy_context()
            if await loop.run_in_executor(self._threads, context.run, self._database.read_now, work):
                return
        await self._database.write(corpus_id, work)


def _export_rows(tx: Transaction, corpus_id: str, *, canonical: bool) -> Iterator[_ExportRow]:
    """Yields all rows, in the order of the port, as the server streams them."""

    def stream(kind: str) -> Iterator[Sequence[Any]]:
        return tx.stream(_CYPHER[kind], prefix=f"{corpus_id}:")

    def decisions() -> Iterator[_ExportRow]:
        """Yields what users decided on entities that may be one, and the schema."""
        for first_id, second_id in tx.stream(_CYPHER["rejection"], prefix=f"{corpus_id}:", canonical=canonical):
            yield {"kind": "rejection", "first_id": first_id, "second_id": second_id}
        for (merge_above,) in tx.stream(_CYPHER["threshold"], corpus=corpus_id):
            yield {"kind": "threshold", "merge_above": merge_above}
        for (text,) in tx.stream(_CYPHER["schema"], corpus=corpus_id):
            yield {"kind": "schema", "text": text}

    for row in stream("document"):
        yield _document(row, canonical=canonical)
    yield from _graph_rows(stream)
    yield from decisions()
    if not canonical:
        yield from _other_rows(stream)


def _graph_rows(stream: Callable[[str], Iterator[Sequence[Any]]]) -> Iterator[_ExportRow]:
    for row in stream("chunk"):
        yield _chunk(row)
    for id, name, display in stream("entity"):
        yield {"kind": "entity", "id": id, "name": name, "display": display}
    for chunk_id, mentions in stream("mention"):
        yield from _mentions(chunk_id, mentions)
    for row in stream("fact"):
        yield {"kind": "fact", **dict(zip(_FACT, row, strict=True))}
    for row in stream("merge"):
        yield {"kind": "merge", **dict(zip(_MERGE, row, strict=True))}


def _other_rows(stream: Callable[[str], Iterator[Sequence[Any]]]) -> Iterator[_ExportRow]:
    """Yields what another store needs in order to continue with the corpus."""
    for first_id, synonyms in stream("synonym"):
        for second_id, score in sorted(synonyms):
            yield {"kind": "synonym", "first_id": first_id, "second_id": second_id, "score": score}
    for id, extract_hash, payload in stream("extraction"):
        yield {"kind": "extraction", "document_id": id, "extract_hash": extract_hash, "payload": json.loads(payload)}


def _document(row: Sequence[Any], *, canonical: bool) -> _ExportRow:
    id, key, title, media_type, content_hash, chunks, malformed, metadata, *given, disabled, access = row
    document: _ExportRow = {
        "kind": "document",
        "id": id,
        "key": key,
        "title": title,
        "media_type": media_type,
        "content_hash": content_hash,
        "chunks": chunks,
        "malformed_triples": malformed,
        "metadata": json.loads(metadata),
        **({"enabled": False} if disabled else {}),
        **({} if access is None else {"access": json.loads(access)}),
    }
    if canonical:
        return document
    size, fingerprint, given_title, given_metadata = given
    return {
        **document,
        "size": size,
        "fingerprint": fingerprint,
        "given_title": given_title,
        "given_metadata": json.loads(given_metadata),
    }


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
