"""The port `TextIndex` in Neo4j: the entries of all corpora under one full-text index.

The first part makes tokens of texts and queries with the analyzer of the embedded text index, so that both indexes find
the same: Neo4j's own analyzers keep a run of katakana in one piece, and split words of Thai wrongly.
"""

import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from core.errors import InvalidInput
from core.ports.views import Scored, TextEntry
from core.text.query import Clause, Group, TextQuery
from stores.lucene_query import encodable, render
from stores.neo4j.driver.database import Neo4jPort
from stores.neo4j.driver.rows import uid_of
from stores.neo4j.driver.transaction import Transaction, batches, statements
from stores.tantivy.analysis import analyzer

MAX_CLAUSES = 900
"""Lucene takes 1024 clauses; the rest is for the filter of the corpus and its documents."""

_LONGEST = 200  # characters; Lucene would split longer words at a place of its own
_local = threading.local()


def _tokenize(text: str) -> str:
    """Returns the tokens of a text, in lower case and separated by spaces; '' for a text without a token."""
    if not hasattr(_local, "analyzer"):
        _local.analyzer = analyzer()  # one for each thread: it must not be shared
    tokens: list[str] = _local.analyzer.analyze(encodable(text))
    return " ".join(token if len(token) <= _LONGEST else " ".join(_pieces(token)) for token in tokens)


def _tokenize_query(query: TextQuery) -> TextQuery:
    """Returns the query in tokens. Equal clauses of `should` are merged, and only as many are kept as fit.

    Raises `InvalidInput` if `must` and `must_not` alone are too many.
    """
    must = tuple(map(_tokenize_clause, query.must))
    must_not = tuple(map(_tokenize_clause, query.must_not))
    left = MAX_CLAUSES - sum(map(_size, (*must, *must_not)))
    if left < 0:
        raise InvalidInput(f"the query demands or excludes {MAX_CLAUSES - left} words; at most {MAX_CLAUSES} work")
    return TextQuery(should=_first(_merge(map(_tokenize_clause, query.should)), left), must=must, must_not=must_not)


def _tokenize_clause(clause: Clause) -> Clause:
    if isinstance(clause, Group):
        return replace(clause, any=tuple(map(_tokenize_clause, clause.any)))
    return replace(clause, text=_tokenize(clause.text))


def _size(clause: Clause) -> int:
    return sum(map(_size, clause.any)) if isinstance(clause, Group) else bool(clause.text)


def _merge(clauses: "map[Clause]") -> list[Clause]:
    """Merges equal clauses and adds their boosts, as Lucene would score them; Lucene would count two clauses."""
    merged: dict[Clause, Clause] = {}
    for clause in clauses:
        key = replace(clause, boost=1.0)
        equal = merged.get(key)
        merged[key] = clause if equal is None else replace(clause, boost=equal.boost + clause.boost)
    return list(merged.values())


def _first(clauses: list[Clause], max_size: int) -> tuple[Clause, ...]:
    """Returns the first clauses whose sizes add up to at most `max_size`."""
    first: list[Clause] = []
    for clause in clauses:
        max_size -= _size(clause)
        if max_size < 0:
            break
        first.append(clause)
    return tuple(first)


def _pieces(token: str) -> list[str]:
    return [token[start : start + _LONGEST] for start in range(0, len(token), _LONGEST)]


_FILTER_BY_QUERY = 100
"""The largest number of documents that the query filters. For more, reading more hits and filtering them is faster."""

_OVERFETCH = 1000
_DELETED_AT_ONCE = 10_000


class Neo4jTextIndex(Neo4jPort):
    """Implements `core.ports.views.TextIndex`. Any number of processes read and write.

    A view is no part of the record's transactions, so writers do not lock the corpus. Concurrent writers of an entry
    write the same values. They write in the order of ids, so that they do not deadlock.
    """

    async def write(self, corpus_id: str, entries: Sequence[TextEntry]) -> None:
        last = {entry.id: entry for entry in entries}
        rows = [
            {
                "uid": uid_of(corpus_id, id),
                "corpus_id": corpus_id,
                "id": id,
                "document_id": entry.document_id,
                "words": _tokenize(entry.text),
            }
            for id, entry in sorted(last.items())
        ]
        for batch in batches(rows):
            await self._database.write_unlocked(_run("write", rows=batch))

    async def missing(self, corpus_id: str, ids: Sequence[str]) -> set[str]:
        def work(tx: Transaction) -> set[str]:
            uids = [uid_of(corpus_id, id) for id in ids]
            stored = (tx.stream(_CYPHER["stored"], uids=batch) for batch in batches(uids))
            return set(ids).difference(id for rows in stored for (id,) in rows)

        return await self._database.read(work)

    async def search(
        self, corpus_id: str, query: TextQuery, k: int, documents: Collection[str] | None = None
    ) -> list[Scored]:
        rendered = render(_tokenize_query(query))
        if rendered is None or k < 1 or (documents is not None and not documents):
            return []
        filtered = _filtered(rendered, corpus_id, documents)
        return await self._database.read(lambda tx: _best(tx, corpus_id, filtered, k, documents))

    async def find_few(
        self, corpus_id: str, asked: Sequence[tuple[TextQuery, int]], documents: Collection[str] | None = None
    ) -> list[list[str]]:
        found: list[list[str]] = [[] for _ in asked]
        if documents is not None and not documents:
            return found
        least = 0 if documents is None or len(documents) <= _FILTER_BY_QUERY else _OVERFETCH
        queries = [
            {"place": place, "query": _filtered(rendered, corpus_id, documents), "limit": max(most, least) + 1}
            for place, (query, most) in enumerate(asked)
            if most > 0 and (rendered := render(_tokenize_query(query))) is not None
        ]
        wanted = None if documents is None else list(documents)

        def work(tx: Transaction) -> None:
            for row in tx.rows(_CYPHER["find_few"], asked=queries, corpus=corpus_id, documents=wanted):
                if row["read"] <= max(asked[row["place"]][1], least) and len(row["ids"]) <= asked[row["place"]][1]:
                    found[row["place"]] = row["ids"]

        if queries:
            await self._database.read(work)
        return found

    async def delete(self, corpus_id: str, ids: Sequence[str]) -> None:
        for batch in batches(sorted(uid_of(corpus_id, id) for id in set(ids))):
            await self._database.write_unlocked(_run("delete", uids=batch))

    async def delete_corpus(self, corpus_id: str) -> None:
        def work(tx: Transaction) -> int:
            return int(tx.rows(_CYPHER["delete_some"], corpus=corpus_id, limit=_DELETED_AT_ONCE)[0]["deleted"])

        while await self._database.write_unlocked(work) == _DELETED_AT_ONCE:
            pass

    async def count(self, corpus_id: str) -> int:
        return await self._database.read(lambda tx: int(tx.rows(_CYPHER["count"], corpus=corpus_id)[0]["n"]))

    async def ids(self, corpus_id: str) -> list[str]:
        """Returns the ids of all entries, sorted, for comparing the index with the record."""
        return await self._database.read(lambda tx: sorted(id for (id,) in tx.stream(_CYPHER["ids"], corpus=corpus_id)))

    async def check(self) -> str:
        return await self._database.read(lambda tx: f"Neo4j {tx.rows(_CYPHER['server'])[0]['version']} full text")

    async def close(self) -> None:
        """Does nothing: the record closes the connection, which both use."""


_CYPHER = statements("text_index")


def _run(name: str, **parameters: Any) -> Any:
    return lambda tx: tx.run(_CYPHER[name], **parameters)


def _filtered(rendered: str, corpus_id: str, documents: Collection[str] | None) -> str:
    """Returns the query with a filter for the corpus and, if they are few, for documents. A filter adds no score."""
    clauses = [f"+words:({rendered})", f"+corpus_id:{_quoted(corpus_id)}^0"]
    if documents is not None and len(documents) <= _FILTER_BY_QUERY:
        clauses.append(f"+document_id:({' '.join(map(_quoted, sorted(documents)))})^0")
    return " ".join(clauses)


def _quoted(id: str) -> str:
    escaped = id.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _best(tx: Transaction, corpus_id: str, query: str, k: int, documents: Collection[str] | None) -> list[Scored]:
    """Returns the best `k` hits, ties by id.

    Lucene orders ties by its own numbers. Hits are therefore read until the last one scores less than the k-th.
    """
    limit = k + 16 if documents is None or len(documents) <= _FILTER_BY_QUERY else 4 * k + _OVERFETCH
    wanted = None if documents is None else list(documents)
    while True:
        hits = tx.rows(_CYPHER["search"], query=query, limit=limit, corpus=corpus_id, documents=wanted)[0]
        scored = [Scored(id=id, score=score) for id, score in zip(hits["ids"], hits["scores"], strict=True)]
        scored.sort(key=lambda hit: (-hit.score, hit.id))
        if hits["read"] < limit or (len(scored) >= k and hits["least"] < scored[k - 1].score):
            return scored[:k]
        limit *= 4
