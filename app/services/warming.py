"""Background tasks of the HTTP server: loading ahead, cleaning, and notifying workers of work without a message."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from app.broker.broker import make_celery
from app.broker.notifier import OutageLog
from app.container import Container
from app.services.questions import SearchRequest, search
from app.services.resolution import get_threshold, merge_by_itself
from core.corpora import Corpus
from core.errors import HopweaveError, Unavailable
from core.strategies import StrategySpec
from core.telemetry.logs import log_event
from core.trace import Trace
from models import import_chat_client
from retrieval import warm

_log = logging.getLogger("hopweave.app")

_PAUSE_SECONDS = 1.0
_CLEAN_SECONDS = 600.0
_FOLLOW_SECONDS = 30.0
_RECENT_JOBS = 200


async def warm_up(container: Container, report: Callable[[str], None]) -> None:
    """Loads what the first request would wait for: the embedding model (unless no corpus has vectors), compiled
    PageRank, the client of the broker, the snapshots of the corpora that were written last, and the process that draws
    pages.

    `report` receives what is being loaded, for messages. Waits for stores that do not answer.
    """
    await _warm_searches(container, report)
    try:
        await container.page_images.prepare()
    except Unavailable as error:  # a page that is asked for tries again
        _log.warning("%s", error)


async def _warm_searches(container: Container, report: Callable[[str], None]) -> None:
    began = time.monotonic()
    await asyncio.to_thread(make_celery, container.settings)
    await asyncio.to_thread(warm)
    if container.settings.llm.model:
        await asyncio.to_thread(import_chat_client)
    corpora = await _list_recent(container)
    if not corpora or any(corpus.settings.has_vectors for corpus in corpora):
        try:
            await container.embedder.embed_query("warm")
        except HopweaveError as error:  # searches raise it again; other requests need no model
            _log.warning("the embedding model is not ready: %s", error)
            return
    for number, corpus in enumerate(corpora, 1):
        report(f"loading snapshots, corpus {number} of {len(corpora)}")
        await _warm_corpus(container, corpus)
    seconds = round(time.monotonic() - began, 1)
    log_event(_log, logging.INFO, "ready: models and snapshots are loaded", corpora=len(corpora), seconds=seconds)


async def _list_recent(container: Container) -> Sequence[Corpus]:
    """Returns the corpora of the last jobs, the latest first, and then others, up to the number that is loaded."""
    while True:
        try:
            corpora = {corpus.name: corpus for corpus in await container.record.corpora.list()}
            jobs = await container.record.jobs.list(limit=_RECENT_JOBS)
        except Unavailable:  # `/readyz` names the store
            await asyncio.sleep(_PAUSE_SECONDS)
            continue
        names = dict.fromkeys([*(job.corpus_name for job in jobs), *corpora])
        known = [corpora[name] for name in names if name in corpora]
        return known[: container.settings.api.warm_corpora]


async def _warm_corpus(container: Container, corpus: Corpus) -> None:
    """Makes one search with `bridged`, which reads all data that searches read, and calls no language model."""
    request = SearchRequest(query="warm", searcher=StrategySpec(name="bridged"), k=1)
    try:
        await search(container, corpus, request, Trace())
    except HopweaveError as error:  # a search raises it again, and names the remedy
        _log.warning("corpus %s is not loaded: %s", corpus.name, error)
    container.snapshots.compare_again(corpus.id)  # the first search finds what was indexed since


async def follow_recent(container: Container) -> None:
    """Keeps the snapshots of the corpora that were written last up to date while nobody searches, forever, and merges
    their entities by their thresholds.

    Without it, the first search after a large ingest would read everything since the last search, on servers .3 ms for
    each passage, and build the snapshot of a new corpus.
    """
    merged: dict[str, object] = {}
    while True:
        await asyncio.sleep(_FOLLOW_SECONDS)
        for corpus in await _list_recent(container):
            try:
                await container.snapshots.get(corpus.id)
                await _merge_entities(container, corpus, merged)
            except HopweaveError as error:  # a search raises it again, and names the remedy
                _log.info("the snapshot of corpus %s is not brought up to date: %s", corpus.name, error)


async def _merge_entities(container: Container, corpus: Corpus, merged: dict[str, object]) -> None:
    """Merges entities by the threshold of a corpus, if it has one and anything has changed since on which merges
    depend. `merged` has what they depended on when that was done, by corpus.
    """
    threshold = await get_threshold(container, corpus)
    if threshold is None:
        return
    rejected = frozenset(pair.id for pair in await container.record.resolution.list(corpus.id))
    state = (corpus.generation, threshold, rejected)
    if merged.get(corpus.id) == state:
        return
    made = await merge_by_itself(container, corpus)
    merged[corpus.id] = state
    if made:
        log_event(_log, logging.INFO, "entities were merged by themselves", corpus=corpus.name, merges=len(made))


async def clean_snapshots(container: Container) -> None:
    """Deletes the snapshot files of corpora that do not exist any more, at the start and every ten minutes."""
    while True:
        try:
            await container.snapshots.clean()
        except HopweaveError as error:
            _log.info("snapshot files are not cleaned: %s", error)
        await asyncio.sleep(_CLEAN_SECONDS)


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
