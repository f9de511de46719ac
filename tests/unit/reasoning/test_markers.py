"""Markers, quotes and spans: whatever a model writes, spans index the text that they say, and markers name a source."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events import TokenEvent
from core.trace import Trace
from reasoning.citations.markers import cite_passages, cite_quotes, drop_nested_brackets, parse_markers, strip_markers
from reasoning.citations.quotes import find_quote, locate, select_quote
from reasoning.engine.calls import AnswerStream
from tests.reasoning_desk import hit

WORDS = st.sampled_from(
    [
        "Paris",
        " is",
        " ",
        "\n",
        "北京",
        "。",
        "，",
        ".",
        "e\u0301",
        "🙂",
        "[",
        "]",
        "<passage>",
        "Ünï",
        "42",
        "a[0]",
        "-",
        "x",
    ]
)
MARKS = st.sampled_from(["[1]", " [2]", "[3]", "[1, 2]", "[1][2]", "[2-3]", "[1，3]", "[9]", "[0]", "[1–9]", "[1000]"])
WRITTEN = st.lists(st.one_of(WORDS, MARKS), max_size=25).map("".join)
TEXTS = st.lists(WORDS, max_size=20).map("".join)
_MARKED = r"(?:\s*\[)+\d{1,3}(?:\s*[-–,;，、；]\s*\d{1,3})*\]"
_SHOWN = re.compile(r" \[(\d{1,3})\]")


@given(WRITTEN, st.lists(TEXTS, min_size=3, max_size=3))
def test_spans_index_what_they_say(written: str, texts: list[str]) -> None:
    hits = [hit(str(place), "Title", text) for place, text in enumerate(texts)]
    text, citations = cite_passages(written, hits, Trace(), "Where is Paris?")
    for citation in citations:
        source = texts[int(citation.chunk_id.removesuffix("#0"))]
        assert source[citation.source_span.start : citation.source_span.end] == citation.quote
        said = text[citation.answer_span.start : citation.answer_span.end]
        assert said == said.strip()
        assert not re.search(r"\[[1-3]\]", said), "a marker is no part of what it stands beside"
        assert said in re.sub(_MARKED, "\0", drop_nested_brackets(written))
        after = text[citation.answer_span.end :]
        assert f" [{citation.marker}]" in after
    markers = list(dict.fromkeys(citation.marker for citation in citations))
    assert markers == list(range(1, len(markers) + 1)), "numbered in the order of the text"
    told = [int(number) for number in _SHOWN.findall(text)]
    assert told == [citation.marker for citation in citations]


@given(WRITTEN)
def test_what_is_not_shown_is_not_cited_and_that_is_told(written: str) -> None:
    trace = Trace()
    text, citations = cite_quotes(written, (), trace)
    assert not citations
    assert not re.search(r"\[\d{1,3}\]", text)
    assert len(trace.notes) == len(parse_markers(written))


@given(TEXTS, st.data())
def test_a_part_of_a_passage_is_found_in_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    words = text[start:end]
    span = locate(words, text)
    stripped = words.strip().strip("\"'").strip()
    if len(stripped) >= 3 and len(stripped.split()) > 1:
        assert span is not None
        there = text[span.start : span.end]
        assert "".join(filter(str.isalnum, stripped)) in "".join(filter(str.isalnum, there))
    quote = find_quote(hit("a", "", text), words)
    if quote is not None:
        assert text[quote.span.start : quote.span.end] == quote.text


@given(TEXTS, TEXTS)
def test_the_best_quote_is_verbatim(text: str, answer: str) -> None:
    quote = select_quote(hit("a", "", text), answer, "Where?")
    assert text[quote.span.start : quote.span.end] == quote.text
    assert quote.text == (quote.text.strip() if text.strip() else text)


@given(WRITTEN, st.lists(st.integers(1, 6), max_size=40), st.integers(0, 3))
def test_a_stream_shows_the_text_with_valid_markers_whatever_its_pieces(
    written: str, lengths: list[int], sources: int
) -> None:
    shown = _streamed(written, lengths, sources)
    assert [number for number in parse_markers(shown) if not 1 <= number <= sources] == []
    flat = re.sub(_MARKED, "", written)
    if written.strip() and not written.lstrip().startswith("<"):
        assert "".join(re.sub(r"\s*\[\d{1,3}(?:, \d{1,3})*\]", "", shown).split()) == "".join(flat.split())


def test_neighbouring_markers_stand_beside_the_same_words() -> None:
    text, citations = cite_passages("Paris [1][2]. [1, 1] Rome [2].", [hit("a", "", "x"), hit("b", "", "y")], Trace())
    assert text == "Paris [1] [2]. Rome [2]."
    said = [text[one.answer_span.start : one.answer_span.end] for one in citations]
    assert said == ["Paris", "Paris", "Rome"]


def test_what_is_left_of_a_dropped_marker_makes_no_other() -> None:
    trace = Trace()
    text, citations = cite_passages("Paris [ [9]1] is", [hit("a", "", "x")], trace)
    assert (text, citations) == ("Paris1] is", ())
    assert _streamed("Paris [ [9]1] is", [1] * 20, 1) == text


def test_ranges_and_other_commas() -> None:
    assert parse_markers("a [1-3] b [5，7] c [9、2] d [4–4] e [8-6]") == [1, 2, 3, 5, 7, 9, 4, 8, 6]


def _streamed(answer: str, lengths: list[int], sources: int) -> str:
    trace = Trace()
    stream = AnswerStream(trace, sources)
    written = json.dumps({"answer": answer})
    for length in [*lengths, len(written)]:
        stream(written[:length])
        written = written[length:]
    stream.end()
    return "".join(event.text for event in trace.events if isinstance(event, TokenEvent))


def test_a_dropped_marker_forms_no_other_one() -> None:
    one = hit("a", "Title", "It is so.")
    for written in ("Paris [1[99]]", "Paris [1 [99] ]", "Paris [1[2[99]]]"):
        text, citations = cite_passages(written, (), Trace())
        assert parse_markers(text) == []
        assert parse_markers(strip_markers(written)) == []
        text, citations = cite_passages(written, (one,), Trace())
        assert (parse_markers(text), citations) == ([], ())


def test_many_missing_passages_are_one_note() -> None:
    trace = Trace()
    cite_passages("So it is [1-999]. And [7, 8].", [hit("a", "Title", "It is so.")], trace)
    assert trace.notes == [
        "998 citations were dropped, [2] first: no such passages were shown",
        "a citation [7] was dropped: no such passage was shown",
        "a citation [8] was dropped: no such passage was shown",
    ]


@pytest.mark.parametrize("piece", [" ", "[", "[ ", "[1 ", "[1[", " [1,"])
def test_the_time_to_find_markers_is_linear(piece: str) -> None:
    """In the square of this length it would take hours."""
    written = f"a{piece * 200_000}b"
    assert strip_markers(written).endswith("b")
    events: list[str] = []
    stream = AnswerStream(Trace(listeners=[lambda event: events.append(event.kind)]), 1)
    stream(json.dumps({"answer": written}))
    stream.end()
    assert events == ["token"]


def test_an_answer_has_so_many_citations_at_most() -> None:
    """Each of them compares its words with the sentences of its passage, and with all others."""
    trace = Trace()
    text, citations = cite_passages("Ada wrote it. [1] " * 2000, [hit("0", "Title", "Ada wrote it.")], trace)
    assert len(citations) == text.count("[1]") == 500
    assert text.count("Ada wrote it.") == 2000, "the words stay"
    assert trace.notes == ["1,500 citations were dropped: an answer has 500 at most"]
