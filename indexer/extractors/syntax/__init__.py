"""Facts by grammar: triples read off the dependency parse of a sentence, without a language model.

Open information extraction as in ClausIE (Del Corro and Gemulla, WWW 2013), with rules of our own (`rules.py`) over a
spaCy pipeline. The extractor `pattern` finds the names. A text in a language without an installed pipeline has names
only.
"""

import asyncio
from collections.abc import Iterator, Sequence

from core.errors import InvalidStrategy
from core.graph import Extraction, Triple
from core.ports.indexing import DraftChunk, Extractor, LoadedDocument
from core.strategies import StrategyConfig
from core.text.titles import bare_title
from core.trace import Trace
from indexer.extractors.pattern import PatternExtractor
from indexer.extractors.syntax.parsing import find_prose, read_parse
from indexer.extractors.syntax.phrases import ENGLISH, FRENCH, Ends, Name
from indexer.extractors.syntax.pipelines import Pipeline, find_pipeline, has_parser, installed
from indexer.extractors.syntax.rules import read_sentence

__all__ = ["FINE", "GIVES_TRIPLES", "SOURCE", "Config", "SyntaxExtractor", "build"]

GIVES_TRIPLES = True
FINE = False
"""Vectors of a passage's facts and their ends would take longer than the vector of the passage."""
SOURCE = "Del Corro and Gemulla, ClausIE, WWW 2013, section 3: facts from clauses of a dependency parse"

_MOST_TEXT = 20_000
"""Characters of a chunk that are parsed."""
_MOST_FACTS = 100
"""Facts of a chunk."""


class Config(StrategyConfig):
    """No options."""


class SyntaxExtractor:
    """Finds the names of `pattern`, and the facts of the sentences that a pipeline parses."""

    gives_triples = GIVES_TRIPLES
    model_calls = None

    def __init__(self) -> None:
        self._names = PatternExtractor()
        self.fingerprint = f"syntax-1({','.join(installed())})+{self._names.fingerprint}"

    async def extract(
        self,
        document: LoadedDocument,
        chunks: Sequence[DraftChunk],
        wanted: Sequence[int],
        trace: Trace,
        attempt: int = 0,  # noqa: ARG002  # part of the port
    ) -> list[Extraction]:
        named = await self._names.extract(document, chunks, wanted, trace)
        pipeline = find_pipeline(self._names.evidence(document).language)
        if pipeline is None:
            return named
        read = await asyncio.to_thread(self._read, pipeline, document, [chunks[n] for n in wanted])
        return [
            Extraction(entities=extraction.entities, triples=triples)
            for extraction, triples in zip(named, read, strict=True)
        ]

    def input_of(self, document: LoadedDocument, chunk: DraftChunk) -> Sequence[str]:
        return (str(self._names.evidence(document).language), *self._names.input_of(document, chunk))

    def _read(
        self, pipeline: Pipeline, document: LoadedDocument, chunks: Sequence[DraftChunk]
    ) -> list[tuple[Triple, ...]]:
        prose = [find_prose(chunk.text[:_MOST_TEXT]) for chunk in chunks]
        parsed = iter(pipeline.parse([sentence for of_chunk in prose for _, sentence in of_chunk]))
        return [
            self._read_chunk(document, *read, parsed, universal=pipeline.universal)
            for read in zip(chunks, prose, strict=True)
        ]

    def _read_chunk(
        self,
        document: LoadedDocument,
        chunk: DraftChunk,
        prose: Sequence[tuple[int, str]],
        parsed: Iterator[object],
        *,
        universal: bool,
    ) -> tuple[Triple, ...]:
        """Returns the facts of a chunk. The next items of `parsed` are the parses of its sentences."""
        title = bare_title(document.title)
        names = [Name(span.form, span.start, span.end) for span in self._names.find_spans(document, chunk)]
        places = list(_find_places(title, chunk.text)) if title else []
        names = [*(Name(title, start, end) for start, end in places), *names]  # `pattern` may have a part of it
        ends = Ends(topic=title if places else "", names=names, phrasing=FRENCH if universal else ENGLISH)
        found: dict[Triple, None] = {}
        for (start, _), parse in zip(prose, parsed, strict=False):  # `parsed` has the parses of other chunks, too
            for words in read_parse(parse, start, universal=universal):
                found |= dict.fromkeys(read_sentence(words, ends))
        return tuple(found)[:_MOST_FACTS]


def _find_places(title: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(title)
    while start >= 0:
        yield start, start + len(title)
        start = text.find(title, start + len(title))


def build(_config: Config, _models: object) -> Extractor:
    if not has_parser():
        raise InvalidStrategy(
            "the extractor 'syntax' parses with spaCy, and it or a pipeline of it is not installed: install "
            "'hopweave[syntax]', or use the extractor 'pattern'"
        )
    return SyntaxExtractor()
