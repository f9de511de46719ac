"""Writing the snapshot file of a corpus, as a worker does after an ingest."""

import resource
import time

from app.container import Container
from core.corpora import Corpus

__all__ = ["write_snapshot"]


async def write_snapshot(container: Container, corpus: Corpus) -> dict[str, float]:
    """Returns what it takes, in a process of its own if the corpus is large and has none."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    await container.snapshots.prepare(corpus.id)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak_mb": after.ru_maxrss * 1024 / 1e6,
    }
