"""The view of all corpora: making, renaming and deleting them, and what their cards say."""

import re

from playwright.sync_api import expect

from tests.e2e.page.conftest import LIBRARY, OpenPage
from tests.e2e.page.live import Live
from tests.e2e.page.watch import Watch


def test_a_corpus_is_created_renamed_and_deleted(open_page: OpenPage, live: Live, watch: Watch) -> None:
    watch.allow("status of 422")
    page = open_page("/")
    page.get_by_role("button", name="New corpus").click()
    name = page.get_by_role("textbox", name="Name")
    name.fill("-wrong-")
    page.get_by_role("button", name="Create the corpus").click()
    expect(page.get_by_role("alert")).to_contain_text("name")
    name.fill("walked papers")
    page.get_by_text("How documents are read").click()
    page.get_by_role("checkbox", name=re.compile("^given")).check()
    page.get_by_role("button", name="Create the corpus").click()
    expect(page).to_have_url(re.compile("/c/walked-papers/documents$"))
    expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()
    assert live.get("/v1/corpora/walked-papers")["extractor"] == "given"
    page.goto("/")
    page.get_by_role("button", name="Rename walked-papers").click()
    page.get_by_role("textbox", name="Name").fill("walked")
    page.get_by_role("button", name="Rename", exact=True).click()
    expect(page.get_by_role("link", name="walked", exact=True)).to_be_visible()
    live.add("walked", [{"key": "one", "text": "A text."}])
    page.reload()
    page.get_by_role("button", name="Delete walked").click()
    delete = page.get_by_role("button", name="Delete the corpus")
    expect(delete).to_be_disabled()
    page.get_by_role("textbox", name="Write its name").fill("walked")
    delete.click()
    expect(page.get_by_role("link", name="walked", exact=True)).to_have_count(0)
    expect(page.get_by_role("link", name=LIBRARY, exact=True)).to_be_visible()


def test_a_card_says_what_failed_and_how_names_are_found(own_corpus: str, open_page: OpenPage, live: Live) -> None:
    live.add(own_corpus, [{"key": "one", "text": "A text."}], {"broken.pdf": b"%PDF-1.4 broken"})
    page = open_page("/")
    card = page.get_by_role("article").filter(has=page.get_by_role("link", name=own_corpus, exact=True))
    expect(card).to_contain_text("names found by rules, without a model; names and facts as documents bring them")
    expect(card).to_contain_text("1 document, 1 passage")
    card.get_by_role("link", name="1 document failed").click()
    expect(page).to_have_url(re.compile(f"/c/{own_corpus}/documents\\?state=failed$"))
    expect(page.locator(".windowed > li")).to_have_count(1)
    expect(page.locator(".windowed > li")).to_contain_text("broken.pdf")
