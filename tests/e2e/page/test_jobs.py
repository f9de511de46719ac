"""What the page tells of jobs: what is ahead of one that waits, how far one is, and what is left of a paused one."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.page.conftest import OpenPage
from tests.e2e.page.live import Live

CORPUS = "queued"
PATH = f"/v1/corpora/{CORPUS}/documents"
SENTENCE = "The lantern of the harbour was built by Ada and lit by Bo, who kept the log of the ships. "


@pytest.fixture
def queued(live: Live) -> Iterator[str]:
    """A corpus whose documents wait for the language model."""
    live.create(CORPUS, extractor="llm")
    yield CORPUS
    live.client.delete(f"/v1/corpora/{CORPUS}")


def hand_in(live: Live, name: str, count: int, length: int, **more: object) -> str:
    """Submits documents of so many sentences, and returns the job."""
    documents = [{"key": f"{name}/{n:03}", "text": f"{name} {n}. {SENTENCE * length}"} for n in range(count)]
    answer = live.client.post(PATH, json={"documents": documents, **more})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["job"]["id"])


def read_share(bar: Locator) -> tuple[float, int]:
    """Returns the share that the bar shows, and the percentage that stands beside it."""
    value, words = bar.evaluate("one => [one.value, one.parentElement.textContent]")
    assert bar.get_attribute("aria-label") == words, "it is told as it is shown"
    return value, int(words.partition(" %")[0])


def bar_of(page: Page) -> Locator:
    return page.get_by_label("Progress").get_by_role("progressbar")


def test_a_job_that_waits_tells_what_is_ahead_of_it(queued: str, open_page: OpenPage, live: Live) -> None:
    with live.reader.held():
        first = hand_in(live, "first", 40, 500)
        second = hand_in(live, "second", 2, 1)
        page = open_page(f"/c/{queued}/jobs/{second}")
        waits = re.compile(r"^waits for a worker, (\d+) documents \(\d+\.?\d* [kM]?B\) ahead of it$")
        expect(bar_of(page)).to_have_accessible_name(waits)
        ahead = live.get(f"/v1/jobs/{second}")["ahead"]
        expect(bar_of(page)).to_have_accessible_name(re.compile(f"{ahead['documents']} documents "))
        assert bar_of(page).get_attribute("value") is None, "nobody knows when it begins"
        page.goto(f"/c/{queued}/jobs")
        expect(page.locator(".job-line").first).to_contain_text("ahead of it")
        live.client.post(f"/v1/jobs/{first}/cancel")
        live.reader.release()
        expect(page.locator(".job-line").first).to_contain_text("2 indexed")


def test_the_words_of_a_running_job_agree_with_its_bar(queued: str, open_page: OpenPage, live: Live) -> None:
    """Some of its documents are done, and the others wait for the language model."""
    done = hand_in(live, "long", 12, 10)
    live.finish(done)
    with live.reader.held():
        job = hand_in(live, "long", 30, 10)  # the first twelve are unchanged
        page = open_page(f"/c/{queued}/jobs/{job}")
        expect(page.locator(".tag", has_text="running")).to_be_visible()
        expect(bar_of(page)).to_have_accessible_name(re.compile("12 of 30 documents"))
        value, percent = read_share(bar_of(page))
        assert percent == int(100 * value)
        assert "left" not in str(bar_of(page).get_attribute("aria-label")), "nothing tells how long the rest takes"
        live.reader.release()
        expect(page.locator(".outcome")).to_have_text("18 indexed · 12 unchanged")


def test_the_words_of_a_paused_job_agree_with_its_bar_and_tell_what_is_left(
    queued: str, open_page: OpenPage, live: Live
) -> None:
    job = hand_in(live, "long", 60, 10, budget={"tokens": 6000})
    page = open_page(f"/c/{queued}/jobs/{job}")
    expect(page.locator(".tag", has_text="paused")).to_be_visible()
    told = live.get(f"/v1/jobs/{job}")
    left, done = told["counts"]["paused"], told["counts"]["indexed"]
    assert left + done == 60
    words = bar_of(page)
    expect(words).to_have_accessible_name(re.compile(f"{done} of 60 documents .*· {left} documents, .*B left$"))
    value, percent = read_share(bar_of(page))
    assert percent == int(100 * value)
    assert 0 < value < 1
    page.goto(f"/c/{queued}/jobs")
    expect(page.locator(".job-line").first).to_contain_text(f"{left} documents")
    page.locator(".job-line a").first.click()
    page.get_by_label("Tokens").fill("1000000")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".outcome")).to_have_text("60 indexed")
