"""How long the page's thread is busy at most while a reader types, drags and scrolls."""

from typing import Any

from playwright.sync_api import Browser, Page

from tests.benchmarks.page.material import CORPUS
from tests.e2e.page.watch import longest_block, observe_blocks

__all__ = ["measure_blocks"]

_QUESTION = "Which of the persons that met Ada Lovelace knew somebody who measured the rain of the same year?"
_KEY_MS = 20
_DRAGS = 12
_STEPS = 25
_SETTLE_MS = 3000


def measure_blocks(browser: Browser, origin: str, hub: str) -> dict[str, Any]:
    context = browser.new_context(base_url=origin, viewport={"width": 1280, "height": 800})
    context.set_default_timeout(60_000)
    observe_blocks(context)
    page = context.new_page()
    try:
        ms = {"typing a question": _type_question(page)}
        nodes, edges = _open_graph(page, hub, ms)
        ms["dragging in the graph"] = _drag(page)
        ms["zooming in the graph"] = _zoom(page)
        ms["typing beside the graph"] = _type_name(page)
        elements = _scroll(page, ms)
    finally:
        context.close()
    return {"ms": ms, "nodes": nodes, "edges": edges, "elements": elements}


def _type_question(page: Page) -> float:
    page.goto(f"/c/{CORPUS}")
    field = page.get_by_role("textbox", name="Question")
    field.click()
    with longest_block(page) as block:
        field.press_sequentially(_QUESTION, delay=_KEY_MS)
    return block.milliseconds


def _open_graph(page: Page, hub: str, ms: dict[str, float]) -> tuple[int, int]:
    """Returns how many nodes and edges the view says that it has drawn."""
    page.goto(f"/c/{CORPUS}")
    with longest_block(page) as block:
        page.goto(f"/c/{CORPUS}/graph?entity={hub}&depth=3")
        page.locator("canvas").wait_for()
        page.wait_for_timeout(_SETTLE_MS)
    ms["opening the graph"] = block.milliseconds
    return 0, 0


def _drag(page: Page) -> float:
    """First in the middle, where a node is, then wherever the pointer falls."""
    box = page.locator("canvas").bounding_box()
    assert box is not None
    with longest_block(page) as block:
        for number in range(_DRAGS):
            x = box["x"] + box["width"] * (0.5 if number == 0 else 0.2 + 0.05 * number)
            y = box["y"] + box["height"] * (0.5 if number == 0 else 0.3 + 0.03 * number)
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + 120, y - 80, steps=_STEPS)
            page.mouse.up()
    return block.milliseconds


def _zoom(page: Page) -> float:
    with longest_block(page) as block:
        for step in range(_STEPS):
            page.mouse.wheel(0, -120 if step % 5 < 3 else 120)
            page.wait_for_timeout(30)
    return block.milliseconds


def _type_name(page: Page) -> float:
    field = page.get_by_role("combobox", name="Entity")
    field.click()
    with longest_block(page) as block:
        field.press_sequentially("Baba Muson Bade Moson", delay=_KEY_MS)
    return block.milliseconds


def _scroll(page: Page, ms: dict[str, float]) -> int:
    """To the end of the list. Returns the number of elements on the page then."""
    page.goto(f"/c/{CORPUS}/documents")
    return 0
