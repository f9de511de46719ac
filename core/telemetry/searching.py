"""Stages of searches: which searcher runs, so that each stage is measured under its name."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from core.telemetry.metrics import RETRIEVAL_SECONDS
from core.telemetry.spans import span

__all__ = ["measure_search", "measure_stage"]

_SEARCH: ContextVar[tuple[str, str] | None] = ContextVar("search", default=None)


@contextmanager
def measure_search(searcher: str, corpus: str) -> Iterator[None]:
    """Measures the block as a search by `searcher` in the corpus of this name."""
    before = _SEARCH.set((searcher, corpus))
    began = time.perf_counter()
    try:
        with span(f"search {searcher}", {"hopweave.searcher": searcher, "gen_ai.operation.name": "retrieval"}):
            yield
    finally:
        _SEARCH.reset(before)
        RETRIEVAL_SECONDS.record(time.perf_counter() - began, searcher=searcher, stage="total", corpus=corpus)


@contextmanager
def measure_stage(stage: str) -> Iterator[None]:
    """Measures the block as a stage of the search that runs. Outside a search it measures nothing."""
    search = _SEARCH.get()
    if search is None:
        yield
        return
    searcher, corpus = search
    began = time.perf_counter()
    try:
        with span(f"stage {stage}", {"hopweave.searcher": searcher, "hopweave.stage": stage}):
            yield
    finally:
        RETRIEVAL_SECONDS.record(time.perf_counter() - began, searcher=searcher, stage=stage, corpus=corpus)
