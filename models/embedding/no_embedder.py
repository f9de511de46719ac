"""Stands in for the embedding model of a corpus without vectors. It counts tokens, and loads and embeds nothing."""

from collections.abc import Sequence

from core.corpora import NO_EMBEDDING
from core.errors import InvalidInput
from core.ports.embedding import Vectors
from models.embedding.tokens import EstimatedTokens

_READS = 512  # the limit of common embedding models, so that reindexing with such a model cuts alike


class NoEmbedder:
    """Implements `Embedder` for chunkers, which ask it how long a passage may be. To embed is an error."""

    model = NO_EMBEDDING
    dimension = 0
    tokens = EstimatedTokens(_READS)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:  # noqa: ARG002 - the port has it
        raise InvalidInput("the corpus has no vectors; `hopweave corpora reindex` with an embedding model makes them")

    async def embed_query(self, text: str) -> Vectors:
        return await self.embed_passages([text])

    async def close(self) -> None:
        """There is nothing to close."""
