"""Several extractors as one: the extractions of all parts, merged."""

from collections.abc import Iterable, Sequence

from core.graph import Extraction, Surface
from core.ports.indexing import DraftChunk, Extractor, LoadedDocument, ModelCalls
from core.text.names import normalise
from core.trace import Trace


class CombinedExtractor:
    """Finds what all parts find, in the order of the parts. What several parts find is there once."""

    def __init__(self, parts: Sequence[Extractor]) -> None:
        self._parts = tuple(parts)

    @property
    def fingerprint(self) -> str:
        return "+".join(part.fingerprint for part in self._parts)

    @property
    def gives_triples(self) -> bool:
        return any(part.gives_triples for part in self._parts)

    @property
    def model_calls(self) -> ModelCalls | None:
        """The calls of the part that calls a model. At most one does: each part is another strategy."""
        return next((part.model_calls for part in self._parts if part.model_calls), None)

    async def extract(
        self,
        document: LoadedDocument,
        chunks: Sequence[DraftChunk],
        wanted: Sequence[int],
        trace: Trace,
        attempt: int = 0,
    ) -> list[Extraction]:
        """Calls the parts in turn. Concurrency comes from the caller, which extracts several chunks at a time."""
        found = [await part.extract(document, chunks, wanted, trace, attempt) for part in self._parts]
        return [merge(of_chunk) for of_chunk in zip(*found, strict=True)]

    def input_of(self, document: LoadedDocument, chunk: DraftChunk) -> Sequence[str]:
        """Joins the inputs of the parts, each after its length, so that no two different lists are equal."""
        inputs = [part.input_of(document, chunk) for part in self._parts]
        return [item for part in inputs for item in (str(len(part)), *part)]


def merge(extractions: Iterable[Extraction]) -> Extraction:
    """Merges several extractions of the same chunk.

    Spellings of a name are joined by form, with the larger count, since all counted the same text. Triples are equal if
    their three parts are.
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
