"""The record against its views, row by row: the record has the last word."""

from collections.abc import AsyncIterator, Collection
from typing import Protocol, runtime_checkable

from app.container import Container
from app.findings import Finding, Level
from core.corpora import Corpus, Fine
from core.ports.views import VectorKind
from indexer import gives_triples

__all__ = ["compare"]


@runtime_checkable
class _ListsVectors(Protocol):
    async def ids(self, corpus_id: str, kind: VectorKind) -> list[str]: ...


@runtime_checkable
class _ListsTexts(Protocol):
    async def ids(self, corpus_id: str) -> list[str]: ...


async def compare(container: Container, corpus: Corpus, *, busy: bool) -> AsyncIterator[Finding]:
    """One finding a view. Where the corpus is `busy`, a view may rightly hold more than the record names."""
    views, entities, triples = await _named(container, corpus)
    fine = _is_fine(corpus)
    for kind, named in (
        (VectorKind.CHUNK, views),
        (VectorKind.ENTITY, entities if fine else set()),
        (VectorKind.FACT, triples if fine else set()),
    ):
        lacking = await container.vectors.missing(corpus.id, kind, sorted(named))
        count = await container.vectors.count(corpus.id, kind)
        vectors: object = container.vectors
        held = await vectors.ids(corpus.id, kind) if isinstance(vectors, _ListsVectors) else None
        yield await _finding(container, corpus, f"{kind} vectors", _Seen(named, lacking, held, count), busy=busy)
    lacking = await container.text.missing(corpus.id, sorted(views))
    count = await container.text.count(corpus.id)
    texts: object = container.text
    held = await texts.ids(corpus.id) if isinstance(texts, _ListsTexts) else None
    yield await _finding(container, corpus, "text entries", _Seen(views, lacking, held, count), busy=busy)


class _Seen:
    """What the record names and what one view has; `held` is None where a view cannot list its ids."""

    def __init__(self, named: Collection[str], lacking: set[str], held: list[str] | None, count: int) -> None:
        self.named = named
        self.lacking = lacking
        self.orphans = set() if held is None else set(held).difference(named)
        self.count = count


async def _named(container: Container, corpus: Corpus) -> tuple[set[str], set[str], set[str]]:
    """Ids of the view entries, entities and triples that the record names, at one moment."""
    ids: dict[str, set[str]] = {"chunk": set(), "entity": set(), "fact": set()}
    fields = {"chunk": "view_id", "entity": "id", "fact": "triple_id"}
    async for row in container.record.exporter.rows(corpus.id, canonical=True):
        kind = str(row["kind"])
        if kind in ids:
            ids[kind].add(str(row[fields[kind]]))
    return ids["chunk"], ids["entity"], ids["fact"]


def _is_fine(corpus: Corpus) -> bool:
    fine = corpus.settings.fine
    return fine is Fine.ON or (fine is Fine.AUTO and gives_triples(corpus.settings.extractor))


async def _finding(container: Container, corpus: Corpus, what: str, seen: _Seen, *, busy: bool) -> Finding:
    subject = f"corpus {corpus.name}: {what}"
    lacking = seen.lacking
    if lacking and busy:  # a document that was deleted meanwhile is no fault
        now = await _named(container, corpus)
        lacking = lacking & set().union(*now)
    detail = f"{len(seen.named)} named by the record, {seen.count} held"
    if lacking:
        return Finding(
            subject=subject,
            level=Level.PROBLEM,
            detail=f"{detail}; {len(lacking)} are missing, for example {min(lacking)}",
            remedy="hand the documents in again into a new corpus, or delete and ingest those that are concerned",
        )
    if seen.orphans and not busy:
        return Finding(
            subject=subject,
            level=Level.PROBLEM,
            detail=f"{detail}; {len(seen.orphans)} are named by nothing, for example {min(seen.orphans)}",
            remedy="searches leave them out; they take space only. A new corpus is without them",
        )
    return Finding(subject=subject, level=Level.OK, detail=detail)
