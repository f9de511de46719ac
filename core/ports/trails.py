"""What led to an answer, kept so that it can be walked in the graph."""

from dataclasses import dataclass
from typing import Protocol

__all__ = ["Trail", "TrailCitation", "TrailStep", "Trails"]


@dataclass(frozen=True, kw_only=True)
class TrailStep:
    """One hop: what it asked, found and answered.

    `needs` are the ids of the steps whose answers it used; others than those of the trail are left out. `searches` are
    the queries, each after its searcher's name; `chunks` the ids of the chunks that they showed, best first.
    """

    id: str
    question: str
    answer: str
    verdict: str = ""
    needs: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TrailCitation:
    """What one marker of the answer stands on; `quote` is verbatim in the chunk."""

    marker: int
    chunk_id: str
    quote: str


@dataclass(frozen=True, kw_only=True)
class Trail:
    """A question with its answer. Chunks are those of one corpus; `links` are what came from the web instead."""

    question: str
    answer: str
    reasoner: str
    steps: tuple[TrailStep, ...] = ()
    citations: tuple[TrailCitation, ...] = ()
    links: tuple[str, ...] = ()


class Trails(Protocol):
    """Trails of a limited life. They go with their corpus, and each with the first chunk that goes of all that it
    shows: what an answer took from a document does not outlive it.
    """

    async def write(self, corpus_id: str, trail: Trail) -> str | None:
        """Keep a trail; returns its id.

        None, and nothing is kept, where a chunk that it shows is not to be seen any more, or the corpus is being
        deleted. Raises `NotFound` for an unknown corpus.
        """
