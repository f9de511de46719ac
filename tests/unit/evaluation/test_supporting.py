"""What a hit shows of what supports a question."""

import pytest

from core.documents import Span
from core.ports.reasoning import Answer, Step
from core.ports.retrieval import Hit
from core.trace import Trace
from evaluation import GoldQuestion, Support
from evaluation.rows.scored_answers import score_answer
from evaluation.rows.search_rows import SearchRow, score_search
from retrieval.supports import collapse_hits, match_supports
from tests.unit.evaluation import builders


def hit(key: str, start: int, end: int, text: str = "nothing") -> Hit:
    return builders.hit(key, text, span=Span(start=start, end=end))


def part(key: str, start: int, end: int) -> Support:
    return Support(key=key, span=Span(start=start, end=end))


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 10, False),  # touches where the span begins
        (0, 11, True),
        (20, 30, False),  # touches where it ends
        (19, 30, True),
        (12, 14, True),
        (0, 99, True),
        (40, 50, False),
    ],
)
def test_a_span_is_shown_by_what_overlaps_it(start: int, end: int, expected: bool) -> None:
    assert part("a", 10, 20).shown_by(hit("a", start, end)) is expected
    assert not part("a", 10, 20).shown_by(hit("b", start, end))


def test_a_chunk_without_a_span_counts_by_its_document() -> None:
    assert part("a", 10, 20).shown_by(builders.hit("a"))
    assert not part("a", 10, 20).shown_by(builders.hit("b"))
    assert Support(key="a").shown_by(hit("a", 0, 5))


def test_documents_are_ranked_by_their_best_chunk_and_chunks_where_spans_support() -> None:
    hits = [hit("a", 0, 10), hit("a", 10, 20), hit("b", 0, 10), hit("a", 0, 10)]
    assert collapse_hits(hits, {Support(key="b")}) == (hits[0], hits[2])
    assert collapse_hits(hits, {part("b", 0, 10)}) == tuple(hits[:3])
    assert collapse_hits(hits, {part("b", 0, 10), Support(key="a")}) == tuple(hits[:3])


def test_one_chunk_may_show_several_passages() -> None:
    supporting = {part("a", 0, 10), part("a", 10, 20), part("a", 20, 30)}
    shown = match_supports([hit("a", 5, 15), hit("b", 0, 9)], supporting)
    assert shown == [{part("a", 0, 10), part("a", 10, 20)}, frozenset()]


QUESTION = GoldQuestion(
    id="q", text="Where?", answer="Gouled", aliases=(), supporting=frozenset({part("a", 0, 10), part("a", 50, 60)})
)


def row_of(*hits: Hit) -> SearchRow:
    return score_search(QUESTION, "fused", hits, seconds=0.1, stages={}, notes=[])


def test_with_spans_a_ranking_is_cut_by_chunks() -> None:
    row = row_of(hit("a", 10, 20), hit("a", 5, 15), hit("a", 20, 40), hit("x", 0, 9), hit("x", 9, 20), hit("a", 45, 55))
    assert row.ranking == ("a", "a", "a", "x", "x", "a")
    found = {"recall@2": 0.5, "recall@5": 0.5, "recall@10": 1.0, "all_recall@5": 0.0, "mrr": 0.5, "succ@5": 0.0}
    assert row.scores == found


def test_with_spans_success_looks_at_the_first_five_chunks() -> None:
    others = [hit("x", 10 * number, 10 * number + 10) for number in range(4)]
    assert row_of(*others, hit("x", 90, 99, "It was Gouled.")).scores["succ@5"] == 1.0
    assert row_of(*others, hit("y", 0, 9), hit("x", 90, 99, "It was Gouled.")).scores["succ@5"] == 0.0


def test_with_spans_an_answer_is_scored_by_the_chunks_that_its_steps_retrieved() -> None:
    steps = ((hit("a", 0, 9), hit("x", 0, 9)), (hit("a", 0, 9), hit("a", 20, 30)))
    made = tuple(Step(question="?", hits=hits, answer="") for hits in steps)
    row = score_answer(QUESTION, "r", Answer(text="?", reasoner="r", steps=made), seconds=0.1, trace=Trace())
    assert (row.scores["union_recall"], row.scores["union_precision"]) == (0.5, pytest.approx(1 / 3))
    assert row.retrieved == ("a", "x")
