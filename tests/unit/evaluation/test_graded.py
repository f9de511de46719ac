"""Rankings of passages with grades: the measures of `ir_measures`, and where they are shown."""

import io
import json
import sys
from dataclasses import replace
from math import log2

import pytest
from rich.console import Console

from core.errors import InvalidSettings
from evaluation import GoldQuestion, Support, build_report, build_tables, find_shortfalls, parse_threshold
from evaluation.rows.search_rows import SEARCH_MEASURES, SearchRow, score_search
from evaluation.scores import check_graded_measures, measure_graded
from retrieval.supports import recall
from tests.unit.evaluation.builders import hit, result_of

GRADES = {"a": 2, "b": 1, "c": 0, "d": 1}
QUESTION = GoldQuestion(
    id="q", text="Which papers?", answer="", aliases=(), supporting=frozenset(Support(key=key) for key in "abd"),
    grades=GRADES,
)  # fmt: skip


def row_of(keys: str, question: GoldQuestion = QUESTION, searcher: str = "fused") -> SearchRow:
    return score_search(question, searcher, [hit(key) for key in keys], seconds=0.01, stages={}, notes=[])


def test_measures_use_the_grades() -> None:
    """Compared with sums by hand: b, c and an unknown one before a; d is not found."""
    scores = measure_graded("bcxa", GRADES)
    gain, ideal = 1 / log2(2) + 2 / log2(5), 2 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert scores["ndcg@10"] == pytest.approx(gain / ideal)
    assert scores["map@100"] == pytest.approx((1 / 1 + 2 / 4) / 3)
    assert (scores["precision@5"], scores["precision@10"]) == (pytest.approx(2 / 5), pytest.approx(2 / 10))
    assert measure_graded("abcd", GRADES)["ndcg@10"] > measure_graded("bacd", GRADES)["ndcg@10"]
    assert set(measure_graded("", GRADES).values()) == {0.0}


def test_recall_is_that_of_other_sets() -> None:
    ranking = "xcyzwuvabd"
    shown = [{key} & set("abd") for key in ranking]
    scores = measure_graded(ranking, GRADES)
    assert [scores[f"recall@{k}"] for k in (5, 10, 100)] == [recall(shown, "abd", k) for k in (5, 10, 100)]


def test_a_ranking_is_measured_to_a_hundred_documents() -> None:
    others = [hit(f"x{number}") for number in range(98)]
    row = score_search(QUESTION, "fused", [*others, hit("a"), hit("b"), hit("d")], seconds=0, stages={}, notes=[])
    assert len(row.ranking) == 100
    assert row.scores["recall@100"] == pytest.approx(2 / 3)
    assert (row.scores["recall@10"], row.scores["mrr"]) == (0.0, 0.0)
    assert "succ@5" not in row.scores


def test_a_passage_that_is_the_question_is_left_out() -> None:
    """The same id alone does not tell: other collections number both from one."""
    hits = [hit("q", "Which  papers?"), hit("a")]
    row = score_search(QUESTION, "fused", hits, seconds=0, stages={}, notes=[])
    assert row.ranking == ("a",)
    other = score_search(QUESTION, "fused", [hit("q", "Another text."), hit("a")], seconds=0, stages={}, notes=[])
    assert other.ranking == ("q", "a")
    plain = score_search(replace(QUESTION, grades={}), "fused", hits, seconds=0, stages={}, notes=[])
    assert plain.ranking == ("q", "a")


def test_the_report_and_the_table_have_them() -> None:
    result = result_of("cacm", [row_of("xa"), row_of("ax", searcher="dense")])
    report = json.loads(json.dumps(build_report([result], None)))
    assert report["searchers"]["fused"]["ndcg@10"] == pytest.approx(row_of("xa").scores["ndcg@10"])
    assert report["searchers"]["fused"]["succ@5"] is None
    assert report["searchers"]["dense"]["difference"]["ndcg@10"]["mean"] > 0
    file = io.StringIO()
    Console(width=160, file=file).print(build_tables([result]))
    assert all(name in file.getvalue() for name in ("nDCG@10", "MAP@100", "P@5", "R@100"))
    assert "Succ@5" not in file.getvalue()


def test_a_threshold_may_be_of_a_measure_of_grades() -> None:
    reports = [build_report([result_of("cacm", [row_of("xa")])], None)]
    assert find_shortfalls([parse_threshold("ndcg@10=.1")], reports) == []
    (said,) = find_shortfalls([parse_threshold("fused/ndcg@10=.99")], reports)
    assert "cacm: fused ndcg@10" in said


def test_without_grades_the_report_is_as_it_was() -> None:
    plain = replace(QUESTION, grades={}, answer="x")
    report = build_report([result_of("plain", [row_of("xa", plain)])], None)
    assert [name for name in report["searchers"]["fused"] if "@" in name or name == "mrr"] == [*SEARCH_MEASURES]
    both = build_report([result_of("plain", [row_of("xa", plain)]), result_of("cacm", [row_of("ax")])], None)
    assert both["average"]["searchers"]["fused"]["ndcg@10"] == row_of("ax").scores["ndcg@10"]


def test_what_is_not_installed_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    check_graded_measures()
    monkeypatch.setitem(sys.modules, "pytrec_eval", None)  # as Python itself marks what cannot be imported
    with pytest.raises(InvalidSettings, match=r'pip install "hopweave\[eval\]"'):
        check_graded_measures()
