"""Entities and triples that came with the document or its chunks.

An entity of a document belongs to every chunk that contains it, a triple to the first chunk that contains both its
names. What no chunk contains belongs to the first chunk, so that nothing is lost. What came with a block stays in the
chunks of that block.
"""

import weakref
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.graph import Extraction, Surface, Triple
from core.ids import digest
from core.ports.indexing import Block, DraftChunk, Extractor, LoadedDocument
from core.strategies import StrategyConfig
from core.text.names import normalise
from core.trace import Trace
from indexer.extractors._occurrences import find_occurrences, find_spellings

GIVES_TRIPLES = True


class Config(StrategyConfig):
    """No options."""


class GivenExtractor:
    """Assigns given entities and triples to chunks. The malformed triples of a document count for its first chunk."""

    fingerprint = "given-1"
    gives_triples = GIVES_TRIPLES
    model_calls = None

    def __init__(self) -> None:
        # Of the last document: chunks are extracted one by one, and names are assigned to all of them at once.
        self._digested: tuple[weakref.ref[LoadedDocument], str] | None = None
        self._assigned: tuple[weakref.ref[LoadedDocument], Sequence[DraftChunk], list[Extraction]] | None = None

    async def extract(
        self,
        document: LoadedDocument,
        chunks: Sequence[DraftChunk],
        wanted: Sequence[int],
        trace: Trace,  # noqa: ARG002  # part of the port
        attempt: int = 0,  # noqa: ARG002  # part of the port
    ) -> list[Extraction]:
        assigned = self._assigned
        if assigned is None or assigned[0]() is not document or assigned[1] is not chunks:
            assigned = self._assigned = (weakref.ref(document), chunks, _assign(document, chunks))
        return [assigned[2][n] for n in wanted]

    def input_of(self, document: LoadedDocument, chunk: DraftChunk) -> Sequence[str]:
        """The extraction of a chunk depends on the other chunks: of the document, or of its block alone."""
        if document.entities or document.triples or document.malformed or _has_names_without_text(document):
            return (chunk.text, str(chunk.block), str(chunk.start), self._digest(document))
        block = document.blocks[chunk.block]
        if block.entities or block.triples:
            return (chunk.text, str(chunk.start), digest("given", [block.text, *_flat(block.entities, block.triples)]))
        return ()

    def _digest(self, document: LoadedDocument) -> str:
        """Returns the digest of a document, which is kept while its chunks are extracted one after the other."""
        if self._digested is None or self._digested[0]() is not document:
            parts = [document.key, str(document.malformed), *_flat(document.entities, document.triples)]
            for block in document.blocks:
                parts += [block.text, *_flat(block.entities, block.triples)]
            self._digested = (weakref.ref(document), digest("given", parts))
        return self._digested[1]


def _assign(document: LoadedDocument, chunks: Sequence[DraftChunk]) -> list[Extraction]:
    if not (document.malformed or any(True for _ in _names(document))):
        return [Extraction()] * len(chunks)
    assignment = _Assignment(chunks, _names(document))
    assignment.assign(range(len(chunks)), document.entities, document.triples)
    of_block: defaultdict[int, list[int]] = defaultdict(list)
    for n, chunk in enumerate(chunks):
        of_block[chunk.block].append(n)
    for index, block in enumerate(document.blocks):
        assignment.assign(of_block.get(index) or range(len(chunks))[:1], block.entities, block.triples)
    return [assignment.extraction(n, document.malformed if n == 0 else 0) for n in range(len(chunks))]


def _names(document: LoadedDocument) -> Iterator[str]:
    """Yields the given names, and the names in given triples."""
    parts: list[LoadedDocument | Block] = [document, *document.blocks]
    for given in parts:
        yield from given.entities
        for triple in given.triples:
            yield from (triple.subject, triple.object)


def _has_names_without_text(document: LoadedDocument) -> bool:
    """Whether a block without text, which has no chunks, has names or triples. They belong to the first chunk."""
    return any((b.entities or b.triples) and not b.text.strip() for b in document.blocks)


def _flat(entities: Sequence[str], triples: Sequence[Triple]) -> Iterator[str]:
    yield from (str(len(entities)), *entities, str(len(triples)))
    for triple in triples:
        yield from (triple.subject, triple.predicate, triple.object)


@dataclass(frozen=True, slots=True)
class _Found:
    """The names of one chunk, as spellings with counts, and its triples. Dictionaries keep the given order."""

    forms: dict[str, int]
    triples: dict[Triple, None]


class _Assignment:
    """Assigns names and triples to the chunks of one document."""

    def __init__(self, chunks: Sequence[DraftChunk], names: Iterable[str]) -> None:
        self._chunks = chunks
        self._normalised = {name: normalise(name) for name in names}
        self._occurrences = find_occurrences((chunk.text for chunk in chunks), self._normalised.values())
        self._found = [_Found({}, {}) for _ in chunks]

    def assign(self, chunks: Sequence[int], entities: Iterable[str], triples: Iterable[Triple]) -> None:
        """Assigns names and triples to the `chunks` that contain them, or else to the first of `chunks`."""
        if not chunks:
            return
        for name in entities:
            self._assign_entity(name, chunks)
        for triple in triples:
            object_ = self._chunks_with(triple.object, chunks)
            both = (n for n in self._chunks_with(triple.subject, chunks) if n in object_)
            self._found[next(both, chunks[0])].triples[triple] = None

    def _assign_entity(self, name: str, chunks: Sequence[int]) -> None:
        holding = self._chunks_with(name, chunks) or {chunks[0]: 1}
        for n, count in holding.items():
            for surface in find_spellings(self._chunks[n].text, name, count):
                forms = self._found[n].forms
                forms[surface.form] = max(surface.count, forms.get(surface.form, 0))

    def _chunks_with(self, name: str, chunks: Sequence[int]) -> Mapping[int, int]:
        """Returns how often each of `chunks` contains the name, except chunks without it. Both ascend."""
        held = self._occurrences.get(self._normalised[name], {})
        if len(chunks) == len(self._chunks):
            return held
        return {n: held[n] for n in chunks if n in held}

    def extraction(self, chunk: int, malformed: int) -> Extraction:
        found = self._found[chunk]
        surfaces = tuple(Surface(form=form, count=count) for form, count in found.forms.items())
        return Extraction(entities=surfaces, triples=tuple(found.triples), malformed=malformed)


def build(_config: Config, _models: object) -> Extractor:
    return GivenExtractor()
