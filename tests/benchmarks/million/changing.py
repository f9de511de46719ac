"""A hundred documents added, replaced and deleted: until a search has them, and what following costs this process."""

import time
from collections.abc import Iterable
from typing import Any

from app.container import Container
from app.services import ingestion
from core.corpora import Corpus
from core.documents import Submission
from core.ids import document_id
from core.jobs import Job
from tests.benchmarks.documents.jobs import ingest, job_seconds, wait_for
from tests.benchmarks.million.material import key_of, make_passages, make_questions
from tests.benchmarks.million.processes import searched

__all__ = ["measure_changes"]

_CHANGED = 100
_ROUNDS = 3


async def measure_changes(container: Container, corpus: Corpus, passages: int) -> dict[str, Any]:
    """The folder has the same passages afterwards: what is added is deleted, and what is replaced is put back."""
    question = make_questions(1, passages)[0]
    for _ in range(2):
        usual = await _follow(container, corpus, question)
    found: dict[str, list[dict[str, float]]] = {"adding": [], "replacing": [], "deleting": []}
    for number in range(_ROUNDS):
        new = range(passages + number * _CHANGED, passages + (number + 1) * _CHANGED)
        old = range(number * _CHANGED, (number + 1) * _CHANGED)
        added = await _put(container, corpus, make_passages(new.start, new.stop))
        found["adding"].append(await _changed(container, corpus, question, added))
        replaced = await _put(container, corpus, make_passages(old.start, old.stop, version=1))
        found["replacing"].append(await _changed(container, corpus, question, replaced))
        await _put(container, corpus, make_passages(old.start, old.stop))
        deletion = await ingestion.delete_documents(container, corpus, [document_id(key_of(n)) for n in new])
        found["deleting"].append(await _changed(container, corpus, question, await wait_for(container, deletion)))
    return {"usual": usual, **found}


async def _put(container: Container, corpus: Corpus, submissions: Iterable[Submission]) -> Job:
    return await ingest(container, corpus, submissions)


async def _changed(container: Container, corpus: Corpus, question: str, job: Job) -> dict[str, float]:
    return {"job_seconds": job_seconds(job), **await _follow(container, corpus, question)}


async def _follow(container: Container, corpus: Corpus, question: str) -> dict[str, float]:
    """Searches for the newest generation."""
    now = await container.record.corpora.get_by_id(corpus.id)
    cpu = time.process_time()
    seconds = (await searched(container, corpus, question, "bridged", now.generation))["all"]
    return {"seconds": seconds, "cpu_seconds": time.process_time() - cpu}
