"""The view of made questions: made, read, saved, opened again, and measured before and after an ingest."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.e2e.page.conftest import WIDTHS, OpenPage
from tests.e2e.page.live import Live
from tests.e2e.page.watch import Watch, assert_accessible

pytestmark = pytest.mark.slow

_HOTELS = (
    "The hotels of the town are these.\n\n| Hotel | Rooms | Built |\n|---|---|---|\n"
    "| Harbour House | 40 | 1921 |\n| Mill Inn | 18 | 1955 |\n"
)


def test_questions_are_made_saved_and_measured(open_page: OpenPage, own_corpus: str, live: Live) -> None:
    live.add(own_corpus, [{"key": "hotels", "title": "Hotels", "text": _HOTELS}])
    page = open_page(f"/c/{own_corpus}/documents")
    page.get_by_role("link", name="Made questions").click()
    expect(page).to_have_url(re.compile(f"/c/{own_corpus}/made$"))
    expect(page.get_by_role("heading", name="No questions yet")).to_be_visible()
    page.get_by_role("button", name="Make questions").click()
    row = page.locator("details.job-line").filter(has_text="Rooms for Mill Inn")
    row.locator("summary").click()
    expect(row).to_contain_text("| Mill Inn | 18 | 1955 |")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert_accessible(page, "made questions")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save").click()
    saved = saving.value.path()
    questions = [json.loads(line) for line in saved.read_text("utf-8").splitlines()]
    page.get_by_role("checkbox", name="sparse").check()
    page.get_by_role("button", name=re.compile("^Measure")).click()
    expect(page.locator("tbody tr")).to_have_count(2)
    page.set_viewport_size({"width": 360, "height": 800})
    assert_accessible(page, "measurements")
    live.add(own_corpus, [{"key": "more", "text": "The Mill Inn has a mill."}])
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_label("A file of questions").set_input_files(
        {"name": "questions.jsonl", "mimeType": "application/jsonl", "buffer": saved.read_bytes()}
    )
    page.get_by_role("button", name=f"Measure {len(questions)} questions").click()
    expect(page.locator("tbody tr")).to_have_count(3)
    generations = page.locator("tbody tr td:nth-child(2)").all_inner_texts()
    assert int(generations[0]) > int(generations[1]) == int(generations[2])


def test_a_corpus_without_facts_says_so(open_page: OpenPage, own_corpus: str, live: Live, watch: Watch) -> None:
    watch.allow(r"status of 422 .*/made-questions")
    live.add(own_corpus, [{"key": "a", "text": "Nothing happened here at all, and that was that for the day."}])
    page = open_page(f"/c/{own_corpus}/made")
    page.get_by_role("button", name="Make questions").click()
    expect(page.get_by_role("alert")).to_contain_text("--extractor syntax")
    page.get_by_label("A file of questions").set_input_files(
        {"name": "questions.jsonl", "mimeType": "application/jsonl", "buffer": b"mine\n"}
    )
    expect(page.get_by_text("Line 1 is no question")).to_be_visible()
