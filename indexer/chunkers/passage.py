"""One chunk per block, as the document brings them; what exceeds the model's limit is cut by sentences.

For corpora whose documents are passages already: no passage is ever cut that the model can read whole.
"""

from dataclasses import dataclass

from pydantic import Field

from core.ports.embedding import TokenCounter
from core.ports.indexing import Chunker, DraftChunk, LoadedDocument
from core.strategies import StrategyConfig
from indexer.chunking.packing import cut_blocks

__all__ = ["FINGERPRINT", "Config", "Passage", "build"]

FINGERPRINT = "passage-1"
"""Changes whenever the same document could be cut in another way."""


class Config(StrategyConfig):
    """Only what happens to blocks that are too long can be chosen."""

    overlap_sentences: int = Field(
        default=1, ge=0, le=10, description="Sentences that the next chunk of a cut block repeats, at most a quarter."
    )


@dataclass(frozen=True, kw_only=True)
class Passage:
    """Keeps each block whole where the model can read it."""

    config: Config

    def chunk(self, document: LoadedDocument, tokens: TokenCounter) -> list[DraftChunk]:
        return cut_blocks(document, tokens, overlap=self.config.overlap_sentences)


def build(config: Config, _backends: object) -> Chunker:
    return Passage(config=config)
