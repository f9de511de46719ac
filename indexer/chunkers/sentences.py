"""Whole sentences, packed up to what the embedding model reads, with a sentence of overlap.

It works in any script. A sentence that is too long is cut at line ends, at clauses, at words, and last between
characters.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from core.ports.embedding import TokenCounter
from core.ports.indexing import Chunker, DraftChunk, LoadedDocument
from core.strategies import StrategyConfig
from indexer.chunking.packing import cut_blocks

FINGERPRINT = "sentences-5"
"""Must change whenever the same document may be cut in another way."""


class Config(StrategyConfig):
    """The size of chunks, and their overlap."""

    max_tokens: int | None = Field(
        default=None,
        ge=8,
        le=1_000_000,
        description="Tokens of title, heading and text together; null: what the model reads.",
    )
    overlap_sentences: int = Field(
        default=1, ge=0, le=10, description="Sentences that the next chunk repeats, at most a quarter of it."
    )


@dataclass(frozen=True, kw_only=True)
class SentenceChunker:
    """Packs the sentences of each block."""

    config: Config

    def chunk(self, document: LoadedDocument, tokens: TokenCounter) -> Sequence[DraftChunk]:
        config = self.config
        return cut_blocks(document, tokens, max_tokens=config.max_tokens, overlap=config.overlap_sentences)


def build(config: Config, _backends: object) -> Chunker:
    return SentenceChunker(config=config)
