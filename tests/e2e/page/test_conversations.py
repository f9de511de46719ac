"""Conversations on the page: a follow-up below an answer, what was asked before above it, the last ones beside it."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.page.conftest import OpenPage
from tests.e2e.page.library import BUILT, FOLLOW_UP, MILL, make_engine_pdf
from tests.e2e.page.live import Live
from tests.e2e.page.test_asking import ask, wait_for_answer
from tests.e2e.page.watch import assert_accessible


def follow_up(page: Page, question: str) -> None:
    page.get_by_label("Follow-up question").fill(question)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name=question)).to_be_visible()
    wait_for_answer(page)


def test_a_conversation_is_understood_found_again_kept_and_deleted(
    open_page: OpenPage, own_corpus: str, live: Live
) -> None:
    live.add(own_corpus, files={"engine.pdf": make_engine_pdf()})
    page = open_page(f"/c/{own_corpus}")
    ask(page, MILL)
    wait_for_answer(page)
    first = page.url
    follow_up(page, FOLLOW_UP)
    assert page.url != first
    earlier = page.get_by_role("article", name=MILL)
    for _ in range(2):
        expect(page.get_by_text(f"Understood as: {BUILT}")).to_be_visible()
        expect(page.get_by_role("region", name=re.compile("^Answer"))).to_contain_text("Henry Babbage")
        expect(earlier).to_contain_text("the mill")
        page.reload()
    history = page.get_by_role("navigation", name="Last questions")
    expect(history.get_by_role("listitem")).to_have_count(1)
    listed = history.get_by_role("link", name=re.compile(re.escape(MILL)))
    expect(listed).to_contain_text("2 questions")
    assert_accessible(page, "a conversation")
    page.set_viewport_size({"width": 360, "height": 800})
    expect(listed).to_have_count(0)
    page.locator("summary", has_text="Last questions").click()
    expect(listed.first).to_be_visible()
    assert_accessible(page, "a conversation on a telephone")
    page.set_viewport_size({"width": 1280, "height": 800})
    earlier.get_by_role("button", name=re.compile("^Source 1")).first.click()
    expect(page.get_by_role("region", name="Source 1").locator("mark")).to_contain_text("The mill computed")
    page.keyboard.press("Escape")
    earlier.get_by_role("link", name=MILL).click()
    expect(page.get_by_role("heading", level=1, name=MILL)).to_be_visible()
    expect(page.get_by_label("Follow-up question")).to_have_count(0)
    page.locator(".goes-on").get_by_role("link", name=FOLLOW_UP).click()
    expect(page.get_by_label("Follow-up question")).to_be_visible()
    last = page.url
    page.get_by_role("link", name="New question").click()
    expect(page.get_by_label("Question", exact=True)).to_have_value("")
    expect(history.get_by_role("listitem")).to_have_count(1)
    page.goto(last)
    expect(earlier).to_be_visible()
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_role("button", name="Kept")).to_be_visible()
    questions = f"/v1/corpora/{own_corpus}/questions"
    assert [one["kept"] for one in live.get(questions)["data"]] == [True, True]
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete 2 questions").click()
    expect(page.get_by_role("heading", name="No question yet")).to_be_visible()
    assert live.get(questions)["data"] == []


def test_a_follow_up_is_changed_within_its_conversation(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    ask(page, MILL)
    wait_for_answer(page)
    follow_up(page, FOLLOW_UP)
    page.get_by_role("link", name="Change the question").click()
    expect(page.get_by_label("Question", exact=True)).to_have_value(FOLLOW_UP)
    expect(page.get_by_text("It goes on from an earlier question.")).to_be_visible()
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_role("article", name=MILL)).to_be_visible()
    wait_for_answer(page)
    page.get_by_role("link", name="Change the question").click()
    page.get_by_role("button", name="Ask it alone").click()
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_role("heading", level=1, name=FOLLOW_UP)).to_be_visible()
    expect(page.get_by_role("article")).to_have_count(0)
