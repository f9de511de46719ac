"""The web page in Chromium over loopback: what the first view transfers and takes, and how long the page is blocked.

A corpus of 10,000 documents, and in its graph a neighbourhood of 1,000 nodes and more than 3,000 edges. Then, on the
corpus of the demo, how long it takes from a question to its evidence.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.benchmarks.page.blocks import measure_blocks
from tests.benchmarks.page.evidence import add_demo, measure_evidence
from tests.benchmarks.page.first_view import measure_first_view
from tests.benchmarks.page.material import CORPUS, add_material, quick_settings
from tests.e2e.browser import FLAGS
from tests.e2e.page.live import Live, serve

__all__ = ["checks", "measure"]

_VIEWS = {
    "corpora": "/",
    "ask": f"/c/{CORPUS}",
    "search": f"/c/{CORPUS}/search",
    "documents": f"/c/{CORPUS}/documents",
    "graph": f"/c/{CORPUS}/graph",
    "questions": f"/c/{CORPUS}/questions",
    "jobs": f"/c/{CORPUS}/jobs",
}
_KILOBYTES = 300
_SECONDS = 0.5
_SLOWEST_SECONDS = 1.0
_EVIDENCE_SECONDS = 0.3
_BLOCK_MS = 100
_NODES = 1000
_EDGES = 3000


def measure() -> dict[str, Any]:
    with (
        tempfile.TemporaryDirectory(prefix="hopweave-page-") as folder,
        quick_settings() as settings,
        serve(Path(folder), settings) as live,
    ):
        report = measure_on(live, add_material(live))
    return {**report, "evidence": measure_evidence_alone()}


def measure_evidence_alone() -> dict[str, Any]:
    """With the built-in embedding model, and without a language model."""
    with tempfile.TemporaryDirectory(prefix="hopweave-page-") as folder, serve(Path(folder), {}) as live:
        add_demo(live)
        with _chromium() as browser:
            return measure_evidence(browser, live)


def measure_on(live: Live, hub: str) -> dict[str, Any]:
    with _chromium() as browser:
        return {
            "chromium": browser.version,
            "first": {name: measure_first_view(browser, live.origin, path) for name, path in _VIEWS.items()},
            "blocks": measure_blocks(browser, live.origin, hub),
        }


@contextmanager
def _chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
        yield browser
        browser.close()


def checks(report: dict[str, Any]) -> list[Check]:
    """The first view is the list of corpora. A reader may come to any other first: the largest and slowest are judged,
    too. A block is judged by its processor time, and told by its duration, which also other work lengthens.
    """
    first, blocks = report["first"], report["blocks"]
    heaviest = max(first, key=lambda name: float(first[name]["kilobytes"]))
    slowest = max(first, key=lambda name: float(first[name]["interactive_seconds"]))
    return [
        at_most("page: first view, kB transferred", first["corpora"]["kilobytes"], _KILOBYTES),
        at_most("page: first view, s until interactive", first["corpora"]["interactive_seconds"], _SECONDS),
        at_most(f"page: largest of all views ({heaviest}), kB", first[heaviest]["kilobytes"], _KILOBYTES),
        at_most(f"page: slowest of all views ({slowest}), s", first[slowest]["interactive_seconds"], _SLOWEST_SECONDS),
        *(at_most(f"page: longest task, {what}, ms", ms, _BLOCK_MS) for what, ms in blocks["processor_ms"].items()),
        figure("page: longest duration of a task, ms", max(blocks["duration_ms"].values())),
        at_least("page: nodes drawn in the graph", blocks["nodes"], _NODES),
        at_least("page: edges drawn in the graph", blocks["edges"], _EDGES),
        *_check_evidence(report["evidence"]),
        figure("page: elements of the list of 10,000 documents at its end", blocks["elements"]),
    ]


def _check_evidence(evidence: dict[str, dict[str, float]]) -> list[Check]:
    """The times are judged by their medians; the same questions over HTTP tell what the page adds."""
    return [
        at_most("page: from Enter to the first passage, s", evidence["asked: passage"]["median"], _EVIDENCE_SECONDS),
        at_most(
            "page: from Enter to the first hit of a search, s", evidence["searched: hit"]["median"], _EVIDENCE_SECONDS
        ),
        figure("page: from Enter to the first quote, s", evidence["asked: quote"]["median"]),
        figure("page: the answer over HTTP, s", evidence["HTTP: answer"]["median"]),
    ]
