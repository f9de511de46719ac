"""axe-core on every view, in each state that a reader can meet, on a telephone and on a desk, in light and in dark.

Each test walks through the states of one view; each state is judged in both colours.
"""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.page import library
from tests.e2e.page.conftest import LIBRARY, WIDTHS, OpenPage, open_part
from tests.e2e.page.live import Live, serve, twins
from tests.e2e.page.watch import Watch, assert_accessible
from tests.twins.chat_server import Reply

pytestmark = pytest.mark.slow

NOT_FOUND = "status of 404 .*/v1/"
BAD_REQUEST = "status of 4(00|09|15|22) .*/v1/"
OFFLINE = "ERR_INTERNET_DISCONNECTED"

OpenView = Callable[..., Page]


@pytest.fixture(params=WIDTHS)
def view(request: pytest.FixtureRequest, open_page: OpenPage) -> OpenView:
    """Opens an address with the width of the test."""
    return lambda path, **options: open_page(path, width=request.param, reduced_motion="reduce", **options)


@pytest.fixture(scope="package")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server without a corpus."""
    reader = library.make_reader()
    with twins(reader) as settings, serve(tmp_path_factory.mktemp("bare"), settings, reader) as server:
        yield server


def test_first_corpus(view: OpenView, bare: Live, watch: Watch) -> None:
    watch.allow(BAD_REQUEST)
    page = view("/", server=bare)
    expect(page.get_by_label("Name", exact=True)).to_be_visible()
    assert_accessible(page, "no corpus")
    page.locator("summary").first.click()
    expect(page.get_by_role("group", name="Find names and facts by")).to_be_visible()
    assert_accessible(page, "no corpus, options")
    page.get_by_label("Name", exact=True).fill("Ü")
    page.get_by_role("button", name="Create the corpus").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert_accessible(page, "a name that is refused")


def test_corpora(view: OpenView, own_corpus: str) -> None:
    page = view("/")
    expect(page.get_by_role("link", name=LIBRARY, exact=True)).to_be_visible()
    assert_accessible(page, "corpora")
    page.get_by_role("button", name="New corpus").click()
    assert_accessible(_dialog(page), "new corpus")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name=f"Rename {own_corpus}").click()
    assert_accessible(_dialog(page), "rename")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name=f"Delete {LIBRARY}").click()
    assert_accessible(_dialog(page), "delete")


def test_sign_in(view: OpenView, locked: Live, watch: Watch) -> None:
    watch.allow("status of 401 .*/v1/")
    page = view("/", server=locked)
    expect(page.get_by_label("Key")).to_be_visible()
    assert_accessible(page, "sign in")
    page.get_by_label("Key").fill("hw_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert_accessible(page, "a wrong key")


def test_no_answer_from_the_server(view: OpenView, watch: Watch) -> None:
    watch.allow(OFFLINE)
    page = view(f"/c/{LIBRARY}/documents")
    expect(page.get_by_role("link", name="Teachers")).to_be_visible()
    _navigation(page).get_by_role("link", name="Jobs").click()
    expect(page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
    page.context.set_offline(True)
    _navigation(page).get_by_role("link", name="Documents").click()
    expect(page.get_by_role("alert").first).to_be_visible()
    assert_accessible(page, "the server does not answer")


def test_documents(view: OpenView, live: Live, own_corpus: str, watch: Watch) -> None:
    watch.allow(BAD_REQUEST)
    page = view(f"/c/{own_corpus}/documents")
    expect(page.get_by_role("button", name="Files…")).to_be_visible()
    assert_accessible(page, "no documents")
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Files…").click()
    files = [
        {"name": "ada.md", "mimeType": "text/markdown", "buffer": library.files()["people/ada.md"]},
        {"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4 broken"},
        {"name": "unknown.png", "mimeType": "application/octet-stream", "buffer": b"?"},
    ]
    chosen.value.set_files(files)
    expect(page.get_by_role("button", name="Add 2 files")).to_be_visible()
    assert_accessible(page, "files that are chosen")
    page.get_by_role("button", name="Add 2 files").click()
    expect(page.get_by_role("heading", name="All files are sent")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("failed")
    assert_accessible(page, "an upload, a failed document")
    page.get_by_role("checkbox", name=re.compile("Select .*Ada")).check()
    expect(page.get_by_role("group", name="Selected documents")).to_be_visible()
    assert_accessible(page, "selected documents")
    page.get_by_role("group", name="Selected documents").get_by_role("button", name="Delete…").click()
    assert_accessible(_dialog(page), "delete documents")
    page.get_by_role("button", name="Keep").click()
    page.goto(f"/c/{own_corpus}/documents?filter={{")
    expect(page.get_by_role("alert")).to_be_visible()
    assert_accessible(page, "a filter that is no JSON")
    page.goto(f"/c/{own_corpus}/documents?key=none")
    expect(page.get_by_role("heading", name="No document matches")).to_be_visible()
    assert_accessible(page, "no document matches")
    failed = live.get(f"/v1/corpora/{own_corpus}/documents", state="failed")["data"][0]["id"]
    page.goto(f"/c/{own_corpus}/documents/{failed}")
    expect(page.get_by_role("button", name="Retry")).to_be_visible()
    assert_accessible(page, "a document that failed")
    page.goto(f"/c/{own_corpus}/jobs")
    page.get_by_role("main").get_by_role("link").first.click()
    expect(page.get_by_role("region", name="Progress")).to_be_visible()
    expect(page.get_by_role("heading", name="1 document failed")).to_be_visible()
    assert_accessible(page, "a job with a failure")


_SHOWN = ("engine.pdf", "people/babbage.md", "zh/北京大学.md", "ar/الخوارزمي.txt", "hostile/markdown.md")


def test_documents_of_every_kind(view: OpenView, live: Live) -> None:
    page = view("/help")
    for key in _SHOWN:
        passages = live.get(f"/v1/corpora/{LIBRARY}/documents/{live.ids[key]}/chunks")["data"]
        page.goto(f"/c/{LIBRARY}/documents/{live.ids[key]}")
        text = page.get_by_role("region", name="Source")
        expect(text.get_by_role("button").first).to_be_visible()
        assert_accessible(page, key)
        page.locator("summary").first.click()
        assert_accessible(page, f"the metadata of {key}")
        page.goto(f"/c/{LIBRARY}/documents/{live.ids[key]}?chunk={passages[-1]['id']}")
        expect(page.get_by_role("group", name="Selected passage")).to_be_visible()
        if key.endswith(".pdf"):
            other_side = page.get_by_role("button", name="Page as an image")  # where there is no room for both
            if other_side.is_visible():
                other_side.click()
            expect(page.get_by_role("img", name=re.compile("Page"))).to_be_visible()
        assert_accessible(page, f"a passage of {key}")


def test_dialogs_of_a_document(view: OpenView, live: Live, watch: Watch) -> None:
    watch.allow(NOT_FOUND)
    page = view(f"/c/{LIBRARY}/documents/{live.ids['people/ada.md']}")
    page.get_by_role("button", name="Delete…").click()
    assert_accessible(_dialog(page), "delete a document")
    page.get_by_role("button", name="Keep").click()
    page.locator("summary").first.click()
    page.get_by_role("button", name="Change title and metadata…").click()
    dialog = _dialog(page)
    dialog.get_by_label("Metadata, as JSON").fill("{")
    assert_accessible(dialog, "metadata that are no JSON")
    page.goto(f"/c/{LIBRARY}/documents/none")
    expect(page.get_by_role("heading", name="This document is not here")).to_be_visible()
    assert_accessible(page, "a document that is not there")


def test_jobs(view: OpenView, own_corpus: str, watch: Watch) -> None:
    watch.allow(NOT_FOUND)
    page = view(f"/c/{LIBRARY}/jobs")
    expect(page.get_by_role("main").get_by_role("link").first).to_be_visible()
    assert_accessible(page, "jobs")
    page.get_by_role("main").get_by_role("link").first.click()
    expect(page.get_by_role("region", name="Progress")).to_be_visible()
    assert_accessible(page, "a job")
    page.goto(f"/c/{own_corpus}/jobs")
    expect(page.get_by_role("heading", name="No jobs yet")).to_be_visible()
    assert_accessible(page, "no jobs")
    page.goto(f"/c/{LIBRARY}/jobs/none")
    expect(page.get_by_role("main")).to_contain_text(re.compile("[Nn]ot found|not here|no such"))
    assert_accessible(page, "a job that is not there")


def test_search(view: OpenView, own_corpus: str, watch: Watch) -> None:
    watch.allow(BAD_REQUEST)
    page = view(f"/c/{LIBRARY}/search")
    expect(page.get_by_role("heading", name=re.compile("can be searched"))).to_be_visible()
    assert_accessible(page, "before a search")
    page.get_by_label("Question or words").fill("Who taught the person that worked with Charles Babbage?")
    page.keyboard.press("Enter")
    hits = page.get_by_role("main").get_by_role("heading", level=3)
    expect(hits.first).to_be_visible()
    assert_accessible(page, "hits")
    for summary in page.get_by_role("main").locator("summary").all():
        if summary.is_visible():
            summary.click()
    assert_accessible(page, "hits, everything open")
    page.goto(f"/c/{LIBRARY}/search?q=Babbage&with=sparse")
    expect(hits.first).to_be_visible()
    assert_accessible(page, "two searchers")
    page.goto(f"/c/{LIBRARY}/search?q=Babbage&filter={{")
    expect(page.get_by_role("alert")).to_be_visible()
    assert_accessible(page, "a filter that is no JSON")
    page.goto(f"/c/{LIBRARY}/search?q=Babbage&filter=%7B%22year%22%3A1%7D")
    expect(page.get_by_role("heading", name="Nothing was found")).to_be_visible()
    assert_accessible(page, "no hits")
    page.goto(f"/c/{own_corpus}/search")
    expect(page.get_by_role("heading", name="This corpus has no documents yet")).to_be_visible()
    assert_accessible(page, "nothing to search")


def test_who_is_who(view: OpenView, live: Live, own_corpus: str) -> None:
    live.add(own_corpus, [library.TITLED])
    page = view(f"/c/{own_corpus}/graph?view=same")
    page.get_by_role("button", name=re.compile("^Two: .*Ada Lund")).wait_for()
    page.get_by_text("Pairs that are two").click()
    expect(page.get_by_text("No pair was rejected.")).to_be_visible()
    assert_accessible(page, "proposals")
    page.get_by_role("button", name=re.compile("^Two: .*Ada Lund")).click()
    page.get_by_role("button", name=re.compile("^Undo: .*Ada Lund")).wait_for()
    assert_accessible(page, "a decided proposal")
    page.reload()
    expect(page.get_by_role("heading", name="No two entities seem to be one")).to_be_visible()
    page.get_by_text("Pairs that are two").click()
    page.get_by_role("button", name=re.compile("^Undo: .* is not .*")).wait_for()
    assert_accessible(page, "a rejected pair")


def test_graph(view: OpenView, own_corpus: str, watch: Watch) -> None:
    watch.allow(NOT_FOUND)
    page = view(f"/c/{LIBRARY}/graph?name=Charles Babbage")
    expect(page.locator("canvas")).to_be_visible()
    expect(page.get_by_role("heading", name="Charles Babbage")).to_be_visible()
    assert_accessible(page, "a graph")
    page.get_by_role("combobox", name="Find an entity").fill("Ada")
    expect(page.get_by_role("listbox").get_by_role("option").first).to_be_visible()
    assert_accessible(page, "names that were found")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="List", exact=True).click()
    listed = page.get_by_role("navigation", name="The drawn nodes as a list")
    listed.get_by_role("button", name=re.compile("^Show the")).first.click()
    assert_accessible(page, "a graph as a list")
    page.goto(f"/c/{LIBRARY}/graph?name=Nobody Of This Name")
    expect(page.get_by_role("main").get_by_role("heading", level=2).first).to_be_visible()
    assert_accessible(page, "a name that is not there")
    page.goto(f"/c/{LIBRARY}/graph?entity=none")
    expect(page.get_by_role("alert")).to_be_visible()
    assert_accessible(page, "an entity that is not there")
    page.goto(f"/c/{own_corpus}/graph")
    expect(page.get_by_role("heading", name="This corpus has no entities yet")).to_be_visible()
    assert_accessible(page, "no entities")


def test_ask(view: OpenView, own_corpus: str, watch: Watch) -> None:
    watch.allow(BAD_REQUEST)
    page = view(f"/c/{LIBRARY}")
    expect(page.get_by_role("textbox", name="Question")).to_be_visible()
    assert_accessible(page, "ask")
    page.locator("summary", has_text="Settings").click()
    page.get_by_role("button", name="Add a condition").click()
    assert_accessible(page, "a condition")
    page.locator("summary", has_text="As JSON").click()
    page.get_by_label("Filter as JSON").fill("{")
    assert_accessible(page, "settings, one of them wrong")
    page.goto(f"/c/{own_corpus}")
    expect(page.get_by_role("heading", name="This corpus is empty")).to_be_visible()
    assert_accessible(page, "nothing to ask")


def test_an_answer(view: OpenView, live: Live) -> None:
    page = view(f"/c/{LIBRARY}")
    with live.reader.held():
        _ask(page, library.BIRTHPLACE)
        expect(page.get_by_role("heading", name="Looking for the answer")).to_be_visible()
        assert_accessible(page, "while it is answered")
        live.reader.release()
        expect(_answer(page)).to_contain_text("London")
    assert_accessible(page, "an answer")
    _answer(page).get_by_role("button", name=re.compile("^Source 1")).first.click()
    expect(page.get_by_role("heading", name="Source 1")).to_be_visible()
    assert_accessible(page, "a source")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("group", name="The steps of the plan").get_by_role("button").nth(1).click()
    expect(page.get_by_role("heading", name="Step 2 of 3")).to_be_visible()
    assert_accessible(page, "a step")
    page.get_by_role("button", name="Close").click()
    open_part(page, "Trail")
    assert_accessible(page, "the trail")
    page.get_by_role("button", name="As a list").click()
    assert_accessible(page, "the trail as a list")
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_role("region", name="What changed")).to_be_visible()
    assert_accessible(page, "asked again")
    page.get_by_role("button", name="Delete", exact=True).click()
    assert_accessible(_dialog(page), "delete a question")
    page.goto(f"/c/{LIBRARY}")
    _ask(page, library.ATTACK)
    expect(_answer(page)).to_contain_text("<script>")
    assert_accessible(page, "an answer full of attacks")


def test_questions_without_an_answer(view: OpenView, live: Live, watch: Watch) -> None:
    watch.allow(NOT_FOUND)
    page = view(f"/c/{LIBRARY}")
    live.reader.failures.append(Reply(status=400, text="the model is not here", code="model_not_found"))
    _ask(page, "Does this question fail?")
    expect(page.get_by_role("heading", name=re.compile("The question failed"))).to_be_visible()
    assert_accessible(page, "failed")
    page.goto(f"/c/{LIBRARY}")
    with live.reader.held():
        _ask(page, "Is this question cancelled?")
        page.get_by_role("button", name="Cancel", exact=True).click()
        expect(page.get_by_role("heading", name="The question was cancelled")).to_be_visible()
    assert_accessible(page, "cancelled")
    page.goto(f"/c/{LIBRARY}?filter=%7B%22year%22%3A1%7D")
    _ask(page, "Is there nothing?")
    expect(page.get_by_role("heading", name="No answer is given")).to_be_visible()
    assert_accessible(page, "no answer")
    page.goto(f"/c/{LIBRARY}/questions/none")
    expect(page.get_by_role("main")).to_contain_text(re.compile("[Nn]ot found|not here|no such"))
    assert_accessible(page, "a question that is not there")


def test_questions(view: OpenView, own_corpus: str) -> None:
    page = view(f"/c/{own_corpus}/questions")
    expect(page.get_by_role("heading", name="No question yet")).to_be_visible()
    assert_accessible(page, "no question")
    page.goto(f"/c/{own_corpus}/questions?kept=1")
    expect(page.get_by_role("heading", name="No kept question")).to_be_visible()
    assert_accessible(page, "no kept question")
    page.goto(f"/c/{LIBRARY}")
    _ask(page, library.MILL)
    expect(_answer(page)).to_contain_text("the mill")
    page.goto(f"/c/{LIBRARY}/questions")
    expect(page.get_by_role("link", name=re.compile(re.escape(library.MILL))).first).to_be_visible()
    assert_accessible(page, "questions")


def test_a_withdrawn_answer(view: OpenView, live: Live, own_corpus: str) -> None:
    ids = live.add(own_corpus, files={"engine.pdf": library.make_engine_pdf()})
    page = view(f"/c/{own_corpus}")
    _ask(page, library.MILL)
    expect(_answer(page)).to_contain_text("the mill")
    told = live.client.delete(f"/v1/corpora/{own_corpus}/documents/{ids['engine.pdf']}").json()
    live.finish(told.get("job", told)["id"])
    page.reload()
    expect(page.get_by_role("heading", name="The answer was withdrawn")).to_be_visible()
    assert_accessible(page)


def _navigation(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Corpus")


def _ask(page: Page, question: str) -> None:
    page.get_by_role("textbox", name="Question").fill(question)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/questions/"))


def _answer(page: Page) -> Locator:
    return page.get_by_role("region", name=re.compile("^Answer"))


def _dialog(page: Page) -> Locator:
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    return dialog
