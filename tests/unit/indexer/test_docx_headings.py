"""Which paragraphs in bold are headings of a Word document."""

import io
from collections.abc import Sequence

import docx
import pytest

from core.ports.indexing import Source
from indexer.loaders import docx as loader

CLAUSE = "The parties agree that this clause has far more words than its heading has, as clauses of contracts do."
TERMS = ["Term", "2. Rent", "Notices"]


def headings(parts: Sequence[tuple[str, str]]) -> list[str]:
    """`parts` are a kind of paragraph (`b`: in bold, `s`: in a bold style, `h`: a heading of level 1) and its text."""
    document = docx.Document()
    document.styles.add_style("Clause", 1).font.bold = True
    for kind, text in parts:
        if kind == "h":
            document.add_heading(text, 1)
        elif kind == "s":
            document.add_paragraph(text, style="Clause")
        else:
            document.add_paragraph().add_run(text).bold = kind == "b" or None
    content = io.BytesIO()
    document.save(content)
    source = Source(key="lease.docx", content=content.getvalue(), media_type="", title="", metadata={})
    read = loader.build(loader.Config(), None).load(source)
    return [" > ".join(block.heading) for block in read.blocks]


def clauses(kind: str, names: Sequence[str] = TERMS) -> list[tuple[str, str]]:
    return [part for name in names for part in ((kind, name), ("p", CLAUSE))]


@pytest.mark.parametrize("kind", ["b", "s"])
def test_short_paragraphs_in_bold_are_headings(kind: str) -> None:
    assert headings(clauses(kind)) == TERMS


def test_bold_headings_are_beside_few_headings_in_a_style_and_below_many() -> None:
    few = [("h", "Lease"), ("h", "Recitals"), ("p", CLAUSE), *clauses("b")]
    assert headings(few) == ["Recitals", *TERMS]
    styled = [part for name in ("A", "B", "C", "D") for part in (("h", name), ("p", CLAUSE))]
    assert headings([*styled, *clauses("b")])[-1] == "D > Notices"


@pytest.mark.parametrize(
    "parts",
    [
        clauses("b", TERMS[:2]),  # too few
        [("b", CLAUSE)] * 3 + clauses("b"),  # emphasis
        clauses("b", ["Landlord:", "Tenant:", "Rent:"]),  # labels of what follows
        [("p", CLAUSE)] * 4 + [("b", CLAUSE * 2)] * 3,
    ],
)
def test_emphasis_is_no_heading(parts: list[tuple[str, str]]) -> None:
    assert not any(headings(parts))


def test_a_sentence_in_bold_stays_in_the_text() -> None:
    warning = "Deposits are not refunded after the first of May."
    names = ["Covenants of the Tenant.", "Term and Termination.", "3. Notices"]
    assert headings([*clauses("b", names), ("b", warning), ("p", CLAUSE)]) == names
