"""Names by how they are written: capitals, digits and quotes, without a model, and the title of the document.

It costs nothing and gives no triples. In scripts without capitals it finds the title, quoted names and Latin words.
"""

from collections import Counter
from collections.abc import Sequence

from core.graph import Extraction, Surface
from core.ports.indexing import DraftChunk, Extractor, LoadedDocument
from core.strategies import StrategyConfig
from core.text.name_spans import find_names
from core.text.titles import bare_title
from core.trace import Trace

__all__ = ["GIVES_TRIPLES", "Config", "PatternExtractor", "build"]

GIVES_TRIPLES = False


class Config(StrategyConfig):
    """No options."""


class PatternExtractor:
    """Finds the names that `core.text.name_spans` finds. The bare title is a name in every chunk of its document."""

    fingerprint = "pattern-2"
    gives_triples = GIVES_TRIPLES
    model_calls = None

    async def extract(
        self,
        document: LoadedDocument,
        chunks: Sequence[DraftChunk],
        wanted: Sequence[int],
        trace: Trace,  # noqa: ARG002  # part of the port
        attempt: int = 0,  # noqa: ARG002  # part of the port
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
    return PatternExtractor()
