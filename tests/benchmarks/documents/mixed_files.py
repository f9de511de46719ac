"""500 files of all kinds, some of them broken, through the worker: what is indexed, what is named, and both cores."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from app.services import corpora, ingestion
from core.documents import OnConflict, Submission
from core.jobs import Job
from indexer import Rejection, read_paths
from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.benchmarks.documents.jobs import job_seconds, wait_for_end
from tests.benchmarks.documents.prose import make_sentences, make_text
from tests.benchmarks.workshop import workshop
from tests.documents import make_docx, make_epub, make_pdf, make_pptx, make_scan, make_xlsx

__all__ = ["checks", "measure", "write_files"]

_FILES = 500
_BROKEN_EVERY = 10
_SENTENCES = 12
_LISTED = 1_000

Make = Callable[[str], bytes]

_GOOD: dict[str, Make] = {
    ".txt": lambda text: text.encode(),
    ".latin.txt": lambda text: ("Die Brücke über den Fluß. " * 3 + text).encode("latin-1"),
    ".wide.txt": lambda text: text.encode("utf-16"),
    ".md": lambda text: f"---\nyear: 1843\n---\n# Report\n\n{text}".encode(),
    ".rst": lambda text: f"Report\n======\n\n{text}".encode(),
    ".html": lambda text: f"<html><body><h1>Report</h1><p>{text}</p></body></html>".encode(),
    ".csv": lambda text: "\n".join(["number,text", *(f'{n},"{line}"' for n, line in _lines(text))]).encode(),
    ".json": lambda text: json.dumps({"title": "Report", "text": text}).encode(),
    ".eml": lambda text: f"From: ada@example.org\nSubject: Report\n\n{text}".encode(),
    ".py": lambda text: f'def report():\n    """{text}"""\n'.encode(),
    ".docx": lambda text: make_docx([("h1", "Report"), ("p", text)]),
    ".pptx": lambda text: make_pptx([("Report", [text], "")]),
    ".xlsx": lambda text: make_xlsx({"Report": [["Number", "Text"], *([n, line] for n, line in _lines(text))]}),
    ".epub": lambda text: make_epub({"one.xhtml": f"<h1>Report</h1><p>{text}</p>"}),
    ".pdf": lambda text: make_pdf([("h1", "Report"), ("p", text)]),
}
_BROKEN: dict[str, tuple[str, Make]] = {
    "cut.docx": ("damaged", lambda text: make_docx([("p", text)])[:-100]),
    "renamed.pdf": ("no PDF file", lambda text: text.encode()),
    "encrypted.pdf": ("encrypted", lambda text: make_pdf([("p", text)], is_encrypted=True)),
    "scan.pdf": ("OCR", lambda _: make_scan(1)),
    "binary.txt": ("not text", lambda text: b"%PDF-1.7\n" + text.encode()),
}
"""By the end of the name: a part of the reason, and what makes the file."""


async def measure(files: int = _FILES) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        broken = write_files(folder, files)
        async with workshop() as shop:
            container = shop.container
            corpus = await corpora.create(container, "mixed")
            shop.supervision.wait_ready(60.0)
            worker = shop.supervision.worker_pid()
            found = list(read_paths([folder], with_given=False))
            before = _cpu_seconds(worker)
            job: Job | None = None
            submissions = [one for one in found if isinstance(one, Submission)]
            async for part in ingestion.submit_all(container, corpus, submissions, OnConflict.REPLACE):
                job = part.job
            if job is None:
                raise ValueError("no file can be submitted")
            job = await wait_for_end(container, job)
            cpu = _cpu_seconds(worker) - before
            page = await container.record.documents.list(corpus.id, limit=_LISTED)
            reasons = {one.key: one.reason or "" for one in page.data if one.state.value == "failed"}
            reasons |= {one.key or one.source: one.reason for one in found if isinstance(one, Rejection)}
            return {
                "files": files,
                "indexed": job.counts.get("indexed", 0),
                "broken": len(broken),
                "named": sum(reason in reasons.get(key, "") for key, reason in broken.items()),
                "unexpected": {key: reason for key, reason in reasons.items() if key not in broken},
                "seconds": job_seconds(job),
                "cores": cpu / job_seconds(job),
            }


def checks(report: dict[str, Any]) -> list[Check]:
    good = report["files"] - report["broken"]
    return [
        at_least(f"{report['files']} mixed files: share of the good ones indexed", report["indexed"] / good, 1),
        at_least(
            "mixed files: share of the broken ones named with their reason", report["named"] / report["broken"], 1
        ),
        at_most("mixed files: good ones that failed", len(report["unexpected"]), 0),
        figure("mixed files: files/s", report["files"] / report["seconds"]),
        at_least("mixed files: cores in use by the worker and its parser process", report["cores"], 1),
    ]


def write_files(folder: Path, count: int) -> dict[str, str]:
    """Writes files in turn of each kind. Returns the broken ones, by key, with a part of the reason."""
    sentences, broken = make_sentences(7), {}
    good, bad = _cycle(_GOOD), _cycle(_BROKEN)
    for number in range(count):
        text = make_text(list(islice(sentences, _SENTENCES))).strip()
        if number % _BROKEN_EVERY == _BROKEN_EVERY - 1:
            end = next(bad)
            reason, make = _BROKEN[end]
            broken[f"{number:04d}-{end}"] = reason
            (folder / f"{number:04d}-{end}").write_bytes(make(text))
        else:
            suffix = next(good)
            (folder / f"{number:04d}{suffix}").write_bytes(_GOOD[suffix](text))
    return broken


def _cycle(kinds: dict[str, Any]) -> Iterator[str]:
    while True:
        yield from kinds


def _lines(text: str) -> Iterator[tuple[int, str]]:
    return enumerate(line for line in text.splitlines() if line)


def _cpu_seconds(pid: int | None) -> float:
    """Returns the processor time of a process, and of its children, ended ones too."""
    ticks = 0
    for one in [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split())]:
        fields = Path(f"/proc/{one}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")
