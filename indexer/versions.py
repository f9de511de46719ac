"""Which releases of the strategies a corpus is built with: what was built by another one is stale."""

from collections.abc import Mapping

from core.ports.chat import ChatModels
from core.strategies import load_module, parse_spec
from indexer.extraction import make_extractor

__all__ = ["versions_of"]


def versions_of(chunker: str, extractor: str, models: ChatModels | None) -> Mapping[str, str]:
    """The fingerprints of a chunker and an extractor, as a corpus keeps them in `CorpusSettings.versions`.

    An extractor's covers its prompt and its model. Raises `InvalidStrategy` for what is unknown, or needs a model that
    is not configured.
    """
    module = load_module("indexer.chunkers", parse_spec(chunker).name, "chunker")
    return {"chunker": str(module.FINGERPRINT), "extractor": make_extractor(extractor, models).fingerprint}
