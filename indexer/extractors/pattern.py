"""Names by how they are written: capitals, digits and quotes, without a model, and the title of the document.

A single capitalised word counts by how the whole document writes it, so that months, first words of sentences and
German nouns are no names (`core.text.name_evidence`).

It costs nothing and gives no triples. In scripts without capitals it finds the title, quoted names and Latin words.
"""

import weakref
from collections import Counter
from collections.abc import Sequence

from core.graph import Extraction, Surface
from core.ports.indexing import DraftChunk, Extractor, LoadedDocument
from core.strategies import StrategyConfig
from core.text.name_evidence import NameEvidence, gather_evidence
from core.text.name_spans import NameSpan
from core.text.no_names.document_names import find_document_names
from core.text.no_names.forms import is_place_or_time
from core.text.titles import bare_title
from core.trace import Trace

GIVES_TRIPLES = False


class Config(StrategyConfig):
    """No options."""


class PatternExtractor:
    """Finds the names that `core.text.no_names.document_names` finds. The bare title is a name in every chunk."""

    fingerprint = "pattern-8"
    gives_triples = GIVES_TRIPLES
    model_calls = None

    def __init__(self) -> None:
        self._last: tuple[weakref.ref[LoadedDocument], NameEvidence] | None = None

    async def extract(
        self,
        document: LoadedDocument,
        chunks: Sequence[DraftChunk],
        wanted: Sequence[int],
        trace: Trace,  # noqa: ARG002  # part of the port
        attempt: int = 0,  # noqa: ARG002  # part of the port
    ) -> list[Extraction]:
        return [_extraction(bare_title(document.title), self._names(document, chunks[n])) for n in wanted]

    def input_of(self, document: LoadedDocument, chunk: DraftChunk) -> Sequence[str]:
        """Includes the names themselves, which depend on the whole document."""
        return (document.title, chunk.text, *self._names(document, chunk))

    def find_spans(self, document: LoadedDocument, chunk: DraftChunk) -> list[NameSpan]:
        """Returns the names of a chunk with their places in its text."""
        return find_document_names(chunk.text, self.evidence(document))

    def _names(self, document: LoadedDocument, chunk: DraftChunk) -> list[str]:
        return [span.form for span in self.find_spans(document, chunk)]

    def evidence(self, document: LoadedDocument) -> NameEvidence:
        """Returns the evidence of a document, and keeps the last document's: its chunks come one after another.

        The document itself is not kept: it may be large.
        """
        last = self._last
        if last is not None and last[0]() is document:
            return last[1]
        evidence = gather_evidence(block.text for block in document.blocks)
        self._last = weakref.ref(document), evidence
        return evidence


def _extraction(title: str, names: Sequence[str]) -> Extraction:
    counts = Counter(names)
    if title and not is_place_or_time(title):
        counts[title] = max(1, counts[title])
    return Extraction(entities=tuple(Surface(form=form, count=count) for form, count in counts.items()))


def build(_config: Config, _models: object) -> Extractor:
    return PatternExtractor()
