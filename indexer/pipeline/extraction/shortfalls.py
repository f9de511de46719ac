"""The reason why a document cannot be indexed: chunks without an extraction, or nothing found in any of them."""

from indexer.pipeline.extraction.chunked_document import ChunkedDocument

__all__ = ["find_shortfall"]

_MIN_TEXT = 200  # characters; a shorter document may well name nothing
_SHOWN = 10
_KEPT = "what was paid for is kept: `hopweave documents retry` asks only for the rest"


def find_shortfall(document: ChunkedDocument, *, calls_model: bool) -> str:
    """Returns the reason with its remedy, or '' if the document can be indexed. `calls_model`: the extractor does."""
    if document.failed:
        return _describe_missing(document)
    if calls_model and document.chunks and not any(one.entities or one.triples for one in document.found.values()):
        return _describe_empty(document)
    return ""


def _describe_missing(document: ChunkedDocument) -> str:
    positions = sorted(n for n, hash in enumerate(document.hashes) if hash not in document.found)
    shown = ", ".join(map(str, positions[:_SHOWN])) + (", …" if len(positions) > _SHOWN else "")
    last = document.failed[max(document.failed)]
    return (
        f"{len(positions)} of {len(document.chunks)} passages could not be extracted (position {shown}, from 0): "
        f"{last}; {_KEPT}"
    )


def _describe_empty(document: ChunkedDocument) -> str:
    if sum(len(chunk.text.strip()) for chunk in document.chunks) <= _MIN_TEXT:
        return ""
    return (
        f"the model found no entity in any of its {len(document.chunks)} passages: set a model that does by "
        "HOPWEAVE_LLM__ROLES__EXTRACT__MODEL and retry the document, or use the extractor 'pattern+llm' in a new corpus"
    )
