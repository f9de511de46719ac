"""Chunkers and extractors by name: the modules of `indexer.chunkers` and `indexer.extractors`, and their versions.

Several extractors are joined with '+' (`pattern+given`). A corpus that was built with other versions is stale.
"""

from collections.abc import Mapping

from core.corpora import NO_GRAPH, CorpusSettings, Fine
from core.errors import InvalidStrategy
from core.graph_schema import NO_SCHEMA, GraphSchema
from core.ports.chat import ChatModels
from core.ports.embedding_form import split_form
from core.ports.indexing import Chunker, Extractor, ReadsSchema
from core.strategies import StrategySpec, build, load_module, parse_spec
from indexer.extractors._combined import CombinedExtractor

_CHUNKERS = "indexer.chunkers"


def make_chunker(text: str) -> Chunker:
    """Makes the chunker that `text` names, such as `sentences:max_tokens=128`. Raises `InvalidStrategy`."""
    chunker: Chunker = build(_CHUNKERS, parse_spec(text), "chunker", None)
    return chunker


def _chunker_version(text: str) -> str:
    """Returns the fingerprint of the chunker that `text` names. Raises `InvalidStrategy`."""
    return str(load_module(_CHUNKERS, parse_spec(text).name, "chunker").FINGERPRINT)


_EXTRACTORS = "indexer.extractors"


def make_extractor(text: str, models: ChatModels | None = None, schema: GraphSchema = NO_SCHEMA) -> Extractor:
    """Makes the extractor that `text` names, for a corpus with the schema.

    Raises `InvalidStrategy` if a part is unknown or named twice, or calls a model and none is configured.
    """
    parts: list[Extractor] = [build(_EXTRACTORS, spec, "extractor", models) for spec in _parse_specs(text)]
    if schema:
        parts = [part.with_schema(schema) if isinstance(part, ReadsSchema) else part for part in parts]
    return parts[0] if len(parts) == 1 else CombinedExtractor(parts)


def gives_triples(text: str) -> bool:
    """Whether the extractor that `text` names finds triples. It need not be configured."""
    return any(load_module(_EXTRACTORS, spec.name, "extractor").GIVES_TRIPLES for spec in _parse_specs(text))


def has_fine_vectors(settings: CorpusSettings) -> bool:
    """Whether entities and facts of a corpus have vectors and synonyms.

    They have no vectors if the corpus compares dot products: names are compared with names, by cosine. With
    `Fine.AUTO`, the extractor decides (`FINE`): whether its facts are few or paid for.
    """
    if not (settings.has_vectors and settings.has_graph) or split_form(settings.embedding_model)[1].dot:
        return False
    if settings.fine is not Fine.AUTO:
        return settings.fine is Fine.ON
    modules = (load_module(_EXTRACTORS, spec.name, "extractor") for spec in _parse_specs(settings.extractor))
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


def versions_of(chunker: str, extractor: str, models: ChatModels | None) -> Mapping[str, str]:
    """Returns the fingerprints of a chunker and an extractor, as `CorpusSettings.versions` keeps them.

    The fingerprint of an extractor covers its prompt and its model. Raises `InvalidStrategy` if one of them is unknown
    or needs a model that is not configured.
    """
    return {"chunker": _chunker_version(chunker), "extractor": make_extractor(extractor, models).fingerprint}
