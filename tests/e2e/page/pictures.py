"""Pictures of the page for the documentation: `python -m tests.e2e.page.pictures` writes `docs/images/page-*.png`.

The corpus is that of `make demo`, with a PDF; the model is scripted, the embeddings are the built-in ones.
"""

import io
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.e2e.browser import FLAGS
from tests.e2e.page import demo
from tests.e2e.page.live import Live, model_settings, serve
from tests.servers.install import require
from tests.twins.chat_server import ChatServer

__all__ = ["FOLDER", "PICTURES", "draw", "main", "serving"]

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "images"
_SIZE = {"width": 1280, "height": 800}
_NARROW = {"width": 360, "height": 740}
_COLOURS = 128
_PATIENCE_MS = 120_000
_SMALLER = 1  # until the whole trail is seen
_SETTLED_MS = 2500  # the graph comes to rest

Scheme = Literal["light", "dark"]


class Reader:
    """A reader of the page, who shows each view as it is to be drawn."""

    def __init__(self, page: Page, live: Live) -> None:
        self.page = page
        self._live = live

    @contextmanager
    def ask(self) -> Iterator[None]:
        """While the question runs: the first steps are answered, and the second ones wait for the model."""
        self.page.goto(f"/c/{demo.CORPUS}")
        with self._live.reader.held("When"):
            self._ask()
            steps = self.page.get_by_role("group", name="The steps of the plan").get_by_role("button")
            expect(steps.filter(has_text="Prague")).not_to_have_count(0)
            expect(steps.filter(has_text="University of Kansas")).not_to_have_count(0)
            yield

    @contextmanager
    def answer(self) -> Iterator[None]:
        """With the passage of its first source."""
        self.page.goto(f"/c/{demo.CORPUS}")
        self._ask()
        self._open_source()
        yield

    @contextmanager
    def trail(self) -> Iterator[None]:
        self.page.goto(f"/c/{demo.CORPUS}")
        self._ask()
        heading = self.page.get_by_role("heading", name="Trail")
        heading.click()
        for _ in range(_SMALLER):
            self.page.get_by_role("button", name=re.compile("[Ss]maller|[Zz]oom out")).first.click()
        expect(self.page.locator(".trail-picture").get_by_text("Fact", exact=True)).not_to_have_count(0)
        _to_top(heading)
        yield

    @contextmanager
    def search(self) -> Iterator[None]:
        """With the way through the graph that explains the first hit."""
        self.page.goto(f"/c/{demo.CORPUS}/search?{demo.SEARCH_QUERY}")
        expect(self.page.get_by_role("main").get_by_role("heading", level=3).first).to_be_visible()
        yield

    @contextmanager
    def graph(self) -> Iterator[None]:
        self.page.goto(f"/c/{demo.CORPUS}/graph?name=Kassel&depth=2")
        expect(self.page.get_by_role("heading", name="Kassel", exact=True)).to_be_visible()
        self.page.wait_for_timeout(_SETTLED_MS)
        self.page.get_by_role("button", name="Show everything").click()
        self.page.wait_for_timeout(_SETTLED_MS)
        yield

    @contextmanager
    def document(self) -> Iterator[None]:
        """The passages over the text of the PDF, beside the image of its page."""
        id = self._live.ids[demo.GUIDE]
        passages = self._live.get(f"/v1/corpora/{demo.CORPUS}/documents/{id}/chunks")["data"]
        chosen = next(one["id"] for one in passages if "1410" in one["text"])
        self.page.goto(f"/c/{demo.CORPUS}/documents/{id}?{urlencode({'chunk': chosen, 'quote': demo.CLOCK})}")
        expect(self.page.get_by_role("region", name="Source").locator("mark").first).to_be_visible()
        image = self.page.get_by_role("img", name=re.compile("Page 2"))
        expect(image).to_be_visible()
        image.evaluate("one => one.decode()")
        self.page.evaluate("() => scrollTo(0, 0)")
        yield

    def _ask(self) -> None:
        self.page.get_by_role("textbox", name="Question").fill(demo.QUESTION)
        self.page.keyboard.press("Enter")
        expect(self.page).to_have_url(re.compile("/questions/"))

    def _open_source(self) -> None:
        answer = self.page.get_by_role("region", name=re.compile("^Answer"))
        answer.get_by_role("button", name=re.compile("^Source 1")).first.click()
        image = self.page.get_by_role("img", name=re.compile("[Pp]age 2"))
        expect(image.first).to_be_visible()
        image.first.evaluate("one => one.decode()")
        self.page.evaluate("() => scrollTo(0, 0)")


View = Callable[[Reader], Any]
PICTURES: dict[str, View] = {
    "ask": Reader.ask,
    "answer": Reader.answer,
    "trail": Reader.trail,
    "search": Reader.search,
    "graph": Reader.graph,
    "document": Reader.document,
}
_ALSO_NARROW = "answer"


def main() -> int:
    require("chromium")
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="hopweave-pictures-") as folder,
        serving(Path(folder)) as live,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
        for file in draw(browser, live, FOLDER):
            print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")
        browser.close()
    return 0


@contextmanager
def serving(folder: Path) -> Iterator[Live]:
    """A server with the corpus of the pictures."""
    reader = demo.make_reader()
    with ChatServer(respond=reader) as chat, serve(folder, model_settings(chat.url), reader) as live:
        demo.add_corpus(live)
        yield live


def draw(browser: Browser, live: Live, folder: Path) -> Iterator[Path]:
    """Draws all pictures: light and dark, and one of them as a telephone shows it."""
    for name, view in PICTURES.items():
        for scheme in ("light", "dark"):
            file = folder / f"page-{name}{'-dark' if scheme == 'dark' else ''}.png"
            yield _draw_one(browser, live, view, file, scheme)
    narrow = folder / f"page-{_ALSO_NARROW}-360.png"
    yield _draw_one(browser, live, PICTURES[_ALSO_NARROW], narrow, "light", _NARROW)


def _draw_one(
    browser: Browser, live: Live, view: View, file: Path, scheme: Scheme, size: dict[str, int] | None = None
) -> Path:
    viewport: Any = size or _SIZE
    context = browser.new_context(
        base_url=live.origin, viewport=viewport, color_scheme=scheme, reduced_motion="reduce", locale="en-GB"
    )
    context.set_default_timeout(_PATIENCE_MS)
    expect.set_options(timeout=_PATIENCE_MS)
    try:
        page = context.new_page()
        with view(Reader(page, live)):
            page.evaluate("() => document.fonts.ready")
            page.mouse.move(0, 0)
            _save(page.screenshot(animations="disabled", caret="hide"), file)
    finally:
        context.close()
    return file


def _to_top(target: Locator) -> None:
    """Scrolls so that the target stands below the head of the page."""
    target.evaluate("one => scrollTo(0, one.getBoundingClientRect().top + scrollY - 72)")


def _save(png: bytes, file: Path) -> None:
    """With a palette: a third of the size, and no difference that one sees."""
    with Image.open(io.BytesIO(png)) as image:
        palette = image.convert("RGB").quantize(_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        palette.save(file, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
