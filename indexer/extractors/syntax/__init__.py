"""Facts by grammar: triples read off the dependency parse of a sentence, without a language model.

Open information extraction as in ClausIE (Del Corro and Gemulla, WWW 2013), with rules of our own (`rules.py`) over a
spaCy pipeline. The extractor `pattern` finds the names. A text in a language without an installed pipeline has names
only.
"""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from core.errors import InvalidStrategy
from core.graph import Extraction, Triple
from core.ports.indexing import DraftChunk, Extractor, LoadedDocument
from core.strategies import StrategyConfig
from core.text.titles import bare_title
from core.trace import Trace
from indexer.extractors.pattern import PatternExtractor
from indexer.extractors.syntax.forms import read_sentence
from indexer.extractors.syntax.likely import find_topic
from indexer.extractors.syntax.parsing import find_prose, read_parse
from indexer.extractors.syntax.phrases import ENGLISH, FRENCH, Ends, Name
from indexer.extractors.syntax.pipelines import Pipeline, find_pipeline, has_parser, installed

GIVES_TRIPLES = True
FINE = False
"""Vectors of a passage's facts and their ends would take longer than the vector of the passage."""
SOURCE = "Del Corro and Gemulla, ClausIE, WWW 2013, section 3: facts from clauses of a dependency parse"

_MOST_TEXT = 20_000
"""Characters of a chunk that are parsed."""
_MOST_FACTS = 100
"""Facts of a chunk."""


class Config(StrategyConfig):
    """Which facts are kept."""

    facts: Literal["names", "likely", "clauses"] = Field(
        default="names",
        description="`names`: facts between names, dates and numbers; `likely`: also between short phrases, and where "
        "the subject is only probable; `clauses`: every clause in the words of the text.",
    )
    least: float = Field(default=0.0, ge=0, le=1, description="The least probability of a fact that is kept.")


class SyntaxExtractor:
    """Finds the names of `pattern`, and the facts of the sentences that a pipeline parses."""

    gives_triples = GIVES_TRIPLES
    model_calls = None

    def __init__(self, config: Config | None = None) -> None:
        self._config = config or Config()
        self._names = PatternExtractor()
        options = "" if self._config == Config() else f":{self._config.facts},{self._config.least}"
        self.fingerprint = f"syntax-2{options}({','.join(installed())})+{self._names.fingerprint}"

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
        title, config = bare_title(document.title), self._config
        names = [Name(span.form, span.start, span.end) for span in self._names.find_spans(document, chunk)]
        places = list(_find_places(title, chunk.text)) if title else []
        names = [*(Name(title, start, end) for start, end in places), *names]  # `pattern` may have a part of it
        sentences = [
            words
            for (start, _), parse in zip(prose, parsed, strict=False)  # `parsed` has the parses of other chunks, too
            for words in read_parse(parse, start, universal=universal)
        ]
        is_wide = config.facts == "likely"
        topic = find_topic(title, sentences) if is_wide and not places else title if places else ""
        ends = Ends(topic=topic, names=names, phrasing=FRENCH if universal else ENGLISH, is_wide=is_wide)
        found: dict[Triple, None] = {}
        for words in sentences:
            found |= dict.fromkeys(read_sentence(words, ends, config.facts, config.least))
        return tuple(found)[:_MOST_FACTS]


def _find_places(title: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(title)
    while start >= 0:
        yield start, start + len(title)
        start = text.find(title, start + len(title))


def build(config: Config, _models: object) -> Extractor:
    if not has_parser():
        raise InvalidStrategy(
            "the extractor 'syntax' parses with spaCy, and it or a pipeline of it is not installed: install "
            "'hopweave[syntax]', or use the extractor 'pattern'"
        )
    return SyntaxExtractor(config)
