"""txtai: its hybrid index, BM25 and vectors, with its defaults."""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from txtai import Embeddings

from tests.benchmarks.materials.peers.answering import Ask, answer
from tests.benchmarks.materials.peers.embedder import BuiltInModel
from tests.benchmarks.materials.peers.exchange import Material, Vectors

__all__ = ["run"]


def run(folder: Path, out: Path, k: int = 10) -> None:
    answer(folder, out, k, peer="txtai", version=f"txtai {version('txtai-minimal')}", index=_index)


def _index(material: Material, model: BuiltInModel, k: int) -> Ask:
    given = {chunk.content: vector for chunk, vector in zip(material.chunks, material.vectors, strict=True)}

    def transform(texts: Sequence[str]) -> Vectors:
        return np.stack([given[text] if text in given else model.embed_question(text) for text in texts])

    embeddings = Embeddings({"method": "external", "transform": transform, "hybrid": True})
    embeddings.index((chunk.id, chunk.content, None) for chunk in material.chunks)
    given.clear()  # questions only from here on

    def ask(text: str) -> list[str]:
        return [id for id, _ in embeddings.search(text, k)]

    return ask
