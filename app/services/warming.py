"""What a server does beside answering: loading ahead, and ringing for work that no message told of."""

import asyncio
import logging

from app.broker.notifier import make_celery
from app.container import Container
from app.worker.outages import Outages
from core.errors import HopweaveError
from models import import_chat_client
from retrieval import warm

__all__ = ["keep_ringing", "warm_up"]

_log = logging.getLogger("hopweave.app")


async def warm_up(container: Container) -> None:
    """Load what the first request would wait for: the embedding model, compiled PageRank, the broker's client."""
    await asyncio.to_thread(make_celery, container.settings)
    await asyncio.to_thread(warm)
    if container.settings.llm.model:
        await asyncio.to_thread(import_chat_client)
    try:
        await container.embedder.embed_query("warm")
    except HopweaveError as error:  # searches will say the same; the rest of the server is of use without a model
        _log.warning("the embedding model is not ready: %s", error)


async def keep_ringing(container: Container) -> None:
    """Ring for queued and expired work, for ever: a message that was lost costs some seconds, never work."""
    outages = Outages(_log)
    while True:
        try:
            for corpus_id in await container.record.maintenance.list_corpora_with_work():
                await asyncio.to_thread(container.bell.ring, corpus_id)
        except HopweaveError as error:  # also a server that refuses us for a while: the next look may find it mended
            outages.began("record or broker", error)
        else:
            outages.ended("record or broker")
        await asyncio.sleep(container.settings.worker.sweep_seconds)
