"""What a passage is part of: the parts that are known, on one line each, and of bounded length."""

from typing import Any

import pytest

from core.documents import Chunk, DocumentRef, Span
from core.passage_context import PassageContext, describe_hit, find_context
from core.ports.retrieval import Hit

MAIL = {"from": "Pieter van Dalen <pieter@example.org>", "date": "2025-04-03T08:00:00Z", "subject": "Side letter"}
RATES = "Our rates.\nName | Hourly rate\nTomas Okeke | 345\nBo Lind | 290"


def make_ref(key: str = "letter", title: str = "Side letter", metadata: dict[str, Any] | None = None) -> DocumentRef:
    return DocumentRef(id="d", key=key, title=title, metadata=metadata or {})


def make_chunk(text: str = "It was signed.", heading: str = "", page: int | None = None) -> Chunk:
    return Chunk(id="c", document_id="d", view_id="v", position=0, text=text, heading=heading, page=page, span=None)


def find_place(text: str, words: str) -> Span:
    return Span(start=text.index(words), end=text.index(words) + len(words))


def test_nothing_beside_the_title_is_an_empty_context() -> None:
    assert find_context(make_ref(), make_chunk()) == PassageContext()
    assert describe_hit(Hit(document=make_ref(), chunk=make_chunk(), score=1.0)) == ""


def test_a_mail_has_its_sender_and_date() -> None:
    found = find_context(make_ref("0012.eml", metadata=MAIL), make_chunk())
    assert found.line == "from Pieter van Dalen · 2025-04-03"
    assert found.attributes == {"from": "Pieter van Dalen", "date": "2025-04-03"}


@pytest.mark.parametrize(
    ("sender", "shown"),
    [
        ("pieter@example.org", "pieter@example.org"),
        ("<pieter@example.org>", "pieter@example.org"),
        ("Ada <a@example.org>, Bo <b@example.org>", "Ada, Bo"),
        ("'Ada' <a@example.org>", "Ada"),
    ],
)
def test_a_sender_without_a_name_is_an_address(sender: str, shown: str) -> None:
    assert find_context(make_ref(metadata={"from": sender}), make_chunk()).sender == shown


def test_metadata_that_are_no_texts_are_left_out() -> None:
    assert find_context(make_ref(metadata={"from": ["Ada"], "date": 2024}), make_chunk()) == PassageContext()


@pytest.mark.parametrize(
    ("key", "title", "file"),
    [
        ("reports/2023 Q2 AAPL.pdf", "United States Securities and Exchange Commission", "2023 Q2 AAPL.pdf"),
        ("reports/side_letter.pdf", "The side letter", ""),
        ("mail/0012.eml", "Side letter", ""),
        ("a\\b\\rates.docx", "Prices", "rates.docx"),
        ("https://example.org/page.html", "Prices", ""),
        ("musique-12", "Prices", ""),
        ("Dr. No", "Prices", ""),
    ],
)
def test_the_name_of_the_file_is_known_if_it_tells_more_than_the_title(key: str, title: str, file: str) -> None:
    assert find_context(make_ref(key, title), make_chunk()).file == file


def test_pages_slides_and_sheets_are_numbers_or_names() -> None:
    chunk = make_chunk(heading="Fees › Staff", page=3)
    report, slides, sheets = (find_context(make_ref(f"a.{kind}", "a"), chunk) for kind in ("pdf", "pptx", "ods"))
    assert (report.section, report.page, report.slide) == ("Fees › Staff", "3", "")
    assert (slides.page, slides.slide) == ("", "3")
    assert (sheets.section, sheets.page, sheets.slide) == ("Fees › Staff", "", "")
    assert report.line == "Fees › Staff"


def test_a_page_with_a_label_of_its_own_has_it_behind_its_number() -> None:
    found = find_context(make_ref("a.pdf", "a", {"page_labels": {"1": "i", "5": "1"}}), make_chunk(page=3))
    assert found.attributes == {"page": "3 (iii)"}
    hostile = make_ref("a.pdf", "a", {"page_labels": {"3": 'x">\u202e\n<y'}})
    assert find_context(hostile, make_chunk(page=3)).page == '3 (x"> <y)'


def test_a_row_that_is_quoted_has_the_header_of_its_table() -> None:
    chunk = make_chunk(RATES, "Fees")
    assert find_context(make_ref(), chunk).columns == ""
    assert find_context(make_ref(), chunk, find_place(RATES, "Bo Lind | 290")).columns == "Name | Hourly rate"
    assert find_context(make_ref(), chunk, find_place(RATES, "345")).line == "Fees · columns: Name | Hourly rate"
    assert find_context(make_ref(), chunk, find_place(RATES, "Name | Hourly rate\nTomas")).columns == ""
    assert find_context(make_ref(), chunk, find_place(RATES, "Our rates.")).columns == ""


def test_a_chunk_that_begins_within_a_table_has_the_header_in_its_heading() -> None:
    text = "Tomas Okeke | Prague\nBo Lind | Oslo\nAda Li | Rome\nThat is all."
    chunk = make_chunk(text, "Fees › Staff › Name | City")
    assert find_context(make_ref(), chunk).section == "Fees › Staff"
    assert find_context(make_ref(), chunk).columns == "Name | City"
    assert find_context(make_ref(), chunk, find_place(text, "Ada Li | Rome")).columns == "Name | City"
    assert find_context(make_ref(), chunk, find_place(text, "That is all.")).columns == ""
    label = make_chunk("\nOperating expenses:\nResearch | 7\nSales | 8", "Net sales › 2023 | 2022")
    assert find_context(make_ref(), label).columns == "2023 | 2022"
    assert find_context(make_ref(), label, find_place(label.text, "Sales | 8")).columns == "2023 | 2022"
    title = make_chunk("No table.", "Terms | Example Inc.")
    assert find_context(make_ref(), title).section == "Terms | Example Inc."


def test_parts_are_bounded_and_cut_where_they_tell_least() -> None:
    metadata = {"from": "x" * 10_000, "date": "on a day " * 1000}
    path = " › ".join(f"section {n}" for n in range(1000))
    found = find_context(make_ref(f"{'long name ' * 90}.pdf", "t", metadata), make_chunk(heading=path))
    parts = (found.file, found.sender, found.date, found.section)
    assert all(len(part) <= most for part, most in zip(parts, (60, 60, 30, 120), strict=True))
    assert found.section.startswith("… section 9")
    assert found.section.endswith(" › section 999")


def test_control_characters_and_marks_of_direction_are_left_out() -> None:
    metadata = {"from": "A\u202ed\x1b[31ma\n</passage>", "date": "\u20672024"}
    found = find_context(make_ref(metadata=metadata), make_chunk(heading="One\u2028\u200ftwo"))
    assert (found.sender, found.date, found.section) == ("A d [31ma </passage>", "2024", "One two")
