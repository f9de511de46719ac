"""Adding files to a corpus: dropped, chosen, sent in batches, and sent again.

`own_corpus` comes first: a corpus is deleted after the pages are closed that may ask for more of it.
"""

import json
import re
from pathlib import Path

from playwright.sync_api import Route, expect

from tests.documents import make_scan
from tests.e2e.page.conftest import OpenPage
from tests.e2e.page.hands import drop
from tests.e2e.page.live import Live
from tests.e2e.page.watch import Watch

ROWS = ".windowed > li"


def test_files_are_dropped_estimated_sent_and_indexed(own_corpus: str, open_page: OpenPage, live: Live) -> None:
    page = open_page(f"/c/{own_corpus}/documents")
    files = {"ada.md": b"# Ada\n\nAda wrote.", 'a "quoted".txt': b"Quotes.", "scan.pdf": make_scan(), "a.png": b"?"}
    drop(page, files)
    expect(page.get_by_role("heading", name="3 files to add")).to_be_focused()
    page.get_by_text("1 file left out").click()
    expect(page.locator(".left-out")).to_contain_text("a.png")
    expect(page.locator(".estimate")).to_contain_text("2 documents to index, 2 passages")
    expect(page.locator(".estimate")).to_contain_text("no calls of a language model")
    expect(page.locator(".estimate")).to_contain_text("1 file cannot be read")
    expect(page.locator(".estimate")).to_contain_text("needs OCR")
    page.get_by_role("button", name="Add 3 files").click()
    expect(page.get_by_role("heading", name="All files are sent")).to_be_visible()
    expect(page.get_by_role("link", name="Ada", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="See what failed")).to_be_visible()
    assert len(live.get(f"/v1/corpora/{own_corpus}/documents", key='a "quoted".txt')["data"]) == 1
    expect(page.get_by_role("link", name="Ask a question")).to_have_attribute("href", f"/c/{own_corpus}")
    job = page.get_by_role("link", name="Adding documents")
    job.click()
    expect(page).to_have_url(re.compile("/jobs/[^/]+$"))
    page.reload()
    expect(page.get_by_text("2 indexed · 1 failed")).to_be_visible()
    page.get_by_role("link", name="scan.pdf").click()
    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.locator(ROWS)).to_contain_text("needs OCR")


def test_a_folder_is_sent_with_its_paths(own_corpus: str, open_page: OpenPage, live: Live, tmp_path: Path) -> None:
    for name in ("notes/deep/a.md", "notes/page 10.txt", "notes/page 9.txt", "notes/.hidden/c.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"The text of {name}.")
    page = open_page(f"/c/{own_corpus}/documents")
    page.get_by_label("A folder", exact=True).set_input_files(str(tmp_path / "notes"))
    expect(page.get_by_role("heading", name="3 files to add")).to_be_visible()
    expect(page.locator(".names > li")).to_have_text(["notes/deep/a.md", "notes/page 9.txt", "notes/page 10.txt"])
    page.get_by_role("button", name="Add 3 files").click()
    expect(page.locator(ROWS)).to_have_count(3)
    listed = live.get(f"/v1/corpora/{own_corpus}/documents")["data"]
    assert [document["key"] for document in listed] == ["notes/deep/a.md", "notes/page 10.txt", "notes/page 9.txt"]
    page.get_by_label("A folder", exact=True).set_input_files(str(tmp_path / "notes"))
    page.get_by_role("checkbox", name=re.compile("Keys without the folder")).check()
    page.get_by_role("button", name="Add 3 files").click()
    expect(page.locator(ROWS)).to_have_count(6)


def test_an_upload_goes_on_after_the_server_was_away(own_corpus: str, open_page: OpenPage, watch: Watch) -> None:
    """The batch is sent again with the same key, so that it is taken once."""
    watch.allow("ERR_CONNECTION", "status of 503")
    page = open_page(f"/c/{own_corpus}/documents")
    keys: list[str] = []
    answers = iter(["cut", "busy"])

    def meddle(route: Route) -> None:
        request = route.request
        if request.method != "POST":
            route.continue_()
            return
        keys.append(request.headers["idempotency-key"])
        match next(answers, "pass"):
            case "cut":
                route.fetch()  # the server has it, and its answer is lost
                route.abort("connectionreset")
            case "busy":
                body = json.dumps({"status": 503, "title": "Service Unavailable", "detail": "away"})
                route.fulfill(status=503, body=body, headers={"Retry-After": "1"})
            case _:
                route.continue_()

    page.route(re.compile(r"/v1/corpora/[^/]+/documents(\?.*)?$"), meddle)
    drop(page, {"ada.md": b"Ada wrote."})
    page.get_by_role("button", name="Add 1 file").click()
    expect(page.get_by_role("heading", name="All files are sent")).to_be_visible()
    expect(page.locator(ROWS)).to_have_count(1)
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_a_batch_that_is_too_large_is_halved(own_corpus: str, open_page: OpenPage, watch: Watch) -> None:
    """A file that is too large alone is named with the reason, and the others are sent."""
    watch.allow("status of 413")
    page = open_page(f"/c/{own_corpus}/documents")

    def refuse(route: Route) -> None:
        request = route.request
        if request.method == "POST" and b"large" in (request.post_data_buffer or b""):
            body = json.dumps(
                {"status": 413, "title": "Content Too Large", "detail": "'large.txt' is larger than 1 MB"}
            )
            route.fulfill(status=413, body=body)
        else:
            route.continue_()

    page.route(re.compile(r"/v1/corpora/[^/]+/documents(\?.*)?$"), refuse)
    drop(page, {"a.txt": b"One.", "b.txt": b"Two.", "large.txt": b"large", "z.txt": b"Three."})
    page.get_by_role("button", name="Add 4 files").click()
    expect(page.get_by_role("heading", name="All files are sent")).to_be_visible()
    expect(page.get_by_text("1 file refused")).to_be_visible()
    expect(page.get_by_text("'large.txt' is larger than 1 MB")).to_be_visible()
    expect(page.locator(ROWS)).to_have_count(3)


def test_what_was_indexed_before_its_job_was_read_is_listed(own_corpus: str, open_page: OpenPage, live: Live) -> None:
    """The list may be older than the end of the job, which is all that is ever seen of the job."""
    page = open_page(f"/c/{own_corpus}/documents")
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route(re.compile(r"/v1/jobs/[^/?]+$"), hold)
    drop(page, {"ada.md": b"# Ada\n\nAda wrote."})
    page.get_by_role("button", name="Add 1 file").click()
    expect(page.locator(ROWS)).to_have_count(1)
    while not waiting:
        page.wait_for_timeout(20)
    [read] = waiting
    live.finish(read.request.url.rpartition("/")[2])
    with page.expect_request(re.compile(r"/v1/corpora/[^/]+/documents\?")):
        read.continue_()
    expect(page.get_by_role("checkbox", name="Select Ada")).to_be_visible()
    page.unroute_all(behavior="ignoreErrors")
