"""The memory that a worker takes for a long text beside its embedding model: of two sizes, and from these of 100 MB."""

import json
import random
import re
from pathlib import Path
from typing import Any

from app.services import corpora
from evaluation import read_peak_memory_mb
from tests.benchmarks.check import Check, at_most, figure
from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.benchmarks.documents.jobs import ingest, job_seconds, text_submission
from tests.benchmarks.workshop import workshop

__all__ = ["checks", "make_natural_text", "measure"]

_SIZES = (8, 32)
"""Megabytes. From some 8 MB on, the caches of passages and paragraphs are full, and only what is held grows."""
_LONG = 100
_MODEL = 600
"""Megabytes of an embedding model, which the endpoint takes the place of."""
_DIMENSION = 384
_SENTENCES_OF_A_PARAGRAPH = 5
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_DIGIT = re.compile(r"\d")


async def measure(datasets: Path, sizes: tuple[int, int] = _SIZES) -> dict[str, Any]:
    """Each text is ingested by a worker of its own, into a folder of its own."""
    few, many = [await _measure(make_natural_text(datasets, megabytes)) for megabytes in sizes]
    slope = (many["peak_rss_mb"] - few["peak_rss_mb"]) / (many["megabytes"] - few["megabytes"])
    long = many["peak_rss_mb"] + slope * (_LONG - many["megabytes"]) + _MODEL
    return {"texts": [few, many], "mb_a_mb": slope, "long_mb": long}


def checks(report: dict[str, Any]) -> list[Check]:
    found = []
    for text in report["texts"]:
        name = f"a text of {text['megabytes']:.0f} MB"
        found += [
            figure(f"{name}: chunks", text["chunks"]),
            figure(f"{name}: s", text["seconds"]),
            figure(f"{name}: the worker's peak memory without a model, MB", text["peak_rss_mb"]),
        ]
    return [
        *found,
        figure("a long text: MB of memory for each MB of text", report["mb_a_mb"]),
        at_most(f"a text of {_LONG} MB, extrapolated, with {_MODEL} MB of a model: MB", report["long_mb"], 1500),
    ]


def make_natural_text(datasets: Path, megabytes: float) -> str:
    """Returns the sentences of all question sets in the folder, shuffled, again and again with other digits."""
    sentences = [sentence for passage in _read_passages(datasets) for sentence in _SENTENCE_END.split(passage.strip())]
    random_ = random.Random(100)
    parts: list[str] = []
    size = 0
    while size < megabytes * 1_000_000:
        random_.shuffle(sentences)
        for start in range(0, len(sentences), _SENTENCES_OF_A_PARAGRAPH):
            paragraph = " ".join(sentences[start : start + _SENTENCES_OF_A_PARAGRAPH])
            parts.append(_DIGIT.sub(lambda _: str(random_.randint(1, 9)), paragraph) + "\n\n")
            size += len(parts[-1].encode())
            if size >= megabytes * 1_000_000:
                break
    return "".join(parts)


def _read_passages(datasets: Path) -> list[str]:
    files = sorted(datasets.glob("*/corpus.jsonl"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [json.loads(line)["text"] for line in lines]


async def _measure(text: str) -> dict[str, Any]:
    with embedding_endpoint(_DIMENSION):
        async with workshop() as shop:
            corpus = await corpora.create(shop.container, "long")
            job = await ingest(shop.container, corpus, [text_submission("long.txt", text)])
            [document] = (await shop.container.record.documents.list(corpus.id, limit=1)).data
            return {
                "megabytes": len(text.encode()) / 1e6,
                "chunks": document.chunks,
                "seconds": job_seconds(job),
                "peak_rss_mb": read_peak_memory_mb(shop.supervision.worker_pid()),
            }
