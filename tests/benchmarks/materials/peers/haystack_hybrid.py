"""Haystack: BM25 and vectors of its in-memory store, joined by reciprocal ranks as in its tutorial of hybrid retrieval.

The tutorial's cross-encoder is left out, since it is another model than the embedder, and no peer has it.
"""

from importlib.metadata import version
from pathlib import Path

from haystack import Document, Pipeline, component
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from tests.benchmarks.materials.peers.answering import Ask, answer
from tests.benchmarks.materials.peers.embedder import BuiltInModel
from tests.benchmarks.materials.peers.exchange import Material

__all__ = ["run"]


def run(folder: Path, out: Path, k: int = 10) -> None:
    answer(folder, out, k, peer="haystack", version=f"haystack-ai {version('haystack-ai')}", index=_index)


@component
class _QuestionEmbedder:
    """What `SentenceTransformersTextEmbedder` is in the tutorial."""

    def __init__(self, model: BuiltInModel) -> None:
        self._model = model

    @component.output_types(embedding=list[float])  # type: ignore[untyped-decorator]
    def run(self, text: str) -> dict[str, list[float]]:
        return {"embedding": self._model.embed_question(text).tolist()}


def _index(material: Material, model: BuiltInModel, k: int) -> Ask:
    store = InMemoryDocumentStore()
    store.write_documents(
        [
            Document(id=chunk.id, content=chunk.content, embedding=vector.tolist())
            for chunk, vector in zip(material.chunks, material.vectors, strict=True)
        ]
    )
    pipeline = Pipeline()
    pipeline.add_component("embedder", _QuestionEmbedder(model))
    pipeline.add_component("dense", InMemoryEmbeddingRetriever(store, top_k=k))
    pipeline.add_component("bm25", InMemoryBM25Retriever(store, top_k=k))
    pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    pipeline.connect("embedder", "dense")
    pipeline.connect("dense", "joiner")
    pipeline.connect("bm25", "joiner")

    def ask(text: str) -> list[str]:
        found = pipeline.run({"embedder": {"text": text}, "bm25": {"query": text}})
        return [document.id for document in found["joiner"]["documents"]]

    return ask
