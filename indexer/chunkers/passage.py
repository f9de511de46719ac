"""One chunk per block, as the document brings them; what exceeds the model's limit is cut by sentences.

For corpora whose documents are passages already: a passage that the model can read whole is never cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from core.ports.embedding import TokenCounter
from core.ports.indexing import Chunker, DraftChunk, LoadedDocument
from core.strategies import StrategyConfig
from indexer.chunking.packing import cut_blocks

FINGERPRINT = "passage-5"
"""Must change whenever the same document may be cut in another way."""


class Config(StrategyConfig):
    """The option concerns only blocks that are too long."""

    overlap_sentences: int = Field(
        default=1, ge=0, le=10, description="Sentences that the next chunk of a cut block repeats, at most a quarter."
    )


@dataclass(frozen=True, kw_only=True)
class PassageChunker:
    """Keeps each block whole if the model can read it."""

    config: Config

    def chunk(self, document: LoadedDocument, tokens: TokenCounter) -> Sequence[DraftChunk]:
        return cut_blocks(document, tokens, overlap=self.config.overlap_sentences)


def build(config: Config, _backends: object) -> Chunker:
    return PassageChunker(config=config)
