"""Corpora without vectors whose graphs have two names of one thing: the question sets, read by `syntax`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.container import Container
from app.services import corpora
from app.services.ingestion import submit
from core.corpora import NO_EMBEDDING, Corpus
from core.documents import OnConflict, Submission
from core.settings import Settings
from indexer import Worker, WorkerOptions, read_paths
from retrieval.exploration import open_scope
from retrieval.resolution.candidates import find_candidates
from retrieval.resolution.features import Neighbourhoods, compute_features
from retrieval.resolution.proposals import are_names
from retrieval.resolution.relations import Relation

__all__ = ["NamedPair", "ingest", "list_names", "list_pairs", "open_container", "read_documents"]

_OPTIONS = WorkerOptions(lease_seconds=300, renew_seconds=60, batch_bytes=256_000, task_seconds=300, retry_seconds=0)
_AT_ONCE = 1000


@asynccontextmanager
async def open_container(folder: Path) -> AsyncIterator[Container]:
    """Yields a container over a data folder."""
    container = Container(Settings(data_dir=folder))
    try:
        yield container
    finally:
        await container.close()


async def ingest(container: Container, name: str, documents: Sequence[Submission], extractor: str = "syntax") -> Corpus:
    """Returns the corpus `name` of these documents. Those that it has already are left as they are."""
    corpus = await corpora.ensure(container, name, embedding=NO_EMBEDDING, chunker="passage", extractor=extractor)
    worker = Worker("bench", container.indexing, _OPTIONS)
    for start in range(0, len(documents), _AT_ONCE):
        await submit(container, corpus, documents[start : start + _AT_ONCE], OnConflict.REPLACE)
    while await worker.work(corpus.id):
        pass
    return corpus


def read_documents(path: Path) -> list[Submission]:
    return [read for read in read_paths([path], with_given=False) if isinstance(read, Submission)]


@dataclass(frozen=True)
class NamedPair:
    """The displayed names of a candidate, and its features."""

    names: frozenset[str]
    relation: Relation
    features: Mapping[str, float]


async def list_pairs(container: Container, corpus: Corpus) -> list[NamedPair]:
    """Returns all candidates of a corpus whose names are written as names, with the features that proposals have."""
    scope = await open_scope(container.searching, corpus, None)
    candidates = find_candidates(scope).pairs
    neighbourhoods = Neighbourhoods(scope)
    refs = await scope.refs_of(entity for pair in candidates for entity in (pair.short, pair.long))
    found: list[NamedPair] = []
    for pair in candidates:
        short, long = refs[pair.short], refs[pair.long]
        if are_names((short.name, long.name), pair.likeness.relation):
            features = compute_features(pair, neighbourhoods.compare(pair), (short.type, long.type))
            found.append(NamedPair(frozenset({short.name, long.name}), pair.likeness.relation, features))
    return found


async def list_names(container: Container, corpus: Corpus) -> frozenset[str]:
    """Returns the displayed names of all entities of a corpus."""
    scope = await open_scope(container.searching, corpus, None)
    there = [entity for entity in range(len(scope.graph.df)) if scope.is_there(entity)]
    return frozenset(ref.name for ref in (await scope.refs_of(there)).values())
