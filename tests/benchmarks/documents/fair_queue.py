"""How long small uploads and pages of a PDF wait while one large text is indexed.

Twice: with the built-in model, while the text is cut and embedded, and with an endpoint that embeds at once, from the
claim of the text to the end of its commit.
"""

import asyncio
import statistics
import time
from contextlib import AbstractContextManager, nullcontext
from itertools import count, islice
from pathlib import Path
from typing import Any

from app.container import Container
from app.services import corpora, ingestion
from app.services.documents import draw_page, load_page
from core.corpora import Corpus
from core.documents import OnConflict, Submission
from core.jobs import Job
from tests.benchmarks.check import Check, at_most, figure
from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.benchmarks.documents.jobs import ingest, job_seconds, text_submission, wait_for
from tests.benchmarks.documents.long_text import make_natural_text
from tests.benchmarks.documents.prose import make_sentences, make_text
from tests.benchmarks.workshop import workshop
from tests.documents import make_long_pdf

__all__ = ["checks", "measure"]

_MEGABYTES = 50
_UPLOADS = 4
_SENTENCES = 60
_GIVE_UP = 300.0
_ROUNDS_WITH_MODEL = 3
_PAGES = 500
_LINES = 40
_PAGES_READ = (7, 250, 251, 499)
_BEGIN_SECONDS = 5.0


async def measure(datasets: Path, megabytes: float = _MEGABYTES) -> dict[str, Any]:
    text = make_natural_text(datasets, megabytes)
    return {
        "model": await _measure(text, nullcontext(), rounds=_ROUNDS_WITH_MODEL),
        "endpoint": await _measure(text, embedding_endpoint(384), rounds=None),
    }


def checks(report: dict[str, Any]) -> list[Check]:
    found = []
    for name, way in report.items():
        found += [
            at_most(f"beside a long text ({name}): four uploads into another corpus, longest s", max(way["other"]), 10),
            at_most(f"beside a long text ({name}): four uploads into the same corpus, longest s", max(way["same"]), 20),
            figure(f"beside a long text ({name}): four uploads into another corpus, median s", _median(way["other"])),
            figure(f"beside a long text ({name}): four uploads into the same corpus, median s", _median(way["same"])),
            at_most(
                f"beside a long text ({name}): a page of a PDF of 500 pages, longest s", max(way["page_beside"]), 1
            ),
            at_most(f"a page of a PDF of 500 pages ({name}): longest s", max(way["page_idle"]), 0.3),
            at_most(f"its image ({name}): longest s", max(way["image_idle"]), 0.3),
            at_most(f"beside a long text ({name}): its image, longest s", max(way["image_beside"]), 1),
        ]
        if "seconds" in way:
            found.append(figure(f"the long text itself ({name}): s", way["seconds"]))
    return found


def _median(seconds: list[float]) -> float:
    return statistics.median(seconds)


async def _measure(text: str, embedding: AbstractContextManager[Any], *, rounds: int | None) -> dict[str, Any]:
    """Uploads again and again until the long text is indexed, or for some rounds."""
    numbers = count()
    with embedding:
        async with workshop() as shop:
            container = shop.container
            await container.page_images.prepare()  # as a server does when it starts
            long, other = await corpora.create(container, "long"), await corpora.create(container, "other")
            await ingest(container, other, [Submission(key="book.pdf", content=_pdf(), media_type="application/pdf")])
            pages, images = await _read_pages(container, other)
            report: dict[str, Any] = {"page_idle": pages, "image_idle": images}
            report |= {"other": [], "same": [], "page_beside": [], "image_beside": [], "passages_at": []}
            job = await _submit(container, long, text_submission("long.txt", text))
            await asyncio.sleep(_BEGIN_SECONDS)
            while not (now := await container.record.jobs.get(job.id)).state.final and rounds != 0:
                report["passages_at"].append(now.progress.passages)
                report["other"].append(await _upload(container, other, numbers))
                report["same"].append(await _upload(container, long, numbers))
                pages, images = await _read_pages(container, other)
                report["page_beside"] += pages
                report["image_beside"] += images
                rounds = None if rounds is None else rounds - 1
            if rounds is None:
                report["seconds"] = job_seconds(await wait_for(container, job))
            return report


async def _submit(container: Container, corpus: Corpus, submission: Submission) -> Job:
    *_, last = [part async for part in ingestion.submit_all(container, corpus, [submission], OnConflict.REPLACE)]
    return last.job


async def _upload(container: Container, corpus: Corpus, numbers: Any) -> float:
    """Returns the seconds until four uploads are searchable, or those after which none is waited for any more."""
    began = time.perf_counter()
    jobs: list[Job] = []
    for number in islice(numbers, _UPLOADS):
        small = make_text(list(islice(make_sentences(number), _SENTENCES)))
        jobs.append(await _submit(container, corpus, text_submission(f"small-{number}", small)))
    try:
        async with asyncio.timeout(_GIVE_UP):
            for job in jobs:
                await wait_for(container, job)
    except TimeoutError:
        pass  # the time tells
    return time.perf_counter() - began


async def _read_pages(container: Container, corpus: Corpus) -> tuple[list[float], list[float]]:
    """Returns the seconds of texts and of images of pages."""
    [document] = [
        one
        for one in (await container.record.documents.list(corpus.id, limit=50)).data
        if one.media_type == "application/pdf"
    ]
    pages, images = [], []
    for number in _PAGES_READ:
        began = time.perf_counter()
        await load_page(container, corpus, document.id, number)
        pages.append(time.perf_counter() - began)
        began = time.perf_counter()
        await draw_page(container, corpus, document, number, width=900, mark="")
        images.append(time.perf_counter() - began)
    return pages, images


def _pdf() -> bytes:
    sentences = make_sentences(500)
    return make_long_pdf([[next(sentences) for _ in range(_LINES)] for _ in range(_PAGES)])
