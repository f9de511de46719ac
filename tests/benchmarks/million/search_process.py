"""A process that searches: the first one after the start, then many.

`python -m tests.benchmarks.million.search_process FOLDER CORPUS PASSAGES` prints a report, and waits for the end of its
input with all that it holds.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from app.container import Container
from core.settings import read_settings
from retrieval import warm
from stores.sqlite.vectors.mapped import signs
from tests.benchmarks.check import milliseconds
from tests.benchmarks.million.material import make_questions
from tests.benchmarks.million.processes import memory_mb, searched

_SEARCHERS = ("dense", "sparse", "bridged")
_QUESTIONS, _WARM_UP = 40, 5


async def _search(folder: Path, name: str, passages: int) -> None:
    container = Container(read_settings(data_dir=folder))
    warm()
    signs.warm()  # a server does so itself, some seconds after its first searches
    corpus = await container.record.corpora.get(name)
    questions = make_questions(_QUESTIONS + _WARM_UP, passages)
    await container.embedder.embed_query("warm")
    first = await searched(container, corpus, questions[0], "bridged")
    ran: dict[str, list[dict[str, float]]] = {searcher: [] for searcher in _SEARCHERS}
    for question in questions:
        for searcher, found in ran.items():
            found.append(await searched(container, corpus, question, searcher))
    report = {
        "pid": os.getpid(),
        "first_seconds": first,
        "ms": {
            searcher: {stage: milliseconds([one.get(stage, 0.0) for one in found[_WARM_UP:]]) for stage in found[-1]}
            for searcher, found in ran.items()
        },
        "memory_mb": memory_mb(os.getpid()),
    }
    print(json.dumps(report), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await container.close()


if __name__ == "__main__":
    asyncio.run(_search(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
