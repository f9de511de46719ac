"""A hundred documents added, replaced and deleted: until a search has them, and what following costs this process."""

import time
from collections.abc import Iterable
from typing import Any

from app.services import ingestion
from core.corpora import Corpus
from core.documents import Submission
from core.ids import document_id
from core.jobs import Job
from tests.benchmarks.documents.jobs import ingest, job_seconds, wait_for
from tests.benchmarks.million.material import key_of, make_passages, make_questions
from tests.benchmarks.million.one_search import searched
from tests.benchmarks.workshop import Workshop

__all__ = ["measure_changes"]

_CHANGED = 100
_ROUNDS = 3


async def measure_changes(shop: Workshop, corpus: Corpus, passages: int) -> dict[str, Any]:
    """The folder has the same passages afterwards: what is added is deleted, and what is replaced is put back."""
    question = make_questions(1, passages)[0]
    for _ in range(2):
        usual = await _follow(shop, corpus, question)
    found: dict[str, list[dict[str, float]]] = {"adding": [], "replacing": [], "deleting": []}
    for number in range(_ROUNDS):
        new = range(passages + number * _CHANGED, passages + (number + 1) * _CHANGED)
        old = range(number * _CHANGED, (number + 1) * _CHANGED)
        added = await _put(shop, corpus, make_passages(new.start, new.stop))
        found["adding"].append(await _changed(shop, corpus, question, added))
        replaced = await _put(shop, corpus, make_passages(old.start, old.stop, version=1))
        found["replacing"].append(await _changed(shop, corpus, question, replaced))
        await _put(shop, corpus, make_passages(old.start, old.stop))
        deletion = await ingestion.delete_documents(shop.container, corpus, [document_id(key_of(n)) for n in new])
        found["deleting"].append(await _changed(shop, corpus, question, await wait_for(shop.container, deletion)))
    return {"usual": usual, **found}


async def _put(shop: Workshop, corpus: Corpus, submissions: Iterable[Submission]) -> Job:
    return await ingest(shop.container, corpus, submissions)


async def _changed(shop: Workshop, corpus: Corpus, question: str, job: Job) -> dict[str, float]:
    return {"job_seconds": job_seconds(job), **await _follow(shop, corpus, question)}


async def _follow(shop: Workshop, corpus: Corpus, question: str) -> dict[str, float]:
    """Searches for the newest generation."""
    now = await shop.container.record.corpora.get_by_id(corpus.id)
    cpu = time.process_time()
    seconds = (await searched(shop.container, corpus, question, "bridged", now.generation))["all"]
    return {"seconds": seconds, "cpu_seconds": time.process_time() - cpu}
