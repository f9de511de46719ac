"""The start view of a corpus: what can be asked, what is in it, and the last questions."""

import re

from playwright.sync_api import expect

from tests.e2e.page.conftest import OpenPage
from tests.e2e.page.live import Live
from tests.e2e.page.test_asking import wait_for_answer


def test_a_sample_question_is_taken_and_asked_and_what_is_in_the_corpus_is_told(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    samples = page.get_by_role("region", name="You can ask").get_by_role("button")
    sample = samples.filter(has_text="Who worked with Charles Babbage?")
    sample.click()
    field = page.get_by_label("Question", exact=True)
    expect(field).to_be_focused()
    expect(field).to_have_value("Who worked with Charles Babbage?")
    expect(samples).to_have_count(0)
    page.keyboard.press("Enter")
    wait_for_answer(page)
    page.goto("/c/library")
    contents = page.get_by_role("region", name="What is in it")
    expect(contents).to_contain_text(re.compile("Markdown 4"))
    expect(contents).to_contain_text("PDF 1")
    expect(contents).to_contain_text("en 2, ar 1")
    contents.get_by_role("link", name="Charles Babbage").click()
    expect(page.get_by_role("heading", name="Charles Babbage")).to_be_visible()


def test_a_corpus_without_names_has_no_samples(open_page: OpenPage, own_corpus: str, live: Live) -> None:
    live.add(own_corpus, [{"key": "note", "text": "salt is salt."}])
    page = open_page(f"/c/{own_corpus}")
    expect(page.get_by_role("region", name="What is in it")).to_contain_text("1 document")
    expect(page.get_by_role("region", name="You can ask")).to_have_count(0)
