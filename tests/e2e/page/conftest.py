"""Fixtures of the page's tests. `open_page` is all that most tests need; `live` is the server behind it.

Servers are started once and shared: a test that changes what others may see takes `own_corpus`, or, for settings, a
server of its own (`serve`). All tests in this folder are marked `servers`: they need Chromium, which
`python -m tests.servers install chromium` installs.
"""

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.e2e.browser import FLAGS
from tests.e2e.page import library
from tests.e2e.page.live import Live, serve, twins
from tests.e2e.page.watch import Watch
from tests.servers.install import require
from tests.servers.server import NotStarted

WIDTHS = (360, 1280)
LIBRARY = "library"
KEY = "a-key-of-the-tests-0123456789"
PATIENCE_MS = 60_000  # two cores may be shared by many
_HERE = Path(__file__).parent
_ONLY_LOOPBACK = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
_NUMBERS = itertools.count(1)

OpenPage = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.servers)


@pytest.fixture(scope="package")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server without keys. Its corpus `library` has documents of all kinds, and is not changed by tests."""
    reader = library.make_reader()
    with twins(reader) as settings, serve(tmp_path_factory.mktemp("live"), settings, reader) as server:
        server.create(LIBRARY)
        server.ids = server.add(LIBRARY, library.documents(), library.files())
        server.ids |= server.add(LIBRARY, library.hostile_documents())
        yield server


@pytest.fixture(scope="package")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server that needs a key, with a small corpus `library`."""
    reader = library.make_reader()
    with twins(reader) as settings:
        keyed = {**settings, "HOPWEAVE_API__KEYS": f'["{KEY}"]'}
        with serve(tmp_path_factory.mktemp("locked"), keyed, reader, KEY) as server:
            server.create(LIBRARY)
            server.ids = server.add(LIBRARY, library.documents())
            yield server


@pytest.fixture
def own_corpus(live: Live) -> Iterator[str]:
    """An empty corpus of the test's own on `live`."""
    name = f"own-{next(_NUMBERS)}"
    live.create(name)
    yield name
    live.client.delete(f"/v1/corpora/{name}")


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Resolves no name: the page can reach this machine alone."""
    try:
        require("chromium")
    except NotStarted as problem:
        if os.environ.get("CI") == "true":
            pytest.fail(str(problem), pytrace=False)
        pytest.skip(str(problem))
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE_MS)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=[*FLAGS, _ONLY_LOOPBACK])
        yield browser
        browser.close()


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Of all pages that the test opens; checked at its end. `watch.allow(PATTERN)` for what the test provokes."""
    watch = Watch()
    yield watch
    watch.check()


@pytest.fixture
def open_page(request: pytest.FixtureRequest, chromium: Browser, watch: Watch) -> Iterator[OpenPage]:
    """Returns a function that opens an address in a browser of its own: `open_page("/c/library", width=360)`.

    Options: `server` (default `live`), `width`, `height`, `colours` (`light` or `dark`), and those of Playwright's
    `new_context`.
    """
    if "own_corpus" in request.fixturenames:
        request.getfixturevalue("own_corpus")  # deleted after the pages are closed, which would miss it
    contexts: list[BrowserContext] = []

    def open(
        path: str = "/",
        *,
        server: Live | None = None,
        width: int = 1280,
        height: int = 800,
        colours: Literal["light", "dark"] = "light",
        **options: Any,
    ) -> Page:
        served = server or request.getfixturevalue("live")
        viewport: Any = {"width": width, "height": height}
        context = chromium.new_context(
            base_url=served.origin, viewport=viewport, color_scheme=colours, accept_downloads=True, **options
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        watch.follow(context, served.origin)
        page = context.new_page()
        page.goto(path)
        return page

    yield open
    try:
        for context in contexts:
            watch.check_pages(context)
    finally:
        for context in contexts:
            context.close()


def open_part(page: Page, name: str) -> None:
    """Opens what is closed below an answer."""
    page.locator("summary").get_by_role("heading", name=name, exact=True).click()
