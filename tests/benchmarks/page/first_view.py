"""One view, opened with an empty cache: bytes over the wire, and seconds until it can be used."""

import statistics
from typing import Any

from playwright.sync_api import Browser, Page

__all__ = ["measure_first_view"]

_ROUNDS = 5
_QUIET_MS = 600
# The first thing that a reader came for: an entry of a list, a row, or the field of the view.
_CONTENT = "main :is(ul > li, ol > li, tbody > tr, textarea, input, canvas)"
_OBSERVE = f"""
window.shown = 0;
window.free = 0;
new PerformanceObserver(list => {{
    for (const task of list.getEntries()) window.free = Math.max(window.free, task.startTime + task.duration);
}}).observe({{type: 'longtask', buffered: true}});
new MutationObserver((_, observer) => {{
    if (document.querySelector({_CONTENT!r})) {{
        observer.disconnect();
        requestAnimationFrame(() => requestAnimationFrame(() => {{ window.shown = performance.now(); }}));
    }}
}}).observe(document, {{childList: true, subtree: true}});
"""


def measure_first_view(browser: Browser, origin: str, path: str) -> dict[str, Any]:
    """The median of five visits, each with a new profile. A busy thread, if it is longer than 50 ms, counts."""
    visits = [_visit(browser, origin, path) for _ in range(_ROUNDS)]
    return {
        "kilobytes": max(visit["bytes"] for visit in visits) / 1000,
        "requests": max(visit["requests"] for visit in visits),
        "interactive_seconds": statistics.median(visit["interactive_ms"] for visit in visits) / 1000,
    }


def _visit(browser: Browser, origin: str, path: str) -> dict[str, float]:
    context = browser.new_context(base_url=origin, viewport={"width": 1280, "height": 800})
    try:
        page = context.new_page()
        page.add_init_script(_OBSERVE)
        counted = _count_bytes(page)
        page.goto(path)
        page.wait_for_function("() => window.shown > 0")
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(_QUIET_MS)
        interactive: float = page.evaluate("() => Math.max(window.shown, window.free)")
        return {"bytes": sum(counted), "requests": len(counted), "interactive_ms": interactive}
    finally:
        context.close()


def _count_bytes(page: Page) -> list[float]:
    """Of each response as it came over the wire, headers included."""
    counted: list[float] = []
    protocol = page.context.new_cdp_session(page)
    protocol.send("Network.enable")
    protocol.on("Network.loadingFinished", lambda event: counted.append(event["encodedDataLength"]))
    return counted
