"""Vectors in Milvus, which both compositions may use: makes the store and compares the indexes of its collections."""

from collections.abc import Mapping

from core.ports.views import VectorKind
from core.settings import MilvusSettings
from stores.milvus import MilvusIndex, MilvusVectorStore


def make_milvus_vectors(settings: MilvusSettings) -> MilvusVectorStore:
    """Returns the store that the settings describe. Connects when it is first used."""
    build = {"M": settings.hnsw.m, "efConstruction": settings.hnsw.ef_construction}
    index = MilvusIndex(
        kind=settings.index,
        build=build if settings.index == "HNSW" else {},
        search={"ef": settings.hnsw.ef},  # for FLAT too: collections that were made before have their own index
    )
    token = settings.token.get_secret_value()
    return MilvusVectorStore(settings.uri, token, index=index, exact_rows=settings.exact_rows)


async def describe_other_indexes(vectors: MilvusVectorStore, corpus_id: str) -> Mapping[VectorKind, str]:
    """Returns the indexes of the corpus' collections that differ from the index that is set."""
    indexes = {kind: await vectors.other_index(corpus_id, kind) for kind in VectorKind}
    return {kind: _describe(index) for kind, index in indexes.items() if index is not None}


def _describe(index: MilvusIndex) -> str:
    parameters = ", ".join(f"{name}={value}" for name, value in index.build.items())
    return f"{index.kind} ({parameters})" if parameters else index.kind
