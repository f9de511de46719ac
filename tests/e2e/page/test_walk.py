"""The whole walk through the page, once with a mouse and once by keyboard alone: from an empty server to a deletion."""

import re
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.page import library
from tests.e2e.page.conftest import OpenPage
from tests.e2e.page.hands import Hands, Keyboard, Mouse
from tests.e2e.page.live import Live, serve, twins
from tests.e2e.page.watch import Watch

pytestmark = pytest.mark.slow

_ATTEMPTS = count(1)
"""Numbers in the names of corpora: a walk that is repeated does not find what the first attempt has left."""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server that nobody has used yet."""
    reader = library.make_reader()
    with twins(reader) as settings, serve(tmp_path_factory.mktemp("empty"), settings, reader) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the reader has on the disk: `engine.pdf`, and the folder `people`."""
    for name in ("engine.pdf", "people/babbage.md", "people/ada.md"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(library.files()[name])
    return tmp_path


@pytest.mark.parametrize("make_hands", [Mouse, Keyboard], ids=["mouse", "keyboard"])
def test_the_whole_walk(
    open_page: OpenPage, empty: Live, folder: Path, make_hands: Callable[[Page], Hands], watch: Watch
) -> None:
    watch.allow(r"status of 404 .*/documents/[0-9a-f]+/pages/")  # asked for shortly before the document is deleted
    page = open_page("/", server=empty)
    walk = Walk(page, make_hands(page), f"engines-{make_hands.__name__.lower()}-{next(_ATTEMPTS)}")
    walk.create_corpus()
    walk.add_files(folder / "engine.pdf", "Files…", documents=1)
    walk.add_files(folder / "people", "A folder…", documents=2)
    walk.watch_job()
    walk.filter_documents()
    walk.ask_with_plan()
    walk.open_citation_in_pdf()
    walk.search_with_filter()
    walk.walk_graph()
    walk.verify()
    walk.delete_document()


class Walk:
    """Each method is a part of the walk, and leaves the page where the next begins."""

    def __init__(self, page: Page, hands: Hands, corpus: str) -> None:
        self.page = page
        self.hands = hands
        self.corpus = corpus
        self.main = page.get_by_role("main")

    def create_corpus(self) -> None:
        name = self.page.get_by_label("Name", exact=True)
        expect(name.or_(self.page.get_by_role("button", name="New corpus")).first).to_be_visible()
        if not name.is_visible():
            self.hands.press(self.page.get_by_role("button", name="New corpus"))
        self.hands.write(name, self.corpus)
        self.hands.press(self.page.get_by_role("button", name="Create the corpus"))
        expect(self.page).to_have_url(re.compile(f"/c/{self.corpus}/documents"))

    def add_files(self, path: Path, button: str, documents: int) -> None:
        self.hands.choose_files(self.page.get_by_role("button", name=button), [path])
        plural = "file" if documents == 1 else "files"
        self.hands.press(self.page.get_by_role("button", name=f"Add {documents} {plural}"))
        expect(self.page.get_by_role("heading", name="All files are sent")).to_be_visible()
        for name in [path.name] if path.is_file() else [one.stem for one in path.iterdir()]:
            expect(self.main.get_by_role("link", name=_title_of(name))).to_be_visible()
        self.hands.press(self.page.get_by_role("button", name="Dismiss"))

    def watch_job(self) -> None:
        self._go("Jobs")
        self.hands.press(self.main.get_by_role("link").first)
        expect(self.page).to_have_url(re.compile(r"/jobs/[0-9a-f]+"))
        expect(self.main).to_contain_text("done")
        self.page.reload()  # a job is found again by its address
        expect(self.main).to_contain_text("done")

    def filter_documents(self) -> None:
        self._go("Documents")
        rows = self.main.get_by_role("link", name=re.compile("Engine|Babbage|Lovelace"))
        expect(rows).to_have_count(3)
        self.hands.write(self.page.get_by_label("Key", exact=True), "people/*")
        self.page.keyboard.press("Enter")
        expect(rows).to_have_count(2)
        expect(self.page).to_have_url(re.compile("key=people"))
        self.hands.write(self.page.get_by_label("Key", exact=True), "")
        self.page.keyboard.press("Enter")
        expect(rows).to_have_count(3)

    def ask_with_plan(self) -> None:
        self._go("Ask")
        self.hands.write(self.page.get_by_role("textbox", name="Question"), library.BIRTHPLACE)
        self.page.keyboard.press("Enter")
        expect(self.page).to_have_url(re.compile("/questions/"))
        answer = self.page.get_by_role("region", name=re.compile("^Answer"))
        expect(answer).to_contain_text("London")
        expect(answer).to_contain_text("stated")
        expect(self.page.get_by_role("group", name="The steps of the plan").get_by_role("button")).to_have_count(3)
        self.page.reload()
        expect(answer).to_contain_text("London")

    def open_citation_in_pdf(self) -> None:
        self._go("Ask")
        self.hands.write(self.page.get_by_role("textbox", name="Question"), library.MILL)
        self.page.keyboard.press("Enter")
        answer = self.page.get_by_role("region", name=re.compile("^Answer"))
        expect(answer).to_contain_text("the mill")
        self.hands.press(answer.get_by_role("button", name=re.compile("Source 1: The Analytical Engine")).first)
        source = self.page.get_by_role("complementary")
        expect(source.locator("mark").first).to_contain_text(library.MILL_QUOTE)
        expect(source.get_by_role("img", name=re.compile("[Pp]age 2"))).to_be_visible()
        self.hands.press(source.get_by_role("link", name=re.compile("[Oo]pen in the document")))
        expect(self.page).to_have_url(re.compile(r"/documents/[0-9a-f]+\?.*chunk="))
        expect(self.main.locator("mark").first).to_contain_text(library.MILL_QUOTE)
        expect(self.main.get_by_role("img", name=re.compile("Page 2"))).to_be_visible()

    def search_with_filter(self) -> None:
        self._go("Search")
        self.hands.write(self.page.get_by_label("Question or words"), "Who worked with Charles Babbage?")
        self.page.keyboard.press("Enter")
        hits = self.main.get_by_role("heading", level=3)
        expect(hits.first).to_be_visible()
        expect(hits.filter(has_text="Charles Babbage")).not_to_have_count(0)
        self.hands.press(self.main.locator("summary", has_text="Options"))
        self.hands.press(self.page.get_by_role("button", name="Add a condition"))
        self.hands.write(self.page.get_by_label("Field"), "$key")
        self.hands.write(self.page.get_by_label("Value"), "people/ada.md")
        self.hands.press(self.page.get_by_role("button", name="Search", exact=True))
        expect(hits).to_have_count(1)
        expect(hits).to_contain_text("Ada Lovelace")
        expect(self.page).to_have_url(re.compile("filter="))

    def walk_graph(self) -> None:
        self._go("Graph")
        box = self.page.get_by_role("combobox", name="Find an entity")
        self.hands.write(box, "charles babage")  # with an error, as people type
        expect(self.page.get_by_role("option", name=re.compile("Charles Babbage"))).to_be_visible()
        if isinstance(self.hands, Keyboard):
            self.page.keyboard.press("ArrowDown")
            self.page.keyboard.press("Enter")
        else:
            self.page.get_by_role("option", name=re.compile("Charles Babbage")).click()
        expect(self.page).to_have_url(re.compile("entity="))
        expect(self.page.get_by_role("heading", name="Charles Babbage")).to_be_visible()
        before = self.page.url
        self.hands.press(self.page.get_by_role("button", name="List", exact=True))
        listed = self.page.get_by_role("navigation", name="The drawn nodes as a list")
        self.hands.press(listed.get_by_role("button", name=re.compile("Show the .* of Charles Babbage › Work")))
        self.hands.press(listed.get_by_role("button", name="Ada Lovelace", exact=True).first)
        expect(self.page.get_by_role("heading", name="Ada Lovelace")).to_be_visible()
        assert self.page.url != before

    def verify(self) -> None:
        self._go("Questions")
        self.hands.press(self.main.get_by_role("link", name=re.compile(re.escape(library.MILL))).first)
        self.hands.press(self.main.locator("summary", has_text="What the answer hangs on"))
        part = self.page.get_by_role("region", name="What the answer hangs on")
        self.hands.press(part.get_by_role("button", name=re.compile("Check what the answer hangs on")))
        expect(part).to_contain_text("The Analytical Engine")
        expect(part).to_contain_text("needed")

    def delete_document(self) -> None:
        self._go("Documents")
        self.hands.press(self.main.get_by_role("link", name="The Analytical Engine"))
        self.hands.press(self.page.get_by_role("button", name="Delete…"))
        dialog = self.page.get_by_role("dialog")
        self.hands.press(dialog.get_by_role("button", name="Delete the document"))
        expect(self.page.get_by_role("heading", name="The document is gone")).to_be_visible()
        self._go("Documents")
        expect(self.main.get_by_role("link", name="Charles Babbage")).to_be_visible()
        expect(self.main.get_by_role("link", name="The Analytical Engine")).to_have_count(0)
        self._go("Questions")
        self.hands.press(self.main.get_by_role("link", name=re.compile(re.escape(library.MILL))).first)
        expect(self.main).to_contain_text("withdrawn")
        expect(self.main).not_to_contain_text(library.MILL_QUOTE)
        self._go("Search")
        self.hands.write(self.page.get_by_label("Question or words"), library.MILL_QUOTE)
        self.page.keyboard.press("Enter")
        expect(self.main.get_by_role("heading", level=3).first).to_be_visible()
        expect(self.main).not_to_contain_text("a thousand numbers")

    def _go(self, section: str) -> None:
        self.hands.press(self.page.get_by_role("navigation", name="Corpus").get_by_role("link", name=section))
        expect(self.page.get_by_role("heading", level=1, name=re.compile(section))).to_be_visible()


def _title_of(name: str) -> str:
    return {"engine.pdf": "The Analytical Engine", "babbage": "Charles Babbage", "ada": "Ada Lovelace"}[name]
