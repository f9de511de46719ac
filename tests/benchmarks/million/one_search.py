"""One search, and the seconds of its stages."""

import time

from app.container import Container
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.strategies import parse_spec
from core.trace import Trace

__all__ = ["searched"]


async def searched(
    container: Container, corpus: Corpus, question: str, name: str, generation: int | None = None
) -> dict[str, float]:
    """Returns the seconds of a search, of its stages, and in all without those of embedding the question."""
    trace = Trace()
    request = SearchRequest(query=question, searcher=parse_spec(name), k=10, min_generation=generation)
    began = time.perf_counter()
    await search(container, corpus, request, trace)
    seconds = time.perf_counter() - began
    return {**trace.timing, "all": seconds, "without embedding": seconds - trace.timing.get("embed", 0.0)}
