"""The port of answer trails: how an answer came about, stored as a graph."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class TrailStep:
    """One step: its question, what it found, and its answer.

    `needs` are the ids of the steps whose answers it used; ids of other trails are left out. `searches` are the
    queries, each after its searcher's name; `chunks` are the ids of the chunks that were found, best first. `support`
    is a value of `core.ports.reasoning.Support`; it is '' for searches that belong to no step.
    """

    id: str
    question: str
    answer: str
    verdict: str = ""
    support: str = ""
    needs: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TrailCitation:
    """The source of one marker of the answer; `quote` is verbatim in the chunk."""

    marker: int
    chunk_id: str
    quote: str


@dataclass(frozen=True, kw_only=True)
class Trail:
    """A question with its answer. All chunks are of one corpus; `links` are the addresses of passages from
    the web. `support` and `note` are the answer's. `roles` are, by chunk, what its document is to the answer
    (`core.verification`); they are empty if the answer was not verified.
    """

    question: str
    answer: str
    reasoner: str
    support: str = ""
    note: str = ""
    steps: tuple[TrailStep, ...] = ()
    citations: tuple[TrailCitation, ...] = ()
    links: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)


class Trails(Protocol):
    """Trails with a limited life.

    A trail is deleted with its corpus, and with the first of its chunks that is deleted: what an answer took from a
    document is not kept longer than the document.
    """

    async def write(self, corpus_id: str, trail: Trail) -> str | None:
        """Stores a trail; returns its id.

        Returns None, and stores nothing, if one of its chunks is not visible any more or the corpus is being deleted.
        Raises `NotFound` for an unknown corpus.
        """
