"""What is configured, reachable and consistent; and what to do about what is not."""

import os
from collections.abc import AsyncIterator

from app.consistency import compare
from app.container import Container
from app.findings import Finding, Level
from app.folder_lock import holder, is_held
from app.model_check import check_models
from app.readiness import unready
from core.corpora import Corpus
from core.documents import RevisionState
from core.errors import HopweaveError
from core.settings import Settings
from models import make_chat_models

__all__ = ["diagnose", "examine_folder", "examine_services"]

_SHOWN = 1000


def examine_folder(settings: Settings) -> list[Finding]:
    """The data folder and who works on it; made for reading before any store is opened."""
    folder = settings.data_dir
    place = folder if folder.exists() else _nearest(settings)
    if not os.access(place, os.W_OK | os.X_OK):
        remedy = "make it writable, or set HOPWEAVE_DATA_DIR to another folder"
        return [Finding(subject="data folder", level=Level.PROBLEM, detail=f"{place} is not writable", remedy=remedy)]
    detail = f"{folder} is writable" if folder.exists() else f"{folder} will be made by the first ingest"
    who = holder(folder) if is_held(folder) else None
    if who is None:
        worker = Finding(subject="worker", level=Level.OK, detail="none runs; serve, ingest and worker start one")
    elif who.silent_seconds > settings.worker.lease_seconds:
        worker = Finding(
            subject="worker",
            level=Level.PROBLEM,
            detail=f"process {who.pid} holds the folder and has been silent for {who.silent_seconds:.0f} s",
            remedy=f"`hopweave serve` or `ingest` replaces it; or end process {who.pid}",
        )
    else:
        worker = Finding(subject="worker", level=Level.OK, detail=f"process {who.pid} holds the folder and is alive")
    return [Finding(subject="data folder", level=Level.OK, detail=detail), worker]


async def diagnose(container: Container) -> AsyncIterator[Finding]:
    """Stores, the models, and each corpus against its views."""
    down = await unready(container)
    for store in ("record", "vectors", "text", "files"):
        reason = down.get(store)
        if reason is None:
            yield Finding(subject=f"store {store}", level=Level.OK, detail="answers")
        else:
            yield Finding(subject=f"store {store}", level=Level.PROBLEM, detail=reason)
    async for finding in examine_services(container):
        yield finding
    if down:
        return
    waiting = set(await container.record.work.waiting())
    for corpus in await container.record.corpora.all():
        yield _embedding(container, corpus)
        working = await _in_work(container, corpus)
        busy = working > 0 or corpus.id in waiting
        yield _work(container, corpus, working=working, waiting=corpus.id in waiting)
        try:
            async for finding in compare(container, corpus, busy=busy):
                yield finding
        except HopweaveError as error:
            subject = f"corpus {corpus.name}: views"
            yield Finding(subject=subject, level=Level.PROBLEM, detail=str(error))


async def examine_services(container: Container) -> AsyncIterator[Finding]:
    """The models and the search engine: what needs no data folder."""
    yield await _model(container)
    for finding in await _language_models(container):
        yield finding
    yield await _reranker(container)
    yield _web(container)


def _nearest(settings: Settings) -> "os.PathLike[str]":
    """The nearest folder above that exists."""
    return next(parent for parent in settings.data_dir.absolute().parents if parent.exists())


async def _model(container: Container) -> Finding:
    try:
        vector = await container.embedder.embed_query("Does the model answer?")
    except HopweaveError as error:
        remedy = "check HOPWEAVE_EMBEDDING__MODEL and HOPWEAVE_EMBEDDING__KIND"
        return Finding(subject="embedding model", level=Level.PROBLEM, detail=str(error), remedy=remedy)
    detail = f"{container.embedder.model} answers with {len(vector)} dimensions"
    return Finding(subject="embedding model", level=Level.OK, detail=detail)


async def _language_models(container: Container) -> list[Finding]:
    settings = container.settings.llm
    models = make_chat_models(settings, None, None)
    try:
        return await check_models(models, settings)
    finally:
        await models.close()


async def _reranker(container: Container) -> Finding:
    subject = "reranker"
    try:
        if container.reranker is None:
            remedy = "HOPWEAVE_RERANKER__KIND sets one, for the searcher `reranked` and the reasoner `omni`"
            return Finding(subject=subject, level=Level.NOTE, detail="none is configured", remedy=remedy)
        await container.reranker.rank("Does it answer?", ["It does."])
    except HopweaveError as error:
        return Finding(subject=subject, level=Level.PROBLEM, detail=str(error))
    return Finding(subject=subject, level=Level.OK, detail=f"{container.settings.reranker.kind} answers")


def _web(container: Container) -> Finding:
    """Configured or not; nothing is sent out to try it."""
    subject = "web search"
    try:
        if container.web is None:
            remedy = "HOPWEAVE_WEB__KIND sets one, for the searcher `web`"
            return Finding(subject=subject, level=Level.NOTE, detail="none is configured", remedy=remedy)
    except HopweaveError as error:
        return Finding(subject=subject, level=Level.PROBLEM, detail=str(error))
    detail = f"{container.settings.web.kind} is configured; no query was sent to try it"
    return Finding(subject=subject, level=Level.OK, detail=detail)


def _embedding(container: Container, corpus: Corpus) -> Finding:
    subject = f"corpus {corpus.name}: embedding"
    try:
        container.check_embedding(corpus)
    except HopweaveError as error:
        return Finding(subject=subject, level=Level.PROBLEM, detail=str(error))
    return Finding(subject=subject, level=Level.OK, detail=f"{corpus.settings.embedding_model}, as configured")


async def _in_work(container: Container, corpus: Corpus) -> int:
    """How many documents some worker has, or had, in hand (at most a thousand of each state are counted)."""
    library = container.record.library
    states = [state for state in RevisionState if state.in_work]
    pages = [await library.documents(corpus.id, limit=_SHOWN, state=state) for state in states]
    return sum(len(page.data) for page in pages)


def _work(container: Container, corpus: Corpus, *, working: int, waiting: bool) -> Finding:
    subject = f"corpus {corpus.name}: work"
    if not working and not waiting:
        return Finding(subject=subject, level=Level.OK, detail="nothing is waiting")
    held = is_held(container.settings.data_dir)
    if working and not held:
        detail = f"{working} documents were left in work by a worker that is gone"
    else:
        detail = f"{working} documents are in work" + ("; more is waiting" if waiting else "")
    after = "" if held else "it goes on with the next `hopweave serve`, `ingest` or `worker`"
    return Finding(subject=subject, level=Level.NOTE, detail=detail, remedy=after)
