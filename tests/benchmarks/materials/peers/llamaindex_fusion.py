"""LlamaIndex: its vector index and its BM25 retriever, fused by reciprocal ranks without generated questions."""

from importlib.metadata import version
from pathlib import Path
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import TextNode
from llama_index.retrievers.bm25 import BM25Retriever
from pydantic import PrivateAttr

from tests.benchmarks.materials.peers.answering import Ask, answer
from tests.benchmarks.materials.peers.embedder import BuiltInModel
from tests.benchmarks.materials.peers.exchange import Material

__all__ = ["run"]


def run(folder: Path, out: Path, k: int = 10) -> None:
    named = f"llama-index-core {version('llama-index-core')}"
    bm25 = f"llama-index-retrievers-bm25 {version('llama-index-retrievers-bm25')}"
    answer(folder, out, k, peer="llamaindex", version=f"{named}, {bm25}", index=_index)


class _Embedding(BaseEmbedding):
    """The built-in model as LlamaIndex calls it."""

    _model: BuiltInModel = PrivateAttr()

    def __init__(self, model: BuiltInModel, **data: Any) -> None:
        super().__init__(**data)
        self._model = model

    def _get_query_embedding(self, query: str) -> list[float]:
        return list(self._model.embed_question(query).tolist())

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return list(self._model.embed_passages([text])[0].tolist())


def _index(material: Material, model: BuiltInModel, k: int) -> Ask:
    nodes = [
        TextNode(id_=chunk.id, text=chunk.content, embedding=vector.tolist())
        for chunk, vector in zip(material.chunks, material.vectors, strict=True)
    ]
    index = VectorStoreIndex(nodes, embed_model=_Embedding(model))
    retriever = QueryFusionRetriever(
        [index.as_retriever(similarity_top_k=k), BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=k)],
        llm=MockLLM(),  # is asked for further questions, of which there are none; without it, OpenAI's is looked for
        mode=FUSION_MODES.RECIPROCAL_RANK,
        similarity_top_k=k,
        num_queries=1,
        use_async=False,  # faster: both retrievers compute, and wait for nothing
    )

    def ask(text: str) -> list[str]:
        return [found.node.node_id for found in retriever.retrieve(text)]

    return ask
