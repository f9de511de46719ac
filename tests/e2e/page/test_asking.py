"""The views of asking: a question from the field to its answer, its plan, passages and trail, and kept questions."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, expect

from tests.documents import make_long_pdf
from tests.e2e.page.conftest import OpenPage, open_part
from tests.e2e.page.library import ATTACK, BIRTHPLACE, BORN, DESIGNED, HOSTILE, MILL
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


def test_a_question_leads_to_an_answer_whose_citations_open(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    ask(page, BIRTHPLACE)
    wait_for_answer(page)
    expect(page.locator(".answer-text")).to_contain_text("London")
    marker = page.locator(".answer-text").get_by_role("button", name=re.compile("Source 1"))
    marker.click()
    opened = page.get_by_role("region", name="Source 1")
    expect(opened.locator("mark")).to_have_text(BORN)
    link = opened.get_by_role("link", name="Open in the document")
    assert "chunk=" in str(link.get_attribute("href"))
    expect(opened.get_by_role("heading", name="Source 1")).to_be_focused()
    page.keyboard.press("Escape")
    expect(marker).to_be_focused()
    expect(opened).to_have_count(0)


def test_a_marker_marks_its_source_and_the_words_that_it_bears(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    ask(page, BIRTHPLACE)
    wait_for_answer(page)
    page.locator(".answer-text .marker").first.focus()
    expect(page.locator(".answer-source.on")).to_have_count(1)
    expect(page.locator("mark.borne")).to_have_text("London")


def test_the_plan_fills_up_and_is_found_again_by_its_address(open_page: OpenPage, live: Live) -> None:
    page = open_page("/c/library")
    steps = page.locator(".plan-step")
    with live.reader.held("Who designed"):
        ask(page, BIRTHPLACE)
        expect(page.get_by_role("heading", name="Looking for the answer")).to_be_visible()
        expect(steps).to_have_count(3)
        expect(steps.nth(1)).to_contain_text("reading")
        page.reload()
        expect(steps.nth(1)).to_contain_text("reading")
        expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    wait_for_answer(page)
    expect(steps.filter(has_text="Who designed")).to_contain_text("Charles Babbage")
    expect(steps.filter(has_text="Where was Charles Babbage born?")).to_contain_text("London")
    expect(page.locator(".plan-edges path").first).to_be_attached()


def test_the_plan_is_a_list_beside_an_open_source(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    ask(page, BIRTHPLACE)
    wait_for_answer(page)
    edges = page.locator(".plan-edges")
    expect(edges).to_be_visible()
    page.locator(".answer-text .marker").first.click()
    expect(page.get_by_role("region", name="Source 1")).to_be_visible()
    expect(edges).to_be_hidden()
    assert page.locator(".plan-scroll").evaluate("one => one.scrollWidth <= one.clientWidth")
    page.keyboard.press("Escape")
    expect(edges).to_be_visible()


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


def test_steps_that_wait_show_no_tags(open_page: OpenPage, live: Live) -> None:
    page = open_page("/c/library")
    with live.reader.held("Who designed"):
        ask(page, BIRTHPLACE)
        step = page.get_by_role("button", name=re.compile("^Step 3 of 3 ?, needs step 2"))
        expect(step).to_contain_text("Where was (the answer of step 2) born?")
    wait_for_answer(page)
    expect(step).to_contain_text("Where was Charles Babbage born?")


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


def test_a_quoted_answer_stands_once_beside_its_source(open_page: OpenPage) -> None:
    options = quote('{"min_probability": 0, "sentences": 1}')
    page = open_page(f"/c/library?reasoner=extractive&reasoner_options={options}")
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
    assert (
        page.locator(".plan-step-answer, .trail-node.question .trail-sub, .trail-node.passage .trail-sub").count() == 0
    )


def test_what_is_no_answer_is_not_copied(open_page: OpenPage) -> None:
    page = open_page("/c/library?filter=%7B%22year%22%3A1%7D")
    ask(page, "Is there nothing?")
    expect(page.get_by_role("heading", name="No answer is given")).to_be_visible()
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    expect(page.get_by_role("button", name="Copy", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Copy with sources")).to_have_count(0)


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


def test_a_declined_quote_stands_once(open_page: OpenPage) -> None:
    options = quote('{"min_probability": 1}')
    page = open_page(f"/c/library?reasoner=extractive&reasoner_options={options}")
    ask(page, "Who was taught by Augustus De Morgan?")
    expect(page.get_by_role("heading", name="No answer is given")).to_be_visible()
    words = str(page.locator(".source-quote").first.text_content())
    assert str(page.locator("main").text_content()).count(words) == 1


def test_a_step_opens_with_its_passages(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    ask(page, BIRTHPLACE)
    wait_for_answer(page)
    page.locator(".plan-step", has_text="Who designed").click()
    opened = page.get_by_role("region", name="Step 2 of 3")
    expect(opened.locator("mark").first).to_contain_text(DESIGNED)
    expect(opened.get_by_role("heading", name="Searches")).to_be_visible()


def test_a_question_is_cancelled(open_page: OpenPage, live: Live) -> None:
    page = open_page("/c/library")
    with live.reader.held():
        ask(page, BIRTHPLACE)
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("heading", name="The question was cancelled")).to_be_visible()
    page.get_by_role("link", name="Change the question", exact=True).first.click()
    expect(page.get_by_label("Question", exact=True)).to_have_value(BIRTHPLACE)


def test_a_model_that_fails_is_told_in_words(open_page: OpenPage, live: Live) -> None:
    page = open_page("/c/library")
    live.reader.failures.append(Reply(status=500, text="the engine has no more memory"))
    ask(page, "Who fails?")
    expect(page.get_by_role("heading", name="The question failed")).to_be_visible()
    expect(page.locator(".answer")).to_contain_text("the engine has no more memory")


def test_settings_stand_in_the_address_and_are_told(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    page.get_by_text("Settings").click()
    page.get_by_label("Passages per retrieval").fill("3")
    page.get_by_label("At most, calls of models").fill("5")
    page.locator("summary", has_text="As JSON").click()
    page.get_by_label("Filter as JSON").fill('{"language": ')
    expect(page.get_by_text("The filter is not JSON. At character 14, a value such as")).to_be_visible()
    page.get_by_label("Question", exact=True).fill(MILL)
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_disabled()
    page.get_by_label("Filter as JSON").fill("")
    expect(page.get_by_text("Differs from the defaults: 3 passages per retrieval; at most 5 calls.")).to_be_visible()
    assert "k=3" in page.url
    page.reload()
    expect(page.get_by_text("3 passages per retrieval").first).to_be_visible()
    ask(page, MILL)
    wait_for_answer(page)
    expect(page.get_by_text("With 3 passages per retrieval; at most 5 calls.")).to_be_visible()


def test_shift_enter_breaks_the_line(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    field = page.get_by_label("Question", exact=True)
    field.fill("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    expect(field).to_have_value("one\ntwo")
    expect(page).to_have_url(re.compile("/c/library$"))


def test_what_is_found_is_named_while_the_answer_is_looked_for(open_page: OpenPage, live: Live) -> None:
    page = open_page("/c/library")
    with live.reader.held(BIRTHPLACE):
        ask(page, BIRTHPLACE)
        answer = page.get_by_role("region", name="Looking for the answer")
        expect(answer.get_by_role("heading", name="Found so far")).to_be_visible()
        expect(answer).to_contain_text("passages found. They are read.")
        answer.locator(".source-title").first.click()
        expect(
            page.get_by_role("region", name="Passage").get_by_role("link", name="Open in the document")
        ).to_be_visible()
        assert_accessible(page, "what is found so far")
    wait_for_answer(page)
    expect(page.get_by_role("heading", name="Found so far")).to_have_count(0)


def test_a_corpus_can_be_asked_as_soon_as_its_first_document_is_indexed(
    own_corpus: str, open_page: OpenPage, live: Live
) -> None:
    page = open_page(f"/c/{own_corpus}")
    expect(page.get_by_role("heading", name="This corpus is empty")).to_be_visible()
    live.add(own_corpus, [{"key": "note", "text": "Ada Lovelace wrote the first program."}])
    expect(page.get_by_label("Question", exact=True)).to_be_visible()


def test_an_empty_corpus_leads_to_its_documents(own_corpus: str, open_page: OpenPage) -> None:
    page = open_page(f"/c/{own_corpus}")
    expect(page.get_by_role("heading", name="This corpus is empty")).to_be_visible()
    page.get_by_role("link", name="Add documents").click()
    expect(page).to_have_url(re.compile(f"/c/{own_corpus}/documents$"))


def test_an_answer_full_of_attacks_is_text(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    ask(page, ATTACK)
    wait_for_answer(page)
    expect(page.locator(".answer-text")).to_contain_text("<script>owned=1</script>")
    expect(page.locator(".answer-text")).to_contain_text("![picture](http://evil.invalid/b.png)")
    assert page.locator(".answer-text a, .answer-text img, .answer-text script, .answer-text iframe").count() == 0
    assert HOSTILE.split("![", maxsplit=1)[0] in str(page.locator(".answer-text").text_content())


def test_a_citation_of_a_pdf_shows_its_page(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    ask(page, MILL)
    wait_for_answer(page)
    expect(page.locator(".answer-source")).to_contain_text("page 2")
    page.locator(".answer-source").get_by_role("button").click()
    image = page.get_by_role("img", name=re.compile("Page 2 of The Analytical Engine"))
    expect(image).to_be_visible()
    page.wait_for_function("() => document.querySelector('.page-image img').naturalWidth > 0")


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


def test_it_is_checked_what_an_answer_hangs_on(live: Live, own_corpus: str, open_page: OpenPage) -> None:
    live.add(own_corpus, [_told("tower", "Gustave Eiffel built the tower.")])
    live.reader.known["Who built this tower?"] = _known("Gustave Eiffel", "Gustave Eiffel built the tower.")
    page = open_page(f"/c/{own_corpus}")
    ask(page, "Who built this tower?")
    wait_for_answer(page)
    open_part(page, "Trail")
    open_part(page, "What the answer hangs on")
    page.get_by_role("button", name=re.compile("^Check what the answer hangs on: 1 document, about ")).click()
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text("Tower")
    expect(verdict.locator(".tag").first).to_have_text("needed")
    expect(page.get_by_text(re.compile("^It took "))).to_be_visible()
    expect(page.locator(".answer-source .tag")).to_have_text("needed")
    expect(page.locator(".trail-node.passage")).to_have_attribute("aria-label", re.compile("needed$"))
    page.reload()
    expect(page.locator(".verdict")).to_be_visible()


def test_the_trail_is_walked_by_keyboard(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    ask(page, BIRTHPLACE)
    wait_for_answer(page)
    open_part(page, "Trail")
    page.locator('.trail-node[data-node="question"]').focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".trail-node.step:focus")).to_have_count(1)
    assert 0 < page.locator(".trail-node.on").count() <= page.locator(".trail-node").count()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.locator(".inspector h2").first).to_be_focused()
    page.get_by_role("button", name="As a list").click()
    outline = page.locator(".outline")
    expect(outline).to_contain_text("Who designed the Analytical Engine?")
    outline.get_by_role("button", name=re.compile("Source 1")).first.click()
    expect(page.get_by_role("region", name="Source 1")).to_be_visible()


def test_fit_shows_the_whole_trail(open_page: OpenPage) -> None:
    page = open_page("/c/library", width=1000)
    ask(page, BIRTHPLACE)
    wait_for_answer(page)
    open_part(page, "Trail")
    expect(page.locator(".trail-node.passage").first).to_be_attached()
    page.get_by_role("button", name="Fit", exact=True).click()
    page.wait_for_function(
        "() => { const one = document.querySelector('.trail-frame'); return one.scrollWidth <= one.clientWidth }"
    )


def test_the_trail_ends_with_facts_that_its_passages_assert(live: Live, own_corpus: str, open_page: OpenPage) -> None:
    live.add(own_corpus, [_told("mill", "Ada Byron built the mill in Ockham.", [["Ada Byron", "built", "mill"]])])
    page = open_page(f"/c/{own_corpus}")
    live.reader.known["Who built the mill?"] = _known("Ada Byron", "Ada Byron built the mill")
    ask(page, "Who built the mill?")
    wait_for_answer(page)
    open_part(page, "Trail")
    fact = page.locator(".trail-node.fact")
    expect(fact).to_have_attribute("aria-label", "Fact: Ada Byron — built → Mill")
    fact.click()
    expect(page.get_by_role("region", name="Fact")).to_contain_text("Ada Byron built the mill")


def test_the_trail_is_exported_as_a_file_of_its_own(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page("/c/library")
    ask(page, ATTACK)
    wait_for_answer(page)
    open_part(page, "Trail")
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG").click()
    path = tmp_path / "trail.svg"
    download.value.save_as(path)
    root = ET.parse(path).getroot()  # noqa: S314 - the page's own file
    names = {one.tag.rpartition("}")[2] for one in root.iter()}
    assert names == {"svg", "title", "g", "rect", "path", "text"}
    attributes = {name for one in root.iter() for name in one.attrib}
    assert attributes.isdisjoint({"class", "style", "href", "onclick"})
    rects = [one for one in root.iter() if one.tag.endswith("rect")]
    assert all(one.get("fill", "").startswith(("rgb", "color(")) for one in rects)
    assert ATTACK in "".join(root.itertext())


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


def test_a_question_that_is_asked_again_says_what_changed(live: Live, own_corpus: str, open_page: OpenPage) -> None:
    question = "How high is the tower?"
    live.add(own_corpus, [_told("tower", "The tower is 300 metres high.")])
    live.reader.known[question] = _known("300 metres", "The tower is 300 metres high.")
    page = open_page(f"/c/{own_corpus}")
    ask(page, question)
    wait_for_answer(page)
    live.add(own_corpus, [_told("tower", "The tower is 330 metres high.")])
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


def test_what_was_deleted_is_withdrawn(live: Live, own_corpus: str, open_page: OpenPage) -> None:
    ids = live.add(own_corpus, [_told("tower", "The tower is 300 metres high.")])
    page = open_page(f"/c/{own_corpus}")
    ask(page, "What is high?")
    wait_for_answer(page)
    deleted = live.client.delete(f"/v1/corpora/{own_corpus}/documents/{ids['tower']}")
    live.finish(deleted.json()["job"]["id"])
    page.reload()
    expect(page.get_by_role("heading", name="The answer was withdrawn")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("300 metres")


def test_a_question_that_is_gone_says_so(open_page: OpenPage, watch: Any) -> None:
    watch.allow("status of 404 .*/questions/none")
    page = open_page("/c/library/questions/none")
    expect(page.get_by_role("heading", name="There is no such question").first).to_be_visible()


@pytest.mark.parametrize(("width", "colours"), [(360, "dark"), (1280, "light"), (2560, "dark")])
def test_every_state_fits_and_is_accessible(open_page: OpenPage, width: int, colours: str) -> None:
    page = open_page("/c/library", width=width, colours=colours)
    expect(page.get_by_label("Question", exact=True)).to_be_visible()
    page.get_by_text("Settings").click()
    _assert_fits(page, width)
    ask(page, BIRTHPLACE)
    wait_for_answer(page)
    open_part(page, "Trail")
    expect(page.locator(".trail-node, .outline-node").first).to_be_visible()
    open_part(page, "What the answer hangs on")
    _assert_fits(page, width)
    page.locator(".plan-step").first.click()
    _assert_fits(page, width)
    page.keyboard.press("Escape")
    page.goto("/c/library/questions")
    expect(page.locator(".question-row").first).to_be_visible()
    _assert_fits(page, width)


def test_the_words_of_two_texts_are_compared(open_page: OpenPage) -> None:
    page = open_page("/c/library")
    compare = """async ([before, after]) => {
        const main = document.querySelector('script[type=module]').src;
        const { compareWords } = await import(new URL('asking/kept/words.js', main));
        return compareWords(before, after).map(({ text, side }) => `${side}:${text}`);
    }"""
    assert page.evaluate(compare, ["The tower is 300 m high.", "The tower is 330 m high."]) == [
        "both:The tower is ",
        "before:300",
        "after:330",
        "both: m high.",
    ]
    chinese = ["北京大学位于北京", "北京大学位于上海"]
    assert page.evaluate(compare, chinese) == ["both:北京大学位于", "before:北京", "after:上海"]
    assert page.evaluate(compare, ["", ""]) == []
    assert page.evaluate(compare, ["a a", "a"]) == ["both:a", "before: a"]


def _assert_fits(page: Page, width: int) -> None:
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    assert_accessible(page)


def _told(key: str, text: str, triples: list[list[str]] | None = None) -> dict[str, Any]:
    return {"key": key, "title": key.title(), "text": text, "triples": triples or []}


def _known(answer: str, quote: str) -> Known:
    return Known(answer=answer, quote=quote)
