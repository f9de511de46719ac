"""Titles from the covers of filings, and titles that are names of files."""

import pytest

from core.ports.indexing import Source
from indexer.loaders import html, txt
from indexer.loading.covers import read_cover
from indexer.loading.properties import read_title

_COVER = """UNITED STATES
SECURITIES AND EXCHANGE COMMISSION

FORM | 10-Q

☒ QUARTERLY REPORT PURSUANT TO SECTION 13 OF THE SECURITIES EXCHANGE ACT OF 1934

FOR THE QUARTERLY PERIOD ENDED JUNE 30, 2025

or
☐ TRANSITION REPORT
For the transition period from to

Norwick Tools, Inc. |
(Exact name of registrant as specified in its charter)

Delaware | 95-3261426
"""

_CURRENT = """Form 8-K

Date of Report (Date of earliest event reported): May 2, 2024

NORWICK TOOLS, INC.
    (Exact Name of Registrant as Specified in Charter)
"""


@pytest.mark.parametrize(
    ("cover", "file_name", "title"),
    [
        (_COVER, "nwk-20250630", "Norwick Tools, Inc. Form 10-Q, quarter ended June 30, 2025"),
        (_COVER, "nwk 2026 Q1", "Norwick Tools, Inc. Form 10-Q (nwk 2026 Q1)"),
        (
            _COVER.replace("10-Q", "10-K/A").replace("QUARTERLY PERIOD", "FISCAL YEAR"),
            "annual",
            "Norwick Tools, Inc. Form 10-K/A, year ended June 30, 2025",
        ),
        (
            _CURRENT,
            "d1",
            "NORWICK TOOLS, INC. Form 8-K, May 2, 2024",
        ),
        (
            _COVER.replace(" |\n(Exact", "\n________\n(Exact"),
            "nwk 2025 Q2",
            "Norwick Tools, Inc. Form 10-Q (nwk 2025 Q2)",
        ),
        (_COVER.replace("Norwick Tools, Inc. |", "________"), "nwk", ""),
        (_COVER.replace("FORM | 10-Q", ""), "nwk", ""),
        ("The exact name of the registrant as specified in its charter is told on form 10-K.", "note", ""),
        ("x\n" * 5000 + _COVER, "quoted", ""),
    ],
)
def test_a_filing_is_called_by_its_cover(cover: str, file_name: str, title: str) -> None:
    assert read_cover(cover, file_name) == title


def test_pages_and_texts_have_the_title_of_their_cover_unless_the_sender_gives_one() -> None:
    expected = "Norwick Tools, Inc. Form 10-Q, quarter ended June 30, 2025"
    page = f"<title>nwk-20250630</title><pre>{_COVER}</pre>"
    for loader, text, media_type in (
        (html.build(html.Config(), None), page, "text/html"),
        (txt.build(txt.Config(), None), _COVER, "text/plain"),
    ):
        for given in (None, "Given"):
            source = Source(key="a/nwk", content=text.encode(), media_type=media_type, title=given, metadata={})
            assert loader.load(source).title == (given or expected)


@pytest.mark.parametrize("title", ["hd-20230730", "ex10_1.htm", "Document", "Document 1", "notes.txt", "gme20230729a"])
def test_a_name_of_a_file_is_no_title(title: str) -> None:
    assert read_title(title) == ""
    text = f"{title}\n\nThe lease begins on the first of May, and it ends ten years after that day in any case.\n"
    source = Source(key="Lease of Halden.txt", content=text.encode(), media_type="text/plain", title=None, metadata={})
    assert txt.build(txt.Config(), None).load(source).title == "Lease of Halden"


@pytest.mark.parametrize(
    "title", ["RFC 9110", "ISO-27001", "Agenda 2030", "Document management", "Python 3.12", "B-17"]
)
def test_a_short_name_is_a_title(title: str) -> None:
    assert read_title(title) == title
