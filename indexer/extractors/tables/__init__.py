"""Facts from tables: the label of a row, the name of a column, and the cell, without a model or a parser.

`rows` makes facts of rows, and `surroundings` tells what the rest of the document says of them, such as the header of a
table that begins above a passage. The extractor `pattern` finds the names. Joined with another extractor, as
`syntax+tables`, it adds the facts of tables.
"""

from collections.abc import Sequence

from core.graph import Extraction, Triple
from core.ports.indexing import DraftChunk, Extractor, LoadedDocument
from core.strategies import StrategyConfig
from core.text.no_names.forms import is_place_or_time
from core.text.titles import bare_title
from core.trace import Trace
from indexer.extractors.pattern import PatternExtractor
from indexer.extractors.tables.rows import Surroundings, read_facts
from indexer.extractors.tables.surroundings import RecordLabels, TableHeads, may_have_tables

GIVES_TRIPLES = True
FINE = False
"""A table has several facts a row: their vectors would take longer than the vector of the passage."""

_MOST_TEXT = 20_000
"""Characters of a chunk whose tables are read."""


class Config(StrategyConfig):
    """No options."""


class TableFactExtractor:
    """Finds the names of `pattern`, and the facts of tables with a header and labels."""

    gives_triples = GIVES_TRIPLES
    model_calls = None

    def __init__(self) -> None:
        self._names = PatternExtractor()
        self._heads = TableHeads()
        self._labels = RecordLabels()
        self.fingerprint = f"tables-2+{self._names.fingerprint}"

    async def extract(
        self,
        document: LoadedDocument,
        chunks: Sequence[DraftChunk],
        wanted: Sequence[int],
        trace: Trace,
        attempt: int = 0,  # noqa: ARG002  # part of the port
    ) -> list[Extraction]:
        named = await self._names.extract(document, chunks, wanted, trace)
        return [
            Extraction(entities=extraction.entities, triples=self._read(document, chunks[n]))
            for extraction, n in zip(named, wanted, strict=True)
        ]

    def input_of(self, document: LoadedDocument, chunk: DraftChunk) -> Sequence[str]:
        """Includes what the rest of the document tells about the tables of the chunk."""
        own = self._names.input_of(document, chunk)
        if not may_have_tables(chunk.text):
            return own
        around = self._look_around(document, chunk)
        head = around.head
        lists = [sorted(around.fields), sorted(around.repeated)]
        flat = [item for part in lists for item in (str(len(part)), *part)]
        return (head.text, str(head.is_cut), head.unit, *flat, *own)

    def _read(self, document: LoadedDocument, chunk: DraftChunk) -> tuple[Triple, ...]:
        if not may_have_tables(chunk.text):
            return ()
        return read_facts(chunk.text[:_MOST_TEXT], self._look_around(document, chunk))

    def _look_around(self, document: LoadedDocument, chunk: DraftChunk) -> Surroundings:
        title = bare_title(document.title)
        columns = self._names.evidence(document).columns
        return Surroundings(
            head=self._heads.find(document, chunk),
            title="" if is_place_or_time(title) else title,
            names=[(span.start, span.end) for span in self._names.find_spans(document, chunk)],
            fields=frozenset(name for name in columns if f"{name}: " in chunk.text),
            repeated=self._labels.find_repeated(document, chunk),
        )


def build(_config: Config, _models: object) -> Extractor:
    return TableFactExtractor()
