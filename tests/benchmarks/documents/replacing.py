"""What it costs to replace a document of 1,000 chunks in which one sentence changed."""

import random
import statistics
from itertools import islice
from typing import Any

from app.services import corpora
from core.ids import document_id
from core.ports.views import VectorKind
from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.benchmarks.documents.jobs import ingest, job_seconds, text_submission
from tests.benchmarks.documents.prose import make_sentence, make_sentences, make_text
from tests.benchmarks.workshop import Workshop, workshop

__all__ = ["checks", "measure"]

_SENTENCES = 11_000
_CHANGES = 15
_SEED = 11
_FORMS = {"with chapters": ("text/markdown", 12), "without any heading": ("text/plain", 0)}
"""By name: the media type, and the paragraphs of a chapter."""


async def measure() -> dict[str, Any]:
    """Each form of the document is ingested once, and then changed at random places, one sentence at a time."""
    async with workshop() as shop:
        await _warm(shop)
        return {name: await _measure_form(shop, *form) for name, form in _FORMS.items()}


def checks(report: dict[str, Any]) -> list[Check]:
    found = []
    for name, form in report.items():
        found += [
            figure(f"replacing, {name}: chunks", form["chunks"]),
            at_most(f"replacing, {name}: chunks embedded, median", form["embedded_median"], 3),
            figure(f"replacing, {name}: chunks embedded, most", max(form["embedded"])),
            at_least(f"replacing, {name}: times faster than the first ingest, median", form["ratio"], 20),
        ]
    return found


async def _warm(shop: Workshop) -> None:
    corpus = await corpora.create(shop.container, "warm")
    await ingest(shop.container, corpus, [text_submission("warm", make_text(list(islice(make_sentences(1), 200))))])


async def _measure_form(shop: Workshop, media_type: str, paragraphs_of_a_chapter: int) -> dict[str, Any]:
    container, random_ = shop.container, random.Random(_SEED)
    sentences = list(islice(make_sentences(_SEED), _SENTENCES))
    corpus = await corpora.create(container, f"replaced-{paragraphs_of_a_chapter}")

    async def submit() -> float:
        text = make_text(sentences, paragraphs_of_a_chapter)
        return job_seconds(await ingest(container, corpus, [text_submission("report", text, media_type)]))

    first = await submit()
    chunks = (await container.record.documents.get(corpus.id, document_id("report"))).chunks
    embedded, seconds = [], []
    for _ in range(_CHANGES):
        before = set(await container.vectors.ids(corpus.id, VectorKind.CHUNK))
        sentences[random_.randrange(len(sentences))] = make_sentence(random_)
        seconds.append(await submit())
        embedded.append(len(set(await container.vectors.ids(corpus.id, VectorKind.CHUNK)) - before))
    return {
        "chunks": chunks,
        "first_seconds": first,
        "seconds": seconds,
        "embedded": embedded,
        "embedded_median": statistics.median(embedded),
        "ratio": first / statistics.median(seconds),
    }
