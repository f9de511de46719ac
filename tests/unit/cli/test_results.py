"""Hits as they are printed: neighbours told from the passage, and signals that have no value."""

from dataclasses import replace
from typing import Any

import pytest

from api.schemas.search import convert_page
from api.schemas.values import dump
from app.services.links import Links
from cli.output.results import show_answer, show_search
from core.documents import Chunk, DocumentRef, Span
from core.ports.retrieval import Hit, Signals
from core.trace import Trace
from retrieval.presentation import PresentedHit, SearchPage, Snippet

TEXT = "One is first. Two is next. Three is third. Four is last."


def _chunk(position: int, start: int, end: int) -> Chunk:
    of: dict[str, Any] = {"id": str(position), "document_id": "d", "view_id": "v", "position": position, "page": None}
    return Chunk(**of, text=TEXT[start:end], heading="Numbers", span=Span(start=start, end=end))


def _page(hit: Chunk, before: tuple[Chunk, ...], after: tuple[Chunk, ...], signals: Signals) -> dict[str, Any]:
    document = DocumentRef(id="d", key="d.txt", title="Counted", metadata={})
    snippet = Snippet(text=hit.text, span=Span(start=0, end=len(hit.text)), marks=())
    found = Hit(chunk=hit, document=document, score=1.0, signals=signals)
    presented = PresentedHit(hit=found, snippet=snippet, before=before, after=after)
    return dump(convert_page(SearchPage(hits=(presented,), generation=1), Trace(), Links("")))


def test_neighbours_have_their_place_and_what_passages_share_is_printed_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    two, three = TEXT.index("Two"), TEXT.index("Three")
    before, hit, after = _chunk(0, 0, three - 1), _chunk(1, two, TEXT.index("Four") - 1), _chunk(2, three, len(TEXT))
    show_search(_page(hit, (before,), (after,), Signals()), full=True)
    shown = capsys.readouterr().out.splitlines()[2:-1]
    assert shown[:3] == ["      before, Numbers:", "      One is first.", ""]
    assert shown[3:] == ["   Two is next. Three is third.", "", "      after, Numbers:", "      Four is last."]
    hit, after = _chunk(0, 0, len(TEXT)), _chunk(1, TEXT.index("Four"), len(TEXT))
    show_search(_page(hit, (), (after,), Signals()), full=True)
    assert capsys.readouterr().out.count("Four is last.") == 1, "the passage holds its neighbour"


def test_a_hit_is_printed_with_its_signals_and_what_it_is_part_of(capsys: pytest.CaptureFixture[str]) -> None:
    show_search(_page(_chunk(0, 0, 13), (), (), Signals(dense=0.5, sparse=0.0, graph=0.0)))
    page = _page(replace(_chunk(0, 0, 13), heading=""), (), (), Signals())
    page["hits"][0]["part_of"] = "from Ada · 2024-04-01"
    show_search(page)
    out = capsys.readouterr().out
    assert "cosine 0.5 · BM25 – · PageRank 0\n" in out, "it was no candidate of BM25"
    heads = [line for line in out.splitlines() if line.startswith("1. ")]
    assert heads == ["1. Counted › Numbers  (d.txt)", "1. Counted · from Ada · 2024-04-01  (d.txt)"]


def test_a_text_that_several_statements_cite_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    def cite(marker: int, quote: str) -> dict[str, Any]:
        document = {"key": f"{marker}.txt", "title": "Counted"}
        return {"marker": marker, "quote": quote, "document": document, "url": None, "page": None, "corpus": "c"}

    quotes = [(1, "One is first."), (1, "One is\nfirst."), (1, "One is first. Two is next."), (2, "One is first.")]
    answer = {
        "answer": "Perhaps one [1].",
        "support": "inferred",
        "note": "",
        "citations": [cite(*quote) for quote in [*quotes, (2, "Two is next."), (2, "Three is third.")]],
        "verification": None,
        "notes": [],
        "usage": {"actions": {}},
    }
    show_answer(answer)
    assert capsys.readouterr().out.splitlines()[2:] == [
        "[1] Counted (1.txt)",
        "    “One is first. Two is next.”",
        "[2] Counted (2.txt)",
        "    “Two is next.”",
        "    “Three is third.”",
    ]
