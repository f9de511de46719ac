"""Why a document cannot be indexed as it was extracted: passages without an answer, or nothing found at all."""

from indexer.pipeline.extraction_pool import Asked

__all__ = ["shortfall"]

_REAL_TEXT = 200  # characters; a shorter document may well name nothing
_SHOWN = 10
_KEPT = "what was paid for is kept: `hopweave documents retry` asks only for the rest"


def shortfall(asked: Asked, *, asks: bool) -> str:
    """The reason for its failure, with the remedy; '' where there is none. `asks`: the extractor asks a model."""
    if asked.failed:
        return _unanswered(asked)
    if asks and asked.chunks and not any(found.entities or found.triples for found in asked.found.values()):
        return _nothing_found(asked)
    return ""


def _unanswered(asked: Asked) -> str:
    positions = sorted(n for n, hash in enumerate(asked.hashes) if hash not in asked.found)
    shown = ", ".join(map(str, positions[:_SHOWN])) + (", …" if len(positions) > _SHOWN else "")
    last = asked.failed[max(asked.failed)]
    return (
        f"{len(positions)} of {len(asked.chunks)} passages could not be extracted (position {shown}, from 0): {last}; "
        f"{_KEPT}"
    )


def _nothing_found(asked: Asked) -> str:
    if sum(len(chunk.text.strip()) for chunk in asked.chunks) <= _REAL_TEXT:
        return ""
    return (
        f"the model found no entity in any of its {len(asked.chunks)} passages: set a model that does by "
        "HOPWEAVE_LLM__ROLES__EXTRACT__MODEL and retry the document, or use the extractor 'pattern+llm' in a new corpus"
    )
