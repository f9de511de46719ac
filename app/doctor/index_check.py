"""The check whether the vectors of a corpus have the index that is set."""

from app.container import Container
from app.doctor.findings import Finding, Level
from core.corpora import Corpus

__all__ = ["examine_index"]


async def examine_index(container: Container, corpus: Corpus) -> Finding | None:
    """Returns None if the index is as it is set, or cannot be set."""
    others = await container.composition.describe_other_indexes(corpus.id)
    if not others:
        return None
    return Finding(
        subject=f"corpus {corpus.name}: index",
        level=Level.NOTE,
        detail="; ".join(f"vectors of kind {kind} lie under {index}" for kind, index in others.items())
        + ": another index is set now (HOPWEAVE_MILVUS__INDEX, HOPWEAVE_MILVUS__HNSW__…)",
        remedy=f"it serves as it is; `hopweave corpora reindex {corpus.name}` builds it with the one that is set",
    )
