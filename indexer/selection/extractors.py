"""Extractors by name: the modules of `indexer.extractors`, several of them joined with '+' (`pattern+given`)."""

from core import strategies
from core.corpora import NO_GRAPH, CorpusSettings, Fine
from core.errors import InvalidStrategy
from core.ports.chat import ChatModels
from core.ports.embedding import split_form
from core.ports.indexing import Extractor
from core.strategies import StrategySpec, parse_spec
from indexer.extractors._combined import CombinedExtractor

__all__ = ["gives_triples", "has_fine_vectors", "make_extractor"]

_PACKAGE = "indexer.extractors"


def make_extractor(text: str, models: ChatModels | None = None) -> Extractor:
    """Makes the extractor that `text` names.

    Raises `InvalidStrategy` if a part is unknown or named twice, or calls a model and none is configured.
    """
    parts: list[Extractor] = [strategies.build(_PACKAGE, spec, "extractor", models) for spec in _parse_specs(text)]
    return parts[0] if len(parts) == 1 else CombinedExtractor(parts)


def gives_triples(text: str) -> bool:
    """Whether the extractor that `text` names finds triples. It need not be configured."""
    return any(strategies.load_module(_PACKAGE, spec.name, "extractor").GIVES_TRIPLES for spec in _parse_specs(text))


def has_fine_vectors(settings: CorpusSettings) -> bool:
    """Whether entities and facts of a corpus have vectors and synonyms.

    They have no vectors if the corpus compares dot products: names are compared with names, by cosine. With
    `Fine.AUTO`, the extractor decides (`FINE`): whether its facts are few or paid for.
    """
    if not (settings.has_vectors and settings.has_graph) or split_form(settings.embedding_model)[1].dot:
        return False
    if settings.fine is not Fine.AUTO:
        return settings.fine is Fine.ON
    modules = (strategies.load_module(_PACKAGE, spec.name, "extractor") for spec in _parse_specs(settings.extractor))
    return any(module.GIVES_TRIPLES and getattr(module, "FINE", True) for module in modules)


def _parse_specs(text: str) -> list[StrategySpec]:
    specs = [parse_spec(part) for part in text.split("+")]
    twice = {spec.name for spec in specs if sum(other.name == spec.name for other in specs) > 1}
    if twice:
        raise InvalidStrategy(
            f"extractor {text!r} names {', '.join(sorted(twice))} more than once; name each part once"
        )
    if len(specs) > 1 and any(spec.name == NO_GRAPH for spec in specs):
        raise InvalidStrategy(f"extractor {text!r} joins {NO_GRAPH!r}, which finds nothing, with others; leave it out")
    return specs
