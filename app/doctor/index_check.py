"""Whether the vectors of a corpus lie under the index that is set."""

from app.container import Container
from app.doctor.findings import Finding, Level
from core.corpora import Corpus
from core.ports.views import VectorKind
from stores.milvus import MilvusIndex, MilvusVectorStore

__all__ = ["examine_index"]


async def examine_index(container: Container, corpus: Corpus) -> Finding | None:
    """None where all is as it is set, or there is no index to be chosen."""
    vectors = container.vectors
    if not isinstance(vectors, MilvusVectorStore):
        return None
    others = {kind: other for kind in VectorKind if (other := await vectors.other_index(corpus.id, kind)) is not None}
    if not others:
        return None
    return Finding(
        subject=f"corpus {corpus.name}: index",
        level=Level.NOTE,
        detail="; ".join(f"vectors of kind {kind} lie under {_shown(index)}" for kind, index in others.items())
        + ": another index is set now (HOPWEAVE_MILVUS__INDEX, HOPWEAVE_MILVUS__HNSW__…)",
        remedy=f"it serves as it is; `hopweave corpora reindex {corpus.name}` builds it with the one that is set",
    )


def _shown(index: MilvusIndex) -> str:
    parameters = ", ".join(f"{name}={value}" for name, value in index.build.items())
    return f"{index.kind} ({parameters})" if parameters else index.kind
