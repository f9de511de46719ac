"""The views of asking: a question from the field to its answer, its plan, passages and trail, and kept questions."""

import re
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Page, Route, expect

from tests.documents import make_long_pdf
from tests.e2e.page.conftest import OpenPage, open_part
from tests.e2e.page.library import BIRTHPLACE, BORN, DESIGNED, MILL
from tests.e2e.page.live import Live
from tests.e2e.page.reader import Known
from tests.e2e.page.watch import assert_accessible
from tests.twins.chat_server import Reply

_QUESTION = re.compile("/c/[^/]+/questions/[^/?]+$")


def ask(page: Page, question: str) -> None:
    """Types a question, and waits for its own address."""
    page.get_by_label("Question", exact=True).fill(question)
    page.keyboard.press("Enter")
    expect(page).to_have_url(_QUESTION)


def wait_for_answer(page: Page) -> None:
    expect(page.get_by_role("heading", name=re.compile("^Answer "))).to_be_visible()


def test_a_question_leads_to_an_answer_whose_citations_steps_and_trail_open(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    ask(page, BIRTHPLACE)
    wait_for_answer(page)
    expect(page.locator(".answer-text")).to_contain_text("London")
    marker = page.locator(".answer-text").get_by_role("button", name=re.compile("Source 1"))
    page.locator(".answer-text .marker").first.focus()
    expect(page.locator(".answer-source.on")).to_have_count(1)
    expect(page.locator("mark.borne")).to_have_text("London")
    edges = page.locator(".plan-edges")
    expect(edges).to_be_visible()
    marker.click()
    opened = page.get_by_role("region", name="Source 1")
    expect(opened.locator("mark")).to_have_text(BORN)
    link = opened.get_by_role("link", name="Open in the document")
    assert "chunk=" in str(link.get_attribute("href"))
    expect(opened.get_by_role("heading", name="Source 1")).to_be_focused()
    expect(edges).to_be_hidden()
    assert page.locator(".plan-scroll").evaluate("one => one.scrollWidth <= one.clientWidth"), "it is a list there"
    page.keyboard.press("Escape")
    expect(marker).to_be_focused()
    expect(opened).to_have_count(0)
    expect(edges).to_be_visible()
    page.locator(".plan-step", has_text="Who designed").click()
    step = page.get_by_role("region", name="Step 2 of 3")
    expect(step.locator("mark").first).to_contain_text(DESIGNED)
    expect(step.get_by_role("heading", name="Searches")).to_be_visible()
    page.keyboard.press("Escape")
    open_part(page, "Trail")
    _walk_trail(page)


def _walk_trail(page: Page) -> None:
    """Walks the trail by keyboard, reads it as a list, and shows the whole of it."""
    page.locator('.trail-node[data-node="question"]').focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".trail-node.step:focus")).to_have_count(1)
    assert 0 < page.locator(".trail-node.on").count() <= page.locator(".trail-node").count()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.locator(".inspector h2").first).to_be_focused()
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1000, "height": 800})
    page.get_by_role("button", name="Fit", exact=True).click()
    page.wait_for_function(
        "() => { const one = document.querySelector('.trail-frame'); return one.scrollWidth <= one.clientWidth }"
    )
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("button", name="As a list").click()
    outline = page.locator(".outline")
    expect(outline).to_contain_text("Who designed the Analytical Engine?")
    outline.get_by_role("button", name=re.compile("Source 1")).first.click()
    expect(page.get_by_role("region", name="Source 1")).to_be_visible()


def test_the_plan_fills_up_and_is_found_again_by_its_address(open_page: OpenPage, live: Live) -> None:
    page = open_page("/c/library")
    steps = page.locator(".plan-step")
    with live.reader.held("Who designed"):
        ask(page, BIRTHPLACE)
        expect(page.get_by_role("heading", name="Looking for the answer")).to_be_visible()
        expect(steps).to_have_count(3)
        expect(steps.nth(1)).to_contain_text("reading")
        step = page.get_by_role("button", name=re.compile("^Step 3 of 3 ?, needs step 2"))
        expect(step).to_contain_text("Where was (the answer of step 2) born?")
        page.reload()
        expect(steps.nth(1)).to_contain_text("reading")
        expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    wait_for_answer(page)
    expect(step).to_contain_text("Where was Charles Babbage born?")
    expect(steps.filter(has_text="Who designed")).to_contain_text("Charles Babbage")
    expect(steps.filter(has_text="Where was Charles Babbage born?")).to_contain_text("London")
    expect(page.locator(".plan-edges path").first).to_be_attached()


def test_a_question_is_asked_before_the_corpus_is_known(open_page: OpenPage) -> None:
    """Whoever comes to ask types at once, and the view must not be drawn anew under the hands."""
    page = open_page("/help")
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route(re.compile("/v1/corpora/library$"), hold)
    page.goto("/c/library")
    ask(page, MILL)
    assert waiting, "the view has asked for the corpus, and has not got it"
    wait_for_answer(page)
    page.unroute_all(behavior="ignoreErrors")


def test_an_answer_of_one_step_stands_without_a_plan(open_page: OpenPage, live: Live) -> None:
    page = open_page("/c/library")
    with live.reader.held():
        ask(page, MILL)
        expect(page.get_by_text(re.compile("passages found. They are read."))).to_be_visible()
        expect(page.locator(".plan-step")).to_have_count(0)
    wait_for_answer(page)
    expect(page.get_by_role("heading", name="How it was found")).to_be_visible()
    expect(page.locator(".plan-step, .trail-node, .verification")).to_have_count(0)
    assert page.locator(".view").inner_text().count(MILL) == 1
    for name in ("How it was found", "Trail", "What the answer hangs on"):
        open_part(page, name)
    expect(page.locator(".plan-step")).to_contain_text("The whole question")
    expect(page.locator(".trail-node.question")).to_have_count(1)
    expect(page.locator(".verification")).to_be_visible()
    assert page.locator(".view").inner_text().count(MILL) < 3
    expect(page.locator(".answer-source")).to_contain_text("page 2")
    page.locator(".answer-source").get_by_role("button").click()
    image = page.get_by_role("img", name=re.compile("Page 2 of The Analytical Engine"))
    expect(image).to_be_visible()
    page.wait_for_function("() => document.querySelector('.page-image img').naturalWidth > 0")


def test_a_quoted_answer_stands_once_beside_its_source_and_a_declined_quote_once(open_page: OpenPage) -> None:
    address = "/c/library?reasoner=extractive&reasoner_options="
    page = open_page(address + quote('{"min_probability": 0, "sentences": 1}'))
    ask(page, "Who was taught by Augustus De Morgan?")
    wait_for_answer(page)
    source = page.locator(".source-quote")
    expect(source).to_have_count(1)
    open_part(page, "How it was found")
    open_part(page, "Trail")
    expect(page.locator(".plan-step")).to_have_count(1)
    expect(page.locator(".trail-node.passage")).to_have_count(1)
    words = str(source.text_content())
    assert str(page.locator("main").text_content()).count(words) == 2, "the answer, and its source"
    repeated = ".plan-step-answer, .trail-node.question .trail-sub, .trail-node.passage .trail-sub"
    assert page.locator(repeated).count() == 0
    page.goto(address + quote('{"min_probability": 1}'))
    ask(page, "Who was taught by Augustus De Morgan?")
    expect(page.get_by_role("heading", name="No answer is given")).to_be_visible()
    words = str(page.locator(".source-quote").first.text_content())
    assert str(page.locator("main").text_content()).count(words) == 1


def test_a_declined_question_shows_the_nearest_passages(open_page: OpenPage, live: Live) -> None:
    question = "Which part of the Analytical Engine failed?"
    live.reader.known[question] = _known("the carry", "The carry failed")  # which no passage says
    page = open_page("/c/library")
    ask(page, question)
    expect(page.get_by_role("heading", name="No answer is given")).to_be_visible()
    answer = page.locator(".answer")
    expect(answer.get_by_role("heading", name="Nearest passages")).to_be_visible()
    near = answer.locator(".answer-source", has_text="The mill computed")
    expect(near).to_contain_text("engine.pdf")
    expect(near).to_contain_text("page 2")
    near.get_by_role("button").click()
    opened = page.get_by_role("region", name="Passage")
    expect(opened.locator(".opened-passage")).to_contain_text("The mill computed")
    expect(opened.get_by_role("img", name=re.compile("Page 2 .* with the passage marked"))).to_be_visible()
    expect(page.locator(".plan-step")).to_have_count(0)
    assert_accessible(page)
    page.goto("/c/library?filter=%7B%22year%22%3A1%7D")
    ask(page, "Is there nothing?")
    expect(page.get_by_role("heading", name="No answer is given")).to_be_visible()
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    expect(page.get_by_role("button", name="Copy", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Copy with sources")).to_have_count(0)


def test_a_question_that_is_cancelled_fails_or_is_gone_says_so(open_page: OpenPage, live: Live, watch: Any) -> None:
    watch.allow("status of 404 .*/questions/none")
    page = open_page("/c/library")
    with live.reader.held():
        ask(page, BIRTHPLACE)
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("heading", name="The question was cancelled")).to_be_visible()
    page.get_by_role("link", name="Change the question", exact=True).first.click()
    expect(page.get_by_label("Question", exact=True)).to_have_value(BIRTHPLACE)
    page.goto("/c/library")
    live.reader.failures.append(Reply(status=500, text="the engine has no more memory"))
    ask(page, "Who fails?")
    expect(page.get_by_role("heading", name="The question failed")).to_be_visible()
    expect(page.locator(".answer")).to_contain_text("the engine has no more memory")
    page.goto("/c/library/questions/none")
    expect(page.get_by_role("heading", name="There is no such question").first).to_be_visible()


def test_settings_stand_in_the_address_and_are_told(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    field = page.get_by_label("Question", exact=True)
    field.fill("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    expect(field).to_have_value("one\ntwo")
    expect(page).to_have_url(re.compile("/c/library$"))
    page.get_by_text("Settings").click()
    page.get_by_label("Passages per retrieval").fill("3")
    page.get_by_label("At most, calls of models").fill("5")
    page.locator("summary", has_text="As JSON").click()
    page.get_by_label("Filter as JSON").fill('{"language": ')
    expect(page.get_by_text("The filter is not JSON. At character 14, a value such as")).to_be_visible()
    field.fill(MILL)
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_disabled()
    page.get_by_label("Filter as JSON").fill("")
    expect(page.get_by_text("Differs from the defaults: 3 passages per retrieval; at most 5 calls.")).to_be_visible()
    assert "k=3" in page.url
    page.reload()
    expect(page.get_by_text("3 passages per retrieval").first).to_be_visible()
    ask(page, MILL)
    wait_for_answer(page)
    expect(page.get_by_text("With 3 passages per retrieval; at most 5 calls.")).to_be_visible()


def test_what_is_found_is_named_while_the_answer_is_looked_for(open_page: OpenPage, live: Live) -> None:
    page = open_page("/c/library")
    with live.reader.held(BIRTHPLACE):
        ask(page, BIRTHPLACE)
        answer = page.get_by_role("region", name="Looking for the answer")
        expect(answer.get_by_role("heading", name="Found so far")).to_be_visible()
        expect(answer).to_contain_text("passages found. They are read.")
        answer.locator(".source-title").first.click()
        found = page.get_by_role("region", name="Passage").get_by_role("link", name="Open in the document")
        expect(found).to_be_visible()
        assert_accessible(page, "what is found so far")
    wait_for_answer(page)
    expect(page.get_by_role("heading", name="Found so far")).to_have_count(0)


def test_an_empty_corpus_leads_to_its_documents_and_can_be_asked_after_the_first(
    own_corpus: str, open_page: OpenPage, live: Live
) -> None:
    page = open_page(f"/c/{own_corpus}")
    expect(page.get_by_role("heading", name="This corpus is empty")).to_be_visible()
    page.get_by_role("link", name="Add documents").click()
    expect(page).to_have_url(re.compile(f"/c/{own_corpus}/documents$"))
    page.goto(f"/c/{own_corpus}")
    expect(page.get_by_role("heading", name="This corpus is empty")).to_be_visible()
    live.add(own_corpus, [{"key": "note", "text": "Ada Lovelace wrote the first program."}])
    expect(page.get_by_label("Question", exact=True)).to_be_visible()


def test_a_source_has_the_label_of_its_page(own_corpus: str, open_page: OpenPage, live: Live) -> None:
    words = "The lantern was built by Augustin Fresnel."
    content = make_long_pdf([["A preface thanks the printers."], [words]], b"0<</S/r>>1<</S/D/P(F-)/St 3>>")
    live.add(own_corpus, files={"report.pdf": content})
    live.reader.known["Who built this lantern?"] = _known("Augustin Fresnel", words)
    page = open_page(f"/c/{own_corpus}")
    ask(page, "Who built this lantern?")
    wait_for_answer(page)
    expect(page.locator(".answer-source")).to_contain_text("page 2 (F-3)")
    page.locator(".answer-source").get_by_role("button").click()
    expect(page.locator(".page-image figcaption")).to_have_text("Page 2 (F-3)")


def test_it_is_checked_what_an_answer_hangs_on_and_its_trail_ends_with_facts(
    live: Live, own_corpus: str, open_page: OpenPage
) -> None:
    live.add(own_corpus, [_told("mill", "Ada Byron built the mill in Ockham.", [["Ada Byron", "built", "mill"]])])
    live.reader.known["Who built the mill?"] = _known("Ada Byron", "Ada Byron built the mill")
    page = open_page(f"/c/{own_corpus}")
    ask(page, "Who built the mill?")
    wait_for_answer(page)
    open_part(page, "Trail")
    fact = page.locator(".trail-node.fact")
    expect(fact).to_have_attribute("aria-label", "Fact: Ada Byron — built → Mill")
    fact.click()
    expect(page.get_by_role("region", name="Fact")).to_contain_text("Ada Byron built the mill")
    page.keyboard.press("Escape")
    open_part(page, "What the answer hangs on")
    page.get_by_role("button", name=re.compile("^Check what the answer hangs on: 1 document, about ")).click()
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text("Mill")
    expect(verdict.locator(".tag").first).to_have_text("needed")
    expect(page.get_by_text(re.compile("^It took "))).to_be_visible()
    expect(page.locator(".answer-source .tag")).to_have_text("needed")
    expect(page.locator(".trail-node.passage")).to_have_attribute("aria-label", re.compile("needed$"))
    page.reload()
    expect(page.locator(".verdict")).to_be_visible()


def test_questions_are_kept_searched_and_deleted(live: Live, own_corpus: str, open_page: OpenPage) -> None:
    live.add(own_corpus, [_told("tower", "Gustave Eiffel built a tower."), _told("sea", "The sea is salt.")])
    page = open_page(f"/c/{own_corpus}")
    for question in ("Who built a tower?", "What is the sea?"):
        ask(page, question)
        wait_for_answer(page)
        page.get_by_role("link", name="Ask", exact=True).click()
    expect(page.get_by_role("link", name="What is the sea?")).to_be_visible()
    page.get_by_role("link", name="All questions").click()
    rows = page.locator(".question-row")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("What is the sea?")
    expect(rows.last).to_contain_text("Gustave Eiffel built a tower.")
    page.get_by_role("button", name="Keep “Who built a tower?”").click()
    expect(page.get_by_role("button", name="Keep “Who built a tower?”")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Search in the questions").fill("TOWER")
    expect(rows).to_have_count(1)
    page.get_by_label("Search in the questions").fill("")
    page.get_by_label("Only kept ones").check()
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Delete “Who built a tower?”").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the question").click()
    expect(page.get_by_role("heading", name="No kept question")).to_be_visible()


def test_a_question_that_is_asked_again_says_what_changed_and_what_was_deleted_is_withdrawn(
    live: Live, own_corpus: str, open_page: OpenPage
) -> None:
    question = "How high is the tower?"
    live.add(own_corpus, [_told("tower", "The tower is 300 metres high.")])
    live.reader.known[question] = _known("300 metres", "The tower is 300 metres high.")
    page = open_page(f"/c/{own_corpus}")
    ask(page, question)
    wait_for_answer(page)
    ids = live.add(own_corpus, [_told("tower", "The tower is 330 metres high.")])
    live.reader.known[question] = _known("330 metres", "The tower is 330 metres high.")
    page.reload()
    expect(page.get_by_text("Documents of the corpus have changed since this was answered.")).to_be_visible()
    first = page.url
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_role("heading", name="What changed")).to_be_visible()
    assert page.url != first
    expect(page.locator("del")).to_have_text("300")
    expect(page.locator("ins")).to_have_text("330")
    expect(page.get_by_text("Cited in another version")).to_be_visible()
    deleted = live.client.delete(f"/v1/corpora/{own_corpus}/documents/{ids['tower']}")
    live.finish(deleted.json()["job"]["id"])
    page.reload()
    expect(page.get_by_role("heading", name="The answer was withdrawn")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("330 metres")


def test_a_wide_view_of_an_answer_is_accessible(open_page: OpenPage) -> None:
    """`test_axe.py` has all views as telephones and desks show them."""
    page = open_page("/c/library", width=2560)
    ask(page, BIRTHPLACE)
    wait_for_answer(page)
    open_part(page, "Trail")
    expect(page.locator(".trail-node, .outline-node").first).to_be_visible()
    open_part(page, "What the answer hangs on")
    assert_accessible(page)


def _told(key: str, text: str, triples: list[list[str]] | None = None) -> dict[str, Any]:
    return {"key": key, "title": key.title(), "text": text, "triples": triples or []}


def _known(answer: str, quote: str) -> Known:
    return Known(answer=answer, quote=quote)
