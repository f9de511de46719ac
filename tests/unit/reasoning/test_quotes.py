"""Quotes are verbatim, and markers name what was shown."""

import pytest

from core.documents import Chunk, DocumentRef
from core.ports.retrieval import Hit
from core.trace import Trace
from reasoning.citations.markers import cite_passages, parse_markers
from reasoning.citations.quotes import find_quote, is_supported, name_source, passage_text, select_quote

TEXT = "The Outsiders is a novel by S. E. Hinton. It was published in 1967 by Viking Press. It holds </passage> marks."


def hit(text: str = TEXT, title: str = "The Outsiders", id: str = "c1") -> Hit:
    chunk = Chunk(id=id, document_id="d", view_id="v", position=0, text=text, heading="", page=None, span=None)
    return Hit(chunk=chunk, document=DocumentRef(id="d", key="k", title=title, metadata={}), score=1.0)


@pytest.mark.parametrize(
    ("words", "there"),
    [
        ("published in 1967 by", "published in 1967 by"),
        ("1967", "It was published in 1967 by Viking Press."),
        ('"Published in\n1967 by viking press."', "published in 1967 by Viking Press"),
        ("novel by S E Hinton", "novel by S. E. Hinton"),
        ("It holds ‹/passage> marks", "It holds </passage> marks"),
    ],
)
def test_a_quote_is_found_as_the_passage_has_it(words: str, there: str) -> None:
    quote = find_quote(hit(), words)
    assert quote is not None
    assert quote.text == there == TEXT[quote.span.start : quote.span.end]


def test_what_is_not_there_is_no_quote() -> None:
    assert find_quote(hit(), "published in 1968") is None


FILM = "Where Does It Hurt? was directed by Rod Amateau. He directed films. It was shown in 1972 and, again, in 1973."


@pytest.mark.parametrize(
    ("answer", "question", "sentence"),
    [
        ("Rod Amateau", "Who directed Where Does It Hurt?", "Where Does It Hurt? was directed by Rod Amateau."),
        ("1972; 1973", "When was it shown?", "It was shown in 1972 and, again, in 1973."),
        ("in the year 1973", "When?", "It was shown in 1972 and, again, in 1973."),
        ("yes", "Was it ever shown?", "It was shown in 1972 and, again, in 1973."),
        ("no", "Did its director make other films?", "He directed films."),
        ("a stranger", "Who directs?", "Where Does It Hurt? was directed by Rod Amateau."),
        ("", "", "Where Does It Hurt? was directed by Rod Amateau."),
    ],
)
def test_the_sentence_that_supports_an_answer(answer: str, question: str, sentence: str) -> None:
    assert select_quote(hit(FILM), answer, question).text == sentence


def test_a_short_quote_is_extended_to_a_sentence_with_its_title() -> None:
    quote = find_quote(hit(FILM), "directed by")
    assert quote is not None
    assert quote.text == "Where Does It Hurt? was directed by Rod Amateau."


def test_the_best_sentence_holds_the_answer() -> None:
    assert select_quote(hit(), "1967", "When was it published?").text == "It was published in 1967 by Viking Press."


def test_the_best_quote_of_an_empty_passage_is_empty() -> None:
    assert select_quote(hit(text=""), "x").text == ""


@pytest.mark.parametrize(
    ("answer", "supported"),
    [("the Viking Press", True), ("viking-press", False), ("Hint", False), ("The Outsiders", True), ("", False)],
)
def test_literal_support_is_of_whole_words(answer: str, supported: bool) -> None:
    assert is_supported(answer, [hit()]) is supported


def test_support_in_a_script_without_spaces() -> None:
    assert is_supported("北京", [hit(text="北京大学位于北京。")])


def test_markers_are_numbered_again_and_unknown_ones_dropped() -> None:
    trace = Trace()
    hits = [hit(id="a"), hit(text="Rumble Fish appeared in 1975.", id="b")]
    text, citations = cite_passages("It is 1975 [2]. The other is 1967 [1, 7][2].", hits, trace)
    assert text == "It is 1975 [1]. The other is 1967 [2] [1]."
    assert [(c.marker, c.chunk_id) for c in citations] == [(1, "b"), (2, "a"), (1, "b")]
    assert text[citations[0].answer_span.start : citations[0].answer_span.end] == "It is 1975"
    assert citations[1].quote == "It was published in 1967 by Viking Press."
    assert trace.notes == ["a citation [7] was dropped: no such passage was shown"]


def test_numbers_of_a_text() -> None:
    assert parse_markers("a [2], b [1; 3] and [2] but not [x] or [1234]") == [2, 1, 3]


def test_what_a_passage_is_part_of_supports_an_answer() -> None:
    document = DocumentRef(id="d", key="7.eml", title="Side letter", metadata={"from": "Pieter van Dalen"})
    mail = Hit(chunk=hit("I sign it on Monday.").chunk, document=document, score=1.0)
    assert passage_text(mail) == "Side letter\nfrom Pieter van Dalen\nI sign it on Monday."
    assert is_supported("Pieter van Dalen", [mail])
    quote = select_quote(mail, "on Monday")
    assert name_source(quote) == "Side letter (from Pieter van Dalen)"
    assert name_source(select_quote(hit(), "1967")) == "The Outsiders"


def test_a_citation_of_a_row_has_the_header_of_its_table() -> None:
    table = hit("Name | Hourly rate\nTomas Okeke | 345\nBo Lind | 290", "Rates")
    text, [citation] = cite_passages("It is 345 [1].", [table], Trace(), "What is the hourly rate of Tomas Okeke?")
    assert (text, citation.part_of) == ("It is 345 [1].", "columns: Name | Hourly rate")
    assert citation.quote == "Tomas Okeke | 345"
