"""Names by how they are written: capitals, digits and quotes, without a model, and the document's title.

Costs nothing and gives no triples. Scripts without capitals give the title, quoted names and what stands in Latin.
"""

from collections import Counter
from collections.abc import Sequence

from core.graph import Extraction, Surface
from core.ports.indexing import DraftChunk, Extractor, LoadedDocument
from core.strategies import StrategyConfig
from core.text.name_spans import find_names
from core.trace import Trace
from indexer.chunking.titles import bare_title

__all__ = ["GIVES_TRIPLES", "Config", "Pattern", "build"]

GIVES_TRIPLES = False


class Config(StrategyConfig):
    """Nothing to choose."""


class Pattern:
    """The names that `core.text.name_spans` finds; the bare title is a name of every chunk of its document."""

    fingerprint = "pattern-2"
    gives_triples = GIVES_TRIPLES
    asking = None

    async def extract(
        self,
        document: LoadedDocument,
        chunks: Sequence[DraftChunk],
        wanted: Sequence[int],
        trace: Trace,  # noqa: ARG002  # the port's
        attempt: int = 0,  # noqa: ARG002  # the port's
    ) -> list[Extraction]:
        title = bare_title(document.title)
        return [_extraction(title, chunks[n].text) for n in wanted]

    def input_of(self, document: LoadedDocument, chunk: DraftChunk) -> Sequence[str]:
        return (document.title, chunk.text)


def _extraction(title: str, text: str) -> Extraction:
    counts = Counter(span.form for span in find_names(text))
    if title:
        counts[title] = max(1, counts[title])
    return Extraction(entities=tuple(Surface(form=form, count=count) for form, count in counts.items()))


def build(_config: Config, _models: object) -> Extractor:
    return Pattern()
