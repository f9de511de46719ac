"""Neo4j Browser in Chromium, used as its users do: files are dropped on it, and saved queries are clicked."""

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, Route, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from tests.servers.addresses import Neo4jAddress

__all__ = ["FLAGS", "WINDOW", "Browser"]

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WINDOW = {"width": 1280, "height": 800}
_PATIENCE_MS = 60_000  # two cores may be shared by many
_FOLDER = "guide"

_DROP = """
([name, base64]) => {
    const bytes = Uint8Array.from(atob(base64), letter => letter.charCodeAt(0));
    const carried = new DataTransfer();
    carried.items.add(new File([bytes], name));
    const options = {bubbles: true, cancelable: true, dataTransfer: carried};
    document.querySelector('.filedrop').dispatchEvent(new DragEvent('drop', options));
}
"""
# Nodes swing for a while after they are drawn.
_AT_REST = """
() => {
    const places = [...document.querySelectorAll('g.node')].map(node => node.getAttribute('transform')).join();
    const rest = places !== '' && places === window.placesBefore;
    window.placesBefore = places;
    return rest;
}
"""
# How many times larger the graph might be drawn.
_ROOM = """
() => {
    const all = [...document.querySelectorAll('g.node')].map(node => node.getBoundingClientRect());
    const whole = document.querySelector('g.node').ownerSVGElement.getBoundingClientRect();
    const middle = [whole.left + whole.width / 2, whole.top + whole.height / 2];
    const reach = (low, high, centre) => Math.max(
        ...all.map(one => Math.max(centre - one[low], one[high] - centre)));
    return Math.min(
        whole.width / 2 / reach('left', 'right', middle[0]), whole.height / 2 / reach('top', 'bottom', middle[1]));
}
"""
_ENLARGED = f"before => ({_ROOM})() < before || document.querySelector('[aria-label=zoom-in]').disabled"
_STEP = 1.35
_CLEARINGS = 6
_DRAWINGS = 3
_OPENINGS = 3
# The drawer is made anew when it has slid in, and then forgets which folders are open.
_EXPANDED = """
folder => {
    const there = document.querySelector('[data-testid=savedScriptListItem]');
    const rest = there !== null && there === window.queryBefore;
    window.queryBefore = there;
    if (there === null) document.querySelector(`[data-testid=${folder}]`)?.click();
    return rest;
}
"""


class Browser:
    """One page, connected to a server. It reaches nothing beyond this machine; `beyond` are the hosts that it asked."""

    def __init__(self, page: Page, server: Neo4jAddress) -> None:
        self._page = page
        self.beyond: set[str] = set()
        page.set_default_timeout(_PATIENCE_MS)
        expect.set_options(timeout=_PATIENCE_MS)
        page.route("**/*", self._only_loopback)
        page.goto(f"{server.browser}?dbms={server.uri.replace('://', f'://{server.user}@')}&db=neo4j")
        page.get_by_test_id("username").fill(server.user)
        page.get_by_test_id("password").fill(server.password)
        page.get_by_test_id("connect").click()
        expect(page.get_by_test_id("connect")).to_have_count(0)

    def drop(self, file: Path) -> None:
        """Drop a file on the window."""
        self._page.evaluate(_DROP, [file.name, base64.b64encode(file.read_bytes()).decode()])

    def type(self, command: str) -> None:
        """Into the editor, and run it."""
        self._page.locator("#monaco-main-editor").click()
        self._page.keyboard.insert_text(command)
        self._page.keyboard.press("Control+Enter")

    @property
    def newest(self) -> Locator:
        """The newest answer on the page."""
        return self._page.get_by_test_id("frame").first

    def show_saved(self) -> Locator:
        """Open the drawer of saved queries, unless a test that failed left it open; returns their names."""
        if not self._page.get_by_test_id(re.compile(f"^(expandFolder-{_FOLDER}|savedScriptListItem)$")).count():
            self._page.get_by_test_id("navigationFavorites").click()
        self._open_folder()
        return self._page.get_by_test_id(re.compile("^scriptTitle-"))

    def _open_folder(self) -> None:
        self._page.wait_for_function(_EXPANDED, arg=f"expandFolder-{_FOLDER}", polling=500)

    def hide_saved(self) -> None:
        self._page.get_by_test_id("navigationFavorites").click()
        expect(self._page.get_by_test_id("savedScriptListItem")).to_have_count(0)

    @contextmanager
    def drawn(self, name: str) -> Iterator[None]:
        """Click a saved query; its graph fills the window, at rest. Under load the page can lose the click."""
        for attempt in range(1, _DRAWINGS + 1):
            self._run_saved(name)
            try:
                expect(self.newest.locator("g.node")).not_to_have_count(0, timeout=_PATIENCE_MS / _DRAWINGS * attempt)
            except AssertionError:
                if attempt == _DRAWINGS:
                    raise
            else:
                break
        self.newest.get_by_title("Fullscreen", exact=True).click()
        try:
            self._settle()
            yield
        finally:
            self._page.get_by_title("Close fullscreen").click()  # an answer that came late may be above it

    def _run_saved(self, name: str) -> None:
        self._clear()
        self.show_saved()
        title = self._page.get_by_test_id(f"scriptTitle-{name}")
        query = self._page.get_by_test_id("savedScriptListItem").filter(has=title)
        for attempt in range(1, _OPENINGS + 1):
            try:
                query.hover(timeout=_PATIENCE_MS / _OPENINGS)
                query.get_by_test_id("savedScriptsButton-Run").click(timeout=_PATIENCE_MS / _OPENINGS)
            except PlaywrightTimeoutError:  # under load the drawer is made anew later than expected
                if attempt == _OPENINGS:
                    raise
                self._open_folder()
            else:
                break
        self.hide_saved()

    def _only_loopback(self, route: Route) -> None:
        if route.request.url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            route.continue_()
        else:
            self.beyond.add(urlsplit(route.request.url).netloc)
            route.abort()

    def _clear(self) -> None:
        """Close all answers. Under load the page can lose what is typed, or show an answer only after this command."""
        frames = self._page.get_by_test_id("frame")
        for _ in range(_CLEARINGS):
            self.type(":clear")
            try:
                expect(frames).to_have_count(0, timeout=_PATIENCE_MS / _CLEARINGS)
            except AssertionError:
                continue
            return
        expect(frames).to_have_count(0)

    def _settle(self) -> None:
        self._page.get_by_title("Collapse the node properties display").click()
        self._page.wait_for_function(_AT_REST, polling=700)
        self.newest.get_by_label("zoom-to-fit").click()
        self._enlarge()

    def _enlarge(self) -> None:
        """What fits leaves much room around it."""
        larger = self.newest.get_by_label("zoom-in")
        while (before := self._page.evaluate(_ROOM)) > _STEP and larger.is_enabled():
            larger.click()
            self._page.wait_for_function(_ENLARGED, arg=before)

    def captions(self, of: str) -> list[str]:
        """What stands on the nodes, or the relationships, that are drawn."""
        drawn = self.newest.locator(f"g.{of}").all()
        return [" ".join("".join(one.locator("text").all_text_contents()).split()) for one in drawn]

    def picture(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._page.screenshot(path=file)
