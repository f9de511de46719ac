"""What an ingest would do, without doing it."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.container import Container
from core.documents import Submission
from core.errors import LoadFailed, UnsupportedMedia
from core.ports.indexing import Chunker, Source
from core.strategies import build, parse_spec
from indexer import Rejected, loader_for

__all__ = ["Estimate", "estimate"]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Counts of what was read; `rejected` are the sources that an ingest would pass over or fail at."""

    documents: int
    bytes: int
    chunks: int
    tokens: int
    rejected: tuple[Rejected, ...]


def estimate(container: Container, chunker: str, found: Iterable[Submission | Rejected]) -> Estimate:
    """Load and cut every document as a worker would; nothing is written."""
    # Without backends: to name the stores would make their files.
    cutter: Chunker = build("indexer.chunkers", parse_spec(chunker), "chunker", None)
    documents = size = chunks = tokens = 0
    rejected: list[Rejected] = []
    for one in found:
        if isinstance(one, Rejected):
            rejected.append(one)
            continue
        try:
            loaded = loader_for(one.media_type).load(_source(one))
        except (LoadFailed, UnsupportedMedia) as error:
            rejected.append(Rejected(source=one.key, reason=str(error)))
            continue
        cut = cutter.chunk(loaded, container.embedder.tokens)
        documents += 1
        size += len(one.content)
        chunks += len(cut)
        tokens += sum(chunk.tokens for chunk in cut)
    return Estimate(documents=documents, bytes=size, chunks=chunks, tokens=tokens, rejected=tuple(rejected))


def _source(submission: Submission) -> Source:
    return Source(
        key=submission.key,
        content=submission.content,
        media_type=submission.media_type,
        title=submission.title,
        metadata=submission.metadata,
    )
