"""The versions of the strategies that a corpus is built with. A corpus that was built with others is stale."""

from collections.abc import Mapping

from core.ports.chat import ChatModels
from indexer.selection.chunkers import chunker_version
from indexer.selection.extractors import make_extractor

__all__ = ["versions_of"]


def versions_of(chunker: str, extractor: str, models: ChatModels | None) -> Mapping[str, str]:
    """Returns the fingerprints of a chunker and an extractor, as `CorpusSettings.versions` keeps them.

    The fingerprint of an extractor covers its prompt and its model. Raises `InvalidStrategy` if one of them is unknown
    or needs a model that is not configured.
    """
    return {"chunker": chunker_version(chunker), "extractor": make_extractor(extractor, models).fingerprint}
