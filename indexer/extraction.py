"""Extractors by name, several of them joined with '+': `pattern+given`."""

import asyncio
from collections.abc import Iterable, Sequence

from core import strategies
from core.errors import InvalidStrategy
from core.graph import Extraction, Surface
from core.names import normalise
from core.ports.indexing import DraftChunk, Extractor, LoadedDocument
from core.strategies import parse_spec

__all__ = ["Combined", "make_extractor", "merge"]

_PACKAGE = "indexer.extractors"


def make_extractor(text: str, backends: object = None) -> Extractor:
    """The extractor that `text` names; raises `InvalidStrategy` for a part that is unknown or named twice."""
    specs = [parse_spec(part) for part in text.split("+")]
    twice = {spec.name for spec in specs if sum(other.name == spec.name for other in specs) > 1}
    if twice:
        raise InvalidStrategy(
            f"extractor {text!r} names {', '.join(sorted(twice))} more than once; name each part once"
        )
    parts: list[Extractor] = [strategies.build(_PACKAGE, spec, "extractor", backends) for spec in specs]
    return parts[0] if len(parts) == 1 else Combined(parts)


class Combined:
    """What all parts find, in the order of the parts; what two of them find is there once."""

    def __init__(self, parts: Sequence[Extractor]) -> None:
        self._parts = tuple(parts)

    @property
    def fingerprint(self) -> str:
        return "+".join(part.fingerprint for part in self._parts)

    @property
    def gives_triples(self) -> bool:
        return any(part.gives_triples for part in self._parts)

    async def extract(
        self, document: LoadedDocument, chunks: Sequence[DraftChunk], wanted: Sequence[int]
    ) -> list[Extraction]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(part.extract(document, chunks, wanted)) for part in self._parts]
        return [merge(found) for found in zip(*(task.result() for task in tasks), strict=True)]

    def input_of(self, document: LoadedDocument, chunk: DraftChunk) -> Sequence[str]:
        """The lengths keep one part's input from being taken for another's."""
        inputs = [part.input_of(document, chunk) for part in self._parts]
        return [item for part in inputs for item in (str(len(part)), *part)]


def merge(extractions: Iterable[Extraction]) -> Extraction:
    """One extraction of several of the same chunk.

    Spellings of one name are joined by form, with the larger count, since both counted the same text; triples are equal
    where their three parts are.
    """
    found = list(extractions)
    forms: dict[tuple[str, str], Surface] = {}
    for surface in (surface for extraction in found for surface in extraction.entities):
        key = (normalise(surface.form), " ".join(surface.form.split()))
        if key not in forms or forms[key].count < surface.count:
            forms[key] = surface
    return Extraction(
        entities=tuple(forms.values()),
        triples=tuple(dict.fromkeys(triple for extraction in found for triple in extraction.triples)),
        malformed=sum(extraction.malformed for extraction in found),
    )
