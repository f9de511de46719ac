"""Documents that failed, tried again."""

from app.container import Container
from core.corpora import Corpus
from core.jobs import Job

__all__ = ["retry"]


async def retry(container: Container, corpus: Corpus, document_id: str) -> Job:
    """Queue the newest revision again and ring for a worker; raises `Conflict` where there is nothing to try again."""
    container.check_embedding(corpus)
    job = await container.record.submissions.retry(corpus.id, document_id)
    await container.notifier.notify_soon(corpus.id)
    return job
