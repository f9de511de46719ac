"""What pages are watched for: errors in the console, violations of the policy, other hosts, long blocks, axe-core."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Locator, Page, Request

__all__ = ["Block", "Watch", "assert_accessible", "longest_block"]

_GRAVE = ("serious", "critical")
_OBSERVE = """
window.blocks = [];
new PerformanceObserver(list => {
    for (const entry of list.getEntries()) window.blocks.push(entry.duration);
}).observe({type: 'longtask', buffered: true});
"""
_RUN_AXE = "async options => (await axe.run(document, {resultTypes: ['violations'], ...options})).violations"
_OF_COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""The rules of axe-core that look at colours. All others find the same in light and in dark, and run once."""
# What is executed, or would be when it is clicked, and what is loaded from elsewhere.
_FOREIGN = """
() => [...document.querySelectorAll('script, iframe, object, embed, a, img, form, style, base')].filter(one => {
    const address = one.href?.baseVal ?? one.href ?? one.src ?? one.action ?? '';
    if (['IFRAME', 'OBJECT', 'EMBED', 'STYLE', 'BASE'].includes(one.tagName)) return true;
    if (one.tagName === 'SCRIPT') return !address.startsWith(location.origin + '/page/');
    if (one.tagName === 'IMG') return !address.startsWith(location.origin + '/') && !address.startsWith('blob:');
    return /^(javascript|data|vbscript):/i.test(address);
}).map(one => one.outerHTML.slice(0, 200))
"""


class Watch:
    """Follows all pages of browser contexts. `check` fails with all that was found, unless a pattern allows it.

    A pattern of `allow` is searched in what would be reported, such as `status of 403 .*/v1/corpora` for a refused
    request, which browsers tell as an error. `addresses` are all that was requested.
    """

    def __init__(self) -> None:
        self._found: list[str] = []
        self._allowed: list[re.Pattern[str]] = []
        self.addresses: list[str] = []

    def follow(self, context: BrowserContext, origin: str) -> None:
        def hear(message: ConsoleMessage) -> None:
            if message.type in {"error", "warning"}:
                self._found.append(f"console: {message.text} ({message.location.get('url', '')})")

        def see(request: Request) -> None:
            self.addresses.append(request.url)
            if not request.url.startswith((f"{origin}/", "data:", "blob:")):
                self._found.append(f"another host: {request.url}")

        def refuse(dialog: Dialog) -> None:
            self._found.append(f"a dialog: {dialog.message}")
            dialog.dismiss()

        context.add_init_script(_OBSERVE)
        context.on("console", hear)
        context.on("weberror", lambda error: self._found.append(f"error: {error.error}"))
        context.on("request", see)
        context.on("dialog", refuse)

    def allow(self, *patterns: str) -> None:
        self._allowed += [re.compile(one) for one in patterns]

    def check(self) -> None:
        reported = [one for one in self._found if not any(pattern.search(one) for pattern in self._allowed)]
        assert not reported, "\n".join(reported)

    def check_pages(self, context: BrowserContext) -> None:
        """Nothing of a document or an answer was executed, or became an element that may be."""
        for page in context.pages:
            if page.url.startswith("http"):
                assert not page.evaluate("() => 'owned' in window"), f"{page.url}: a text was executed"
                assert page.evaluate(_FOREIGN) == [], f"{page.url}: a text became an element"


@dataclass
class Block:
    """`milliseconds` of the longest time for which the page's thread was busy, after the block of `longest_block`.

    Browsers tell of 50 ms and more; 0 if there was none.
    """

    milliseconds: float = 0.0


@contextmanager
def longest_block(page: Page) -> Iterator[Block]:
    block = Block()
    page.evaluate("() => { window.blocks.length = 0 }")
    yield block
    page.wait_for_timeout(200)  # entries are told after the tasks
    block.milliseconds = page.evaluate("() => Math.max(0, ...window.blocks)")


def assert_accessible(shown: Page | Locator, name: str = "") -> None:
    """Asserts that axe-core finds nothing serious or critical on a page as it is now, whole also for a part of it, in
    light and in dark, and that no part of the page is wider than its window.
    """
    page = shown.page if isinstance(shown, Locator) else shown
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    told = []
    for colours, options in (("light", {}), ("dark", _OF_COLOURS)):
        page.emulate_media(color_scheme=colours)
        found: list[dict[str, Any]] = page.evaluate(_RUN_AXE, options)
        grave = [one for one in found if one["impact"] in _GRAVE]
        told += [f"{colours}: {one['impact']} {one['id']}: {_describe(node)}" for one in grave for node in one["nodes"]]
    assert not told, f"{name or page.url}\n" + "\n".join(told)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name or page.url} is too wide"


def _describe(node: dict[str, Any]) -> str:
    reasons = [check["message"] for check in [*node["any"], *node["all"], *node["none"]]]
    return f"{node['html'][:300]} {'; '.join(reasons)}"
