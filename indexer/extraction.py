"""Extractors by name, several of them joined with '+': `pattern+given`."""

from collections.abc import Iterable, Sequence

from core import strategies
from core.corpora import CorpusSettings, Fine
from core.errors import InvalidStrategy
from core.graph import Extraction, Surface
from core.ports.chat import ChatModels
from core.ports.indexing import Asking, DraftChunk, Extractor, LoadedDocument
from core.strategies import StrategySpec, parse_spec
from core.text.names import normalise
from core.trace import Trace

__all__ = ["Combined", "gives_triples", "has_fine_vectors", "make_extractor", "merge"]

_PACKAGE = "indexer.extractors"


def make_extractor(text: str, models: ChatModels | None = None) -> Extractor:
    """The extractor that `text` names.

    Raises `InvalidStrategy` for a part that is unknown, named twice, or that asks a model where none is configured.
    """
    parts: list[Extractor] = [strategies.build(_PACKAGE, spec, "extractor", models) for spec in _specs(text)]
    return parts[0] if len(parts) == 1 else Combined(parts)


def gives_triples(text: str) -> bool:
    """Whether the extractor that `text` names finds triples; known also where its model is not configured."""
    return any(strategies.load_module(_PACKAGE, spec.name, "extractor").GIVES_TRIPLES for spec in _specs(text))


def has_fine_vectors(settings: CorpusSettings) -> bool:
    """Whether entities and facts of a corpus get vectors and synonyms."""
    return settings.fine is Fine.ON or (settings.fine is Fine.AUTO and gives_triples(settings.extractor))


def _specs(text: str) -> list[StrategySpec]:
    specs = [parse_spec(part) for part in text.split("+")]
    twice = {spec.name for spec in specs if sum(other.name == spec.name for other in specs) > 1}
    if twice:
        raise InvalidStrategy(
            f"extractor {text!r} names {', '.join(sorted(twice))} more than once; name each part once"
        )
    return specs


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

    @property
    def asking(self) -> Asking | None:
        """That of the part that asks: two parts of one name there are not, and one alone asks."""
        return next((part.asking for part in self._parts if part.asking), None)

    async def extract(
        self,
        document: LoadedDocument,
        chunks: Sequence[DraftChunk],
        wanted: Sequence[int],
        trace: Trace,
        attempt: int = 0,
    ) -> list[Extraction]:
        """One part after the other: who wants several calls at a time asks for several chunks at a time."""
        found = [await part.extract(document, chunks, wanted, trace, attempt) for part in self._parts]
        return [merge(of_chunk) for of_chunk in zip(*found, strict=True)]

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
