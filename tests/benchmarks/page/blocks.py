"""How long the page's thread is busy at most while a reader types, drags and scrolls."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Locator, Page

from tests.benchmarks.page.material import CORPUS, DOCUMENTS

__all__ = ["Longest", "longest_task", "measure_blocks"]

_MAIN = "CrRendererMain"
_TASK = "RunTask"


@dataclass
class Longest:
    """Milliseconds, after the block of `longest_task`."""

    duration: float = 0.0
    processor: float = 0.0


@contextmanager
def longest_task(page: Page) -> Iterator[Longest]:
    browser = page.context.browser
    assert browser is not None
    longest = Longest()
    browser.start_tracing(page=page, categories=["toplevel", "disabled-by-default-devtools.timeline"])
    try:
        yield longest
    finally:
        traced = browser.stop_tracing()
    tasks = _tasks(json.loads(traced)["traceEvents"])
    longest.duration = max((one["dur"] for one in tasks), default=0) / 1000
    longest.processor = max((one["tdur"] for one in tasks), default=0) / 1000


def _tasks(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    named = [one for one in events if one.get("name") == "thread_name" and one["args"]["name"] == _MAIN]
    threads = {(one["pid"], one["tid"]) for one in named}
    found = [one for one in events if one.get("ph") == "X" and one["name"] == _TASK]
    return [one for one in found if (one["pid"], one["tid"]) in threads and "tdur" in one]


_QUESTION = "Which of the persons that met Ada Lovelace knew somebody who measured the rain of the same year?"
_NAME = "Baba Muson Bade Moson"
_KEY_MS = 20
_DRAGS = 12
_STEPS = 25
_SETTLE_MS = 5000
_SCROLL_SECONDS = 120


def measure_blocks(browser: Browser, origin: str, hub: str) -> dict[str, Any]:
    context = browser.new_context(base_url=origin, viewport={"width": 1280, "height": 800})
    context.set_default_timeout(60_000)
    page = context.new_page()
    try:
        page.goto(f"/c/{CORPUS}")
        found = {"typing a question": _type(page, page.get_by_role("textbox", name="Question"), _QUESTION)}
        found["opening the graph"], nodes, edges = _open_graph(page, hub)
        found["dragging in the graph"] = _drag(page)
        found["zooming in the graph"] = _zoom(page)
        found["typing beside the graph"] = _type(page, page.get_by_role("combobox", name="Find an entity"), _NAME)
        found["scrolling 10,000 documents"], elements = _scroll(page)
    finally:
        context.close()
    return {
        "processor_ms": {what: longest.processor for what, longest in found.items()},
        "duration_ms": {what: longest.duration for what, longest in found.items()},
        "nodes": nodes,
        "edges": edges,
        "elements": elements,
    }


def _type(page: Page, field: Locator, text: str) -> Longest:
    field.click()
    with longest_task(page) as longest:
        field.press_sequentially(text, delay=_KEY_MS)
    return longest


def _open_graph(page: Page, hub: str) -> tuple[Longest, int, int]:
    """Until the drawing rests. Returns also how many nodes and edges the view says that it has."""
    with longest_task(page) as longest:
        page.goto(f"/c/{CORPUS}/graph?entity={hub}&depth=3&limit=1000")
        page.locator("canvas").wait_for()
        page.wait_for_timeout(_SETTLE_MS)
    told = page.get_by_text(re.compile("entities, .* passages, .* edges")).inner_text()
    entities, passages, edges = (int(one.replace(",", "")) for one in re.findall(r"[\d,]*\d", told)[:3])
    return longest, entities + passages, edges


def _drag(page: Page) -> Longest:
    """First in the middle, where a node is, then wherever the pointer falls."""
    box = page.locator("canvas").bounding_box()
    assert box is not None
    with longest_task(page) as longest:
        for number in range(_DRAGS):
            x = box["x"] + box["width"] * (0.5 if number == 0 else 0.2 + 0.05 * number)
            y = box["y"] + box["height"] * (0.5 if number == 0 else 0.3 + 0.03 * number)
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + 120, y - 80, steps=_STEPS)
            page.mouse.up()
    return longest


def _zoom(page: Page) -> Longest:
    with longest_task(page) as longest:
        for step in range(_STEPS):
            page.mouse.wheel(0, -120 if step % 5 < 3 else 120)
            page.wait_for_timeout(30)
    return longest


def _scroll(page: Page) -> tuple[Longest, int]:
    """To the end of the list, which is loaded by pages. Returns also the number of elements on the page then."""
    page.goto(f"/c/{CORPUS}/documents")
    rows = page.get_by_role("list", name="Documents").get_by_role("listitem")
    rows.first.wait_for()
    page.mouse.move(640, 600)
    deadline = time.monotonic() + _SCROLL_SECONDS
    with longest_task(page) as longest:
        while rows.last.get_attribute("aria-posinset") != str(DOCUMENTS):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the list of documents did not come to its end: {rows.last.inner_text()}")
            page.mouse.wheel(0, 20_000)
            page.wait_for_timeout(50)
    elements: int = page.evaluate("() => document.querySelectorAll('*').length")
    return longest, elements
