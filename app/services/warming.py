"""Background tasks of the HTTP server: loading models ahead, and notifying workers of work without a message."""

import asyncio
import logging

from app.broker.broker import make_celery
from app.broker.outage_log import OutageLog
from app.container import Container
from core.errors import HopweaveError
from models import import_chat_client
from retrieval import warm

__all__ = ["notify_of_waiting_work", "warm_up"]

_log = logging.getLogger("hopweave.app")


async def warm_up(container: Container) -> None:
    """Loads what the first request would wait for: the embedding model, compiled PageRank, the client of the broker."""
    await asyncio.to_thread(make_celery, container.settings)
    await asyncio.to_thread(warm)
    if container.settings.llm.model:
        await asyncio.to_thread(import_chat_client)
    try:
        await container.embedder.embed_query("warm")
    except HopweaveError as error:  # searches raise it again; other requests need no model
        _log.warning("the embedding model is not ready: %s", error)


async def notify_of_waiting_work(container: Container) -> None:
    """Notifies workers of queued and expired work, forever. So a lost message costs some seconds, and never work."""
    outages = OutageLog(_log)
    while True:
        try:
            for corpus_id in await container.record.maintenance.list_corpora_with_work():
                await asyncio.to_thread(container.notifier.notify, corpus_id)
        except HopweaveError as error:  # also a refusal of access, which may be corrected meanwhile
            outages.report_outage("record or broker", error)
        else:
            outages.report_recovery("record or broker")
        await asyncio.sleep(container.settings.worker.sweep_seconds)
