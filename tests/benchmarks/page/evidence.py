"""From a question to the first evidence on the page: the passage that is quoted, or the first hit of a search.

The demo corpus, embedded, with the built-in embedding model and without a language model. The same questions are asked
over HTTP, in turn with the page, to tell what the page adds.
"""

import json
import statistics
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tests.e2e.page.live import Live

__all__ = ["add_demo", "measure_evidence"]

_EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "musique-small"
_CORPUS = "encyclopedia"
_KEY_MS = 20
_WARM_UP = 2
_OBSERVE = """
window.began = 0;
window.shown = {};
const evidence = {passage: '.answer-source, .hits > li', quote: '.source-quote, .hits > li, .answer.abstained'};
addEventListener('keydown', event => { if (event.key === 'Enter') window.began = performance.now(); }, true);
new MutationObserver(() => {
    for (const [what, selector] of window.began ? Object.entries(evidence) : []) {
        if (what in window.shown || !document.querySelector(selector)) continue;
        window.shown[what] = null;
        requestAnimationFrame(() => requestAnimationFrame(() => { window.shown[what] = performance.now(); }));
    }
}).observe(document, {childList: true, subtree: true});
"""
"""From the key to the second frame after the element is there, which is when it has been drawn."""


def add_demo(live: Live) -> None:
    """Adds the corpus of `make demo`."""
    live.create(_CORPUS)
    rows = [json.loads(line) for line in (_EXAMPLE / "corpus.jsonl").read_text("utf-8").splitlines()]
    live.add(_CORPUS, [{"key": row["id"], "title": row["title"], "text": row["text"]} for row in rows])


def measure_evidence(browser: Browser, live: Live) -> dict[str, Any]:
    """Returns seconds, over the questions of the demo: from Enter to the first passage that is named and to the first
    quote, from Enter to the first hit of a search, and of the same questions over HTTP.
    """
    rows = (_EXAMPLE / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in rows]
    found: dict[str, list[float]] = {"asked: passage": [], "asked: quote": [], "searched: hit": [], "HTTP: answer": []}
    context = browser.new_context(base_url=live.origin, viewport={"width": 1280, "height": 800})
    try:
        context.add_init_script(_OBSERVE)
        page = context.new_page()
        for question in [*questions[:_WARM_UP], *questions]:
            asked = _enter(page, f"/c/{_CORPUS}", question)
            found["asked: passage"].append(asked["passage"])
            found["asked: quote"].append(asked["quote"])
            found["searched: hit"].append(_enter(page, f"/c/{_CORPUS}/search", question)["passage"])
            found["HTTP: answer"].append(_ask(live, question))
    finally:
        context.close()
    measured = {what: seconds[_WARM_UP:] for what, seconds in found.items()}
    return {what: {"median": statistics.median(some), "longest": max(some)} for what, some in measured.items()}


def _enter(page: Page, path: str, question: str) -> dict[str, float]:
    """Opens a view, types as a reader does, and returns how long it takes from Enter to what is shown."""
    page.goto(path)
    field = page.locator("main :is(textarea, input[type=search], input[name=q])").first
    field.press_sequentially(question, delay=_KEY_MS)
    field.press("Enter")
    page.wait_for_function("() => window.shown.passage && window.shown.quote")
    shown: dict[str, float] = page.evaluate("() => window.shown")
    began: float = page.evaluate("() => window.began")
    return {what: (at - began) / 1000 for what, at in shown.items()}


def _ask(live: Live, question: str) -> float:
    began = time.perf_counter()
    answer = live.client.post(f"/v1/corpora/{_CORPUS}/ask", json={"question": question})
    assert answer.status_code == 200, answer.text
    return time.perf_counter() - began
