"""Which embeddings of a document its corpus uses: only embeddings by the model of the corpus."""

from dataclasses import replace

from core.corpora import Corpus
from core.errors import LoadFailed
from core.ports.indexing import Block, LoadedDocument

__all__ = ["fit_embeddings"]


def fit_embeddings(document: LoadedDocument, corpus: Corpus) -> tuple[Block, ...]:
    """Returns the blocks, without the embeddings if they are of another model than the model of the corpus.

    A submission with such embeddings is refused, so the corpus has been reindexed since; its model then embeds the
    text. Raises `LoadFailed` for an embedding of the right model with the wrong dimension.
    """
    settings = corpus.settings
    if document.embedding_model != settings.embedding_model or not settings.has_vectors:
        return tuple(replace(block, embedding=b"") if block.embedding else block for block in document.blocks)
    for block in document.blocks:
        dimension = len(block.embedding) // 4
        if dimension not in {0, settings.dimension}:
            raise LoadFailed(
                f"{document.key!r} has an embedding of {dimension} dimensions, and {settings.embedding_model!r} of "
                f"corpus {corpus.name!r} has {settings.dimension}; embed it with that model, or leave `embedding` out"
            )
    return document.blocks
