"""What the presets of published systems need: memory for the model, triples in the corpus, a reranker."""

from typing import Any

from pydantic import Field

from core.corpora import Corpus
from core.errors import InvalidStrategy
from reasoning.engine.backends import ReasoningBackends
from reasoning.engine.reasoner import CheckCorpus

__all__ = ["check_reranker", "memory_field", "require_triples"]


def memory_field() -> Any:
    """Returns the option `memory` of a `Config`, which `SessionReasoner` takes."""
    return Field(
        default=False,
        description="Answers may come from the model's memory, as in the paper; they say so. Never if the request's "
        "`unsupported` is `abstain`.",
    )


def require_triples(reasoner: str, backends: ReasoningBackends) -> CheckCorpus:
    """Returns a check that raises `InvalidStrategy` for corpora without triples."""

    async def check(corpus: Corpus) -> None:
        if not await backends.has_facts(corpus):
            raise InvalidStrategy(
                f"the preset 'paper' of the reasoner {reasoner!r} searches a graph of triples, and the corpus "
                f"{corpus.name!r} has none: reindex it with an extractor that finds them (`llm`, or `given` if the "
                f"documents bring them), or ask with {reasoner!r} without the preset"
            )

    return check


def check_reranker(reasoner: str, backends: ReasoningBackends) -> None:
    """Raises `InvalidStrategy` if no reranker is configured."""
    if backends.reranker is None:
        raise InvalidStrategy(
            f"the preset 'paper' of the reasoner {reasoner!r} needs a reranking model, and none is configured: set "
            "HOPWEAVE_RERANKER__KIND to 'cross-encoder' or 'colbert' (with HOPWEAVE_RERANKER__MODEL) or 'http' (with "
            f"HOPWEAVE_RERANKER__URL), or ask with {reasoner!r} without the preset"
        )
