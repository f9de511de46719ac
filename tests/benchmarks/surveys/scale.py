"""Surveys of many documents: `python -m tests.benchmarks.surveys.scale [--documents 10000 100000] [--keep DIR]`.

Ingests corpora of made documents, without vectors and without a graph, and asks each in a process of its own, which has
answered nothing before. Prints for each question how many documents could match, how many words left undecided, the
count and the right count, the seconds to the first rows and to the answer, the processor's seconds, and the memory.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.container import Container
from app.services import corpora
from core.corpora import NO_EMBEDDING
from core.settings import read_settings
from retrieval import warm
from tests.benchmarks.documents.jobs import ingest, job_seconds, text_submission
from tests.benchmarks.million.processes import memory_mb
from tests.benchmarks.surveys.asking import ask_survey, read_count, read_coverage, read_undecided
from tests.benchmarks.surveys.made import QUESTIONS, Made, make_documents
from tests.benchmarks.workshop import Workshop, workshop

_REASONER = "survey:documents=200000,seconds=600,calls=0"
_FIRST_SECONDS, _WHOLE_SECONDS = 2.0, 60.0
_SAMPLE_SECONDS = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=len(QUESTIONS), help="asks only the first questions")
    parser.add_argument("--keep", type=Path, help="a folder that keeps the corpora for the next measurement")
    parser.add_argument("--ask", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ask:
        asyncio.run(_ask_all(Path(given.ask[0]), *map(int, given.ask[1:])))
    else:
        asyncio.run(_measure(given.documents, given.keep, given.questions))


async def _measure(sizes: list[int], keep: Path | None, questions: int) -> None:
    async with workshop(keep) as shop:
        for size in sizes:
            await _ingest(shop, size)
        for size in sizes:
            command = [
                sys.executable,
                "-m",
                "tests.benchmarks.surveys.scale",
                "--ask",
                shop.settings.data_dir,
                size,
                questions,
            ]
            await asyncio.to_thread(subprocess.run, list(map(str, command)), check=True)


async def _ingest(shop: Workshop, size: int) -> None:
    """Documents that a kept folder has already are submitted again and stay as they are."""
    corpus = await corpora.ensure(shop.container, _name(size), extractor="none", embedding=NO_EMBEDDING)
    documents = (text_submission(made.key, made.text) for made in make_documents(size))
    job = await ingest(shop.container, corpus, documents)
    print(f"{size:,} documents: {dict(job.counts)} in {job_seconds(job):.0f} s", flush=True)


def _name(size: int) -> str:
    return f"scale-{size}"


async def _ask_all(folder: Path, size: int, questions: int) -> None:
    container = Container(read_settings(data_dir=folder))
    warm()
    corpus = await container.record.corpora.get(_name(size))
    documents = list(make_documents(size))
    right = [_count_right(documents, number) for number in range(questions)]
    del documents
    for again in ("first", "again"):
        for (question, _), gold in zip(QUESTIONS[:questions], right, strict=True):
            with _sampled_memory() as memory:
                answer, trace = await ask_survey(container, corpus, question, _REASONER)
            read, could = read_coverage(answer)
            row: dict[str, Any] = {
                "documents": size,
                "round": again,
                "question": question,
                "could_match": could,
                "read": read,
                "counted": read_count(answer),
                "right": gold,
                "undecided": read_undecided(answer),
                "first_seconds": round(trace.first_rows, 2),
                "seconds": round(trace.timing["total"], 2),
                "first_processor_seconds": round(trace.first_rows_processor, 2),
                "processor_seconds": round(time.process_time() - trace.began_processor, 2),
                "own_mb": round(memory["own, changed"]),
                "resident_mb": round(memory["resident"]),
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
                "reached": trace.first_rows <= _FIRST_SECONDS and trace.timing["total"] <= _WHOLE_SECONDS,
            }
            print(json.dumps(row), flush=True)
    await container.close()


def _count_right(documents: list[Made], number: int) -> int:
    """Returns how many different documents a question is true of."""
    _, holds = QUESTIONS[number]
    return len({made.copy_of or made.key for made in documents if holds(made)})


@contextmanager
def _sampled_memory() -> Iterator[dict[str, float]]:
    """Yields a mapping that has, at the end, the most of each kind of memory that this process had meanwhile, in MB."""
    most: dict[str, float] = {}
    ended = threading.Event()

    def sample() -> None:
        while True:
            for kind, size in memory_mb(os.getpid()).items():
                most[kind] = max(size, most.get(kind, 0.0))
            if ended.wait(_SAMPLE_SECONDS):
                return

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        yield most
    finally:
        ended.set()
        sampler.join()


if __name__ == "__main__":
    main()
