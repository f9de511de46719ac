"""Finds nothing: for corpora without a graph, which have passages, vectors and text only."""

from collections.abc import Sequence

from core.corpora import NO_GRAPH
from core.graph import Extraction
from core.ports.indexing import DraftChunk, Extractor, LoadedDocument
from core.strategies import StrategyConfig
from core.trace import Trace

GIVES_TRIPLES = False


class Config(StrategyConfig):
    """No options."""


class NoExtractor:
    """Its extractions are not staged (`indexer.pipeline.preparation`): all are the same."""

    fingerprint = NO_GRAPH
    gives_triples = GIVES_TRIPLES
    model_calls = None

    async def extract(
        self,
        document: LoadedDocument,  # noqa: ARG002 - part of the port, as are the other arguments
        chunks: Sequence[DraftChunk],  # noqa: ARG002
        wanted: Sequence[int],
        trace: Trace,  # noqa: ARG002
        attempt: int = 0,  # noqa: ARG002
    ) -> list[Extraction]:
        return [Extraction()] * len(wanted)

    def input_of(self, document: LoadedDocument, chunk: DraftChunk) -> Sequence[str]:  # noqa: ARG002
        return ()


def build(_config: Config, _backends: object) -> Extractor:
    return NoExtractor()
