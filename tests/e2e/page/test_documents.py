"""The views of documents and jobs, as readers use them.

`own_corpus` comes first: a corpus is deleted after the pages are closed that may ask for more of it.
"""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.documents import make_long_pdf, make_pdf, make_scan
from tests.e2e.page.conftest import LIBRARY, OpenPage
from tests.e2e.page.live import Live
from tests.e2e.page.watch import Watch, assert_accessible

DOCUMENTS = f"/c/{LIBRARY}/documents"
SMILES = "# Signs\n\n" + "\n\n".join(f"Sign {n} is 🙂 or 𝄞, which are two units each, and {n} more." for n in range(40))
ROWS = ".windowed > li"


def ids_of(live: Live, corpus: str, key: str) -> tuple[str, list[dict[str, object]]]:
    """The id of a document, and its passages."""
    [document] = live.get(f"/v1/corpora/{corpus}/documents", key=key)["data"]
    chunks = live.get(f"/v1/corpora/{corpus}/documents/{document['id']}/chunks", limit=200)["data"]
    return document["id"], chunks


def test_a_long_list_has_few_elements(own_corpus: str, open_page: OpenPage, live: Live) -> None:
    documents = [{"key": f"notes/{n:04d}", "title": f"Note {n}", "text": f"Note {n}."} for n in range(450)]
    live.add(own_corpus, documents)
    page = open_page(f"/c/{own_corpus}/documents")
    expect(page.get_by_role("link", name="Note 0", exact=True)).to_be_visible()
    last = page.get_by_role("link", name="Note 449", exact=True)
    for _ in range(60):
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        assert page.locator(ROWS).count() < 80
        if last.count():
            break
        page.wait_for_timeout(200)
    expect(last).to_be_visible()
    for n in (447, 448):
        page.get_by_role("checkbox", name=f"Select Note {n}", exact=True).check()
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog", name="Delete 2 documents?")
    expect(dialog).to_contain_text("cannot be undone")
    dialog.get_by_role("button", name="Delete 2 documents").click()
    expect(page.get_by_role("checkbox", name="Select Note 448", exact=True)).to_have_count(0)
    assert live.get(f"/v1/corpora/{own_corpus}/documents", key="notes/0448")["data"] == []


def test_the_list_is_filtered_by_its_address(own_corpus: str, open_page: OpenPage, live: Live, watch: Watch) -> None:
    watch.allow("status of 422")
    letters = [{"key": f"a/{n}", "text": f"The a of {n}.", "metadata": {"year": n}} for n in range(3)]
    letters += [{"key": f"b/{n}", "text": f"The b of {n}.", "metadata": {"year": n}} for n in range(3)]
    live.add(own_corpus, letters, {"broken.pdf": b"no PDF"})
    page = open_page(f"/c/{own_corpus}/documents?state=failed")
    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.locator(ROWS)).to_contain_text("is no PDF file, or it is damaged")
    expect(page.get_by_label("State")).to_have_value("failed")
    page.get_by_label("State").select_option("")
    expect(page.locator(ROWS)).to_have_count(7)
    page.get_by_label("Key").fill("b/*")
    page.keyboard.press("Enter")
    expect(page.locator(ROWS)).to_have_count(3)
    expect(page).to_have_url(re.compile(r"key=b%2F\*"))
    page.locator("summary", has_text="Metadata").click()
    page.locator("summary", has_text="As JSON").click()
    page.get_by_label("Metadata as JSON").fill('{"year": {"$gte": 2}}')
    page.keyboard.press("Enter")
    expect(page.locator(ROWS)).to_have_count(1)
    page.get_by_label("Metadata as JSON").fill('{"year":')
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The filter is not JSON")
    page.get_by_label("Metadata as JSON").fill('{"year": {"$than": 2}}')
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("$than")
    page.get_by_label("Metadata as JSON").fill('{"year": 77}')
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Show all documents").click()
    expect(page.locator(ROWS)).to_have_count(7)
    page.get_by_label("Key").fill("b")
    page.keyboard.press("Enter")
    expect(page.get_by_text("A key is a whole one")).to_be_visible()
    page.get_by_role("button", name="Keys that begin with b").click()
    expect(page.locator(ROWS)).to_have_count(3)


def test_many_are_disabled_and_retried(own_corpus: str, open_page: OpenPage, live: Live) -> None:
    live.add(own_corpus, [{"key": "good", "text": "A text."}], {"broken.pdf": b"no PDF"})
    page = open_page(f"/c/{own_corpus}/documents")
    page.get_by_role("checkbox", name="Select all").check()
    expect(page.get_by_text("2 documents selected")).to_be_visible()
    page.get_by_role("button", name="Disable").click()
    expect(page.locator(ROWS).get_by_text("disabled")).to_have_count(2)
    page.get_by_role("checkbox", name="Select broken.pdf").check()
    page.get_by_role("button", name="Retry 1").click()
    expect(page.locator(".followed").get_by_text("1 failed")).to_be_visible()


def test_passages_are_shown_as_they_were_cut(own_corpus: str, open_page: OpenPage, live: Live) -> None:
    """Exactly, also with characters of two units, and beyond the passages that are shown at once."""
    live.add(own_corpus, files={"signs.md": SMILES.encode()})
    document, chunks = ids_of(live, own_corpus, "signs.md")
    page = open_page(f"/c/{own_corpus}/documents/{document}")
    assert len(chunks) > 2
    for chunk in chunks:
        number = page.locator(f"#chunk-{chunk['id']}")
        number.focus()
        page.keyboard.press("Enter")
        expect(number).to_have_attribute("aria-pressed", "true")
        assert "".join(page.locator(".chunk.selected").all_text_contents()) == chunk["text"]
        expect(page).to_have_url(re.compile(f"chunk={chunk['id']}"))
    expect(page.get_by_role("button", name="Next passage")).to_be_disabled()
    page.get_by_role("button", name="Previous passage").click()
    expect(page.locator(f"#chunk-{chunks[-2]['id']}")).to_have_attribute("aria-pressed", "true")
    page.locator(".chunk").first.click()
    expect(page.locator(f"#chunk-{chunks[0]['id']}")).to_have_attribute("aria-pressed", "true")


def test_a_link_leads_to_the_passage_and_marks_the_quote(
    own_corpus: str, open_page: OpenPage, live: Live, watch: Watch
) -> None:
    watch.allow("status of 404")
    text = "\n\n".join(f"## Part {n}\n\nThe river rose to mark {n} in that year, and fell again." for n in range(200))
    live.add(own_corpus, files={"river.md": text.encode()})
    document, chunks = ids_of(live, own_corpus, "river.md")
    chunk = chunks[150]
    page = open_page(f"/c/{own_corpus}/documents/{document}?chunk={chunk['id']}&quote=to+mark++150+in")
    expect(page.locator("mark")).to_have_text("to mark 150 in")
    expect(page.locator("mark")).to_be_in_viewport()
    expect(page.locator(f"#chunk-{chunk['id']}")).to_be_focused()
    expect(page.get_by_text("Passage 151 of 200")).to_be_visible()
    expect(page.locator(".chunk-number")).to_have_count(60)
    page.get_by_role("button", name="Earlier passages").click()
    expect(page.get_by_role("button", name="Passage 141, Part 140")).to_have_count(0)
    page.get_by_role("button", name="Later passages").click()
    expect(page.get_by_role("button", name="Passage 141, Part 140")).to_have_count(1)
    page.goto(f"/c/{own_corpus}/documents/{document}?chunk={'0' * 32}")
    expect(page.get_by_text("The passage of this link is no longer in the document")).to_be_visible()
    expect(page.get_by_role("button", name="Passage 1, Part 0")).to_be_visible()
    page.goto(f"/c/{own_corpus}/documents/nothing")
    expect(page.get_by_role("heading", name="This document is not here")).to_be_visible()


def test_the_page_of_a_pdf_stands_beside_its_text(open_page: OpenPage, live: Live) -> None:
    document, chunks = ids_of(live, LIBRARY, "engine.pdf")
    page = open_page(f"{DOCUMENTS}/{document}?chunk={chunks[1]['id']}")
    image = page.get_by_role("img", name="Page 2, with the passage highlighted")
    expect(image).to_be_visible()
    assert image.evaluate("one => one.naturalWidth") == 1400
    page.get_by_role("button", name="Next page").click()
    expect(page.get_by_role("img", name="Page 3", exact=True)).to_be_visible()
    expect(page.locator(".source-text")).to_contain_text("Henry Babbage")
    expect(page.get_by_role("button", name="Next page")).to_be_disabled()
    expect(page).to_have_url(re.compile(r"\?page=3$"))
    page.get_by_label("Page", exact=True).fill("1")
    page.keyboard.press("Enter")
    expect(page.locator(".source-text")).to_contain_text("designed by Charles Babbage")
    long = live.client.get(f"/v1/corpora/{LIBRARY}/documents/{document}/pages/1/image", params={"mark": "北" * 4000})
    assert (long.status_code, long.headers["X-Marked"]) == (200, "0"), "an address of 36 kB is taken"
    narrow = open_page(f"{DOCUMENTS}/{document}", width=360)
    expect(narrow.locator(".source-text")).to_be_visible()
    narrow.get_by_role("button", name="Page as an image").click()
    expect(narrow.get_by_role("img", name="Page 1")).to_be_visible()
    expect(narrow.locator(".source-text")).to_be_hidden()


def test_a_page_with_a_label_shows_it_beside_its_number(own_corpus: str, open_page: OpenPage, live: Live) -> None:
    pages = [["A preface thanks the printers."], ["The lantern of the harbour burns oil."], ["An index."]]
    live.add(own_corpus, files={"report.pdf": make_long_pdf(pages, b"0<</S/r>>1<</S/D/P(F-)/St 3>>2<</S/D/St 3>>")})
    document, _ = ids_of(live, own_corpus, "report.pdf")
    page = open_page(f"/c/{own_corpus}/search?q=lantern+of+the+harbour")
    expect(page.locator(".hit").first).to_contain_text("page 2 (F-3)")
    page.goto(f"/c/{own_corpus}/documents/{document}")
    expect(page.get_by_role("form", name="Pages")).to_contain_text("(i)")
    expect(page.get_by_text("Page 1 (i) of the PDF.")).to_be_visible()
    page.get_by_role("button", name="Next page").click()
    expect(page.get_by_text("Page 2 (F-3) of the PDF.")).to_be_visible()
    page.get_by_role("button", name="Next page").click()
    expect(page.get_by_text("Page 3 of the PDF.")).to_be_visible()
    expect(page.get_by_role("form", name="Pages")).not_to_contain_text("(")


def test_lines_of_a_pdf_are_read_as_paragraphs(own_corpus: str, open_page: OpenPage, live: Live) -> None:
    words = "The engine was never built in the lifetime of its designer, and nobody knew whether it would compute. "
    live.add(own_corpus, files={"engine.pdf": make_pdf([("p", words * 2)])})
    document, [passage] = ids_of(live, own_corpus, "engine.pdf")
    assert "\n" in str(passage["text"]), "what is stored has the lines of the file"
    page = open_page(f"/c/{own_corpus}/documents/{document}")
    shown = page.locator(".source-text")
    expect(shown).to_contain_text("nobody knew whether")
    assert "\n" not in str(page.locator(".source-text .chunk").first.evaluate("one => one.textContent")).strip()
    page.goto(f"/c/{own_corpus}/search?q=Was+the+engine+built")
    page.get_by_text("The whole passage").click()
    expect(page.locator(".passage-text")).to_contain_text("designer")
    assert "\n" not in str(page.locator(".passage-text").evaluate("one => one.textContent")).strip()


def test_a_table_of_a_passage_is_shown_as_a_table_whose_words_stay_whole(
    own_corpus: str, open_page: OpenPage, live: Live
) -> None:
    rates = "# Fees\n\nOur rates.\n\n| Name | Hourly rate |\n|---|---|\n| Tomas Okeke | 345 |\n| Bo Lind | 290 |\n"
    days = "2012/01/15,5.3,1.1,-3.3,3.2,snow\n2012/01/16,2.5,1.7,-2.8,5.0,snow\n"
    rows = f"date,precipitation,temp_max,temp_min,wind,weather\n{days}"
    live.add(own_corpus, files={"fees.md": rates.encode(), "weather.csv": rows.encode()})
    page = open_page(f"/c/{own_corpus}/search?q=Tomas+Okeke&k=1")
    page.get_by_text("The whole passage").click()
    table = page.locator(".passage-table")
    expect(table.get_by_role("columnheader", name="Hourly rate")).to_be_visible()
    expect(table.get_by_role("rowheader", name="Tomas Okeke")).to_be_visible()
    expect(table.get_by_role("cell", name="345")).to_be_visible()
    expect(page.locator(".passage-text")).to_have_text("Our rates.")
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"/c/{own_corpus}/search?q=weather+snow&k=1")
    page.get_by_text("The whole passage").click()
    weather = table.get_by_role("columnheader", name="precipitation")
    expect(weather).to_be_visible()
    assert weather.evaluate("one => one.clientHeight < 2 * parseFloat(getComputedStyle(one).lineHeight)"), "one line"
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "only the table scrolls"


def test_texts_run_in_their_own_direction(open_page: OpenPage, live: Live) -> None:
    page = open_page("/help", width=360)
    for key, direction in (("ar/الخوارزمي.txt", "rtl"), ("zh/北京大学.md", "ltr")):
        document, chunks = ids_of(live, LIBRARY, key)
        page.goto(f"{DOCUMENTS}/{document}?chunk={chunks[0]['id']}")
        text = page.locator(".source-text")
        expect(text).to_be_visible()
        assert text.evaluate("one => getComputedStyle(one).direction") == direction
        assert "".join(page.locator(".chunk.selected").all_text_contents()) == chunks[0]["text"]


def test_a_pdf_without_text_or_without_pages_is_shown_with_the_reason(
    own_corpus: str, open_page: OpenPage, live: Live, watch: Watch
) -> None:
    watch.allow("status of 422")  # the image, which shows that there is none
    sent = {"key": "sent", "chunks": [{"text": "One."}, {"text": "Two."}]}
    live.add(own_corpus, [sent], {"scan.pdf": make_scan(3), "broken.pdf": b"no PDF"})
    document, _ = ids_of(live, own_corpus, "scan.pdf")
    page = open_page(f"/c/{own_corpus}/documents/{document}")
    expect(page.locator(".notice.failed")).to_contain_text("needs OCR")
    expect(page.get_by_role("img", name="Page 1")).to_be_visible()
    expect(page.get_by_text("of 3")).to_be_visible()
    page.get_by_role("button", name="Retry").click()
    expect(page.locator(".followed")).to_contain_text("1 failed")
    document, _ = ids_of(live, own_corpus, "broken.pdf")
    page.goto(f"/c/{own_corpus}/documents/{document}")
    expect(page.get_by_role("heading", name="There is no text")).to_be_visible()
    expect(page.get_by_role("form", name="Pages")).to_have_count(0)
    expect(page.get_by_text("is no PDF file")).to_have_count(1)
    assert_accessible(page)
    document, _ = ids_of(live, own_corpus, "sent")
    page.goto(f"/c/{own_corpus}/documents/{document}")
    expect(page.get_by_text("Two.").last).to_be_visible()
    assert_accessible(page, "a document that was sent in passages")


def test_metadata_are_changed_and_the_document_disabled(own_corpus: str, open_page: OpenPage, live: Live) -> None:
    live.add(own_corpus, [{"key": "one", "title": "One", "text": "A text.", "metadata": {"year": 1, "old": True}}])
    document, _ = ids_of(live, own_corpus, "one")
    page = open_page(f"/c/{own_corpus}/documents/{document}")
    page.locator("summary", has_text="1 passage").click()
    page.get_by_role("button", name="Change title and metadata").click()
    metadata = page.get_by_label("Metadata, as JSON")
    metadata.fill('{"year": 2')
    told = "This is not JSON. At character 11, a comma or } is needed, but the text ends."
    expect(page.get_by_text(told)).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    metadata.fill('{"year": 2, "name": "بغداد"}')
    page.get_by_role("textbox", name="Title").fill("Two")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Two", exact=True)).to_be_visible()
    shown = live.get(f"/v1/corpora/{own_corpus}/documents/{document}")
    assert (shown["title"], shown["metadata"]) == ("Two", {"year": 2, "name": "بغداد"})
    page.get_by_role("button", name="Disable").click()
    expect(page.get_by_text("sees it until it is enabled")).to_be_visible()
    page.get_by_role("button", name="Enable").click()
    expect(page.get_by_role("button", name="Disable")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Original").click()
    assert b"A text." in Path(download.value.path()).read_bytes()


def test_who_may_see_a_document_is_shown_and_changed(own_corpus: str, open_page: OpenPage, live: Live) -> None:
    live.add(own_corpus, [{"key": "one", "text": "A text.", "access": ["group:legal", "user:anna"]}])
    document, _ = ids_of(live, own_corpus, "one")
    page = open_page(f"/c/{own_corpus}/documents")
    expect(page.locator(ROWS)).to_contain_text("group legal, user anna")
    page.get_by_role("link", name="one", exact=True).click()
    named = ["group:legal", "group:sales", "user:anna"]
    for choice, groups, shown, access in (
        ("users and groups", "legal\nsales\n", "group legal, group sales, user anna", named),
        ("nobody", None, "nobody", []),
        ("everybody who may see the corpus", None, "everybody", None),
    ):
        page.get_by_role("button", name="Change who may see it").click()
        dialog = page.get_by_role("dialog", name="Who may see this document?")
        dialog.get_by_label("It is for").select_option(label=choice)
        if groups is not None:
            expect(dialog.get_by_label("Users, one in each line")).to_have_value("anna")
            dialog.get_by_label("Groups, one in each line").fill(groups)
        assert_accessible(page)
        dialog.get_by_role("button", name="Save").click()
        expect(page.get_by_text(f"May be seen by {shown}")).to_be_visible()
        assert live.get(f"/v1/corpora/{own_corpus}/documents/{document}")["access"] == access
    page.get_by_role("button", name="Change who may see it").click()
    dialog.get_by_label("It is for").select_option(label="users and groups")
    expect(dialog.get_by_role("button", name="Save")).to_be_disabled()


def test_a_document_is_deleted_and_gone_by_keyboard(
    own_corpus: str, open_page: OpenPage, live: Live, watch: Watch
) -> None:
    watch.allow("status of 404")
    live.add(own_corpus, [{"key": "one", "title": "The note", "text": "A text."}, {"key": "two", "text": "Another."}])
    page = open_page(f"/c/{own_corpus}/documents")
    page.get_by_role("link", name="The note").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The note")).to_be_focused()
    page.get_by_role("button", name="Delete…").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Delete this document?")
    expect(dialog).to_contain_text("This cannot be undone")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Delete…")).to_be_focused()
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Delete the document").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The document is gone")).to_be_visible()
    address = page.url
    page.get_by_role("link", name="To the documents").click()
    expect(page.locator(ROWS)).to_have_count(1)
    page.goto(address)
    expect(page.get_by_role("heading", name="This document is not here")).to_be_visible()


def test_a_job_is_followed_and_cancelled(open_page: OpenPage, live: Live) -> None:
    live.create("slow", extractor="llm")
    with live.reader.held():
        sent = {"documents": [{"key": "one", "text": "Ada wrote."}]}
        job = live.client.post("/v1/corpora/slow/documents", json=sent).json()["job"]["id"]
        page = open_page("/c/slow/documents")
        page.locator(".followed").get_by_role("link", name="Adding documents").click()
        expect(page).to_have_url(re.compile(f"/c/slow/jobs/{job}$"))
        expect(page.locator(".tag", has_text="running")).to_be_visible()
        expect(page.get_by_role("progressbar")).to_be_visible()
        page.get_by_role("button", name="Cancel the job…").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()
        live.reader.release()
        expect(page.locator(".tag", has_text="cancelled")).to_be_visible()
        expect(page.get_by_text("1 cancelled")).to_be_visible()
        page.get_by_role("link", name="All jobs").click()
        expect(page.get_by_role("link", name="Adding documents")).to_be_visible()
    live.client.delete("/v1/corpora/slow")


def test_what_does_not_exist_is_told(open_page: OpenPage, watch: Watch) -> None:
    watch.allow("status of 404")
    page = open_page("/c/nowhere/documents")
    expect(page.get_by_role("alert")).to_contain_text("nowhere")
    page.goto(f"/c/{LIBRARY}/jobs/nothing")
    expect(page.get_by_role("alert")).to_contain_text("nothing")
    page.goto("/corpora/people")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
