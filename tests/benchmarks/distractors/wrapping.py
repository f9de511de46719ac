"""An embedding model around another one, which changes how passages are embedded and nothing else."""

from core.ports.embedding import Embedder, TokenCounter, Vectors

__all__ = ["WrappedEmbedder"]


class WrappedEmbedder:
    """Questions and all that describes the model are the other's. Subclasses have `embed_passages`."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def tokens(self) -> TokenCounter:
        return self._embedder.tokens

    async def embed_query(self, text: str) -> Vectors:
        return await self._embedder.embed_query(text)

    async def close(self) -> None:
        await self._embedder.close()
