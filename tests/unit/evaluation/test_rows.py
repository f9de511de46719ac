"""Rows, and the scores that follow from them."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from core.errors import InvalidInput
from core.ports.reasoning import Answer, Step
from core.ports.retrieval import Hit
from core.trace import Trace
from evaluation import (
    GoldQuestion,
    Support,
    build_report,
    build_tables,
    find_shortfalls,
    format_report,
    parse_threshold,
    rows_path,
)
from evaluation.report.aggregates import aggregate_answers, aggregate_searches
from evaluation.rows.rows_file import RowsFile
from evaluation.rows.scored_answers import score_answer, score_failed_answer
from evaluation.rows.search_rows import SearchRow, score_failed_search, score_search
from tests.unit.evaluation.builders import hit, result_of

QUESTION = GoldQuestion(
    id="q", text="Where?", answer="Hassan Gouled", aliases=("Gouled",),
    supporting=frozenset({Support(key="a"), Support(key="b")}),
)  # fmt: skip


def row_of(*hits: Hit, seconds: float = 0.01, embed: float = 0.004) -> SearchRow:
    stages = {"embed": embed, "total": seconds}
    return score_search(QUESTION, "fused", hits, seconds=seconds, stages=stages, notes=["n"])


def test_a_row_scores_documents_not_chunks() -> None:
    row = row_of(hit("x", "1"), hit("x", "2"), hit("a"), hit("y"), hit("z"), hit("w"), hit("b"))
    assert row.ranking == ("x", "a", "y", "z", "w", "b")
    found = {"recall@2": 0.5, "recall@5": 0.5, "recall@10": 1.0, "all_recall@5": 0.0, "mrr": 0.5, "succ@5": 0.0}
    assert row.scores == found
    deep = row_of(*(hit(f"x{number}") for number in range(12)), hit("a"))
    assert (len(deep.ranking), deep.scores["mrr"]) == (10, 0.0), "no deeper than what is reported"


def test_success_looks_at_the_best_chunk_of_each_of_the_first_five_documents() -> None:
    near = [hit(key) for key in "vwxy"]
    assert row_of(*near, hit("z", "It was Gouled.")).scores["succ@5"] == 1.0
    assert row_of(*near, hit("z", title="Hassan Gouled")).scores["succ@5"] == 1.0
    assert row_of(*near, hit("z"), hit("q", "It was Gouled.")).scores["succ@5"] == 0.0
    assert row_of(hit("v", "first"), hit("v", "It was Gouled.")).scores["succ@5"] == 0.0


def test_a_failed_question_scores_nothing_is_counted_and_has_no_latency() -> None:
    good = row_of(hit("a"), hit("b"), seconds=0.02, embed=0.005)
    scores = aggregate_searches([good, score_failed_search(QUESTION, "fused", "the store is away")])
    assert (scores.failed, scores.means["recall@2"], scores.means["mrr"]) == (1, 0.5, 0.5)
    assert scores.latency_ms == {"p50": pytest.approx(20), "p95": pytest.approx(20)}
    assert scores.without_embedding_ms["p50"] == pytest.approx(15)
    assert scores.stages_ms == {"embed": pytest.approx(5), "total": pytest.approx(20)}


def answered(text: str, *steps: tuple[Hit, ...], abstained: bool = False) -> Answer:
    made = tuple(Step(question="?", hits=hits, answer="") for hits in steps)
    return Answer(text=text, reasoner="r", steps=made, abstained=abstained)


def test_an_answer_is_scored_with_what_it_was_made_from() -> None:
    answer = answered("It was Hassan Gouled.", (hit("a"), hit("x", "Gouled")), (hit("b"), hit("a")))
    scores = score_answer(QUESTION, "r", answer, seconds=0.1, trace=Trace()).scores
    assert (scores["acc"], scores["em"], scores["f1"]) == (1.0, 0.0, pytest.approx(2 * 2 / 6))
    assert (scores["succ"], scores["succ_retrieved"]) == (0.0, 1.0)
    assert (scores["union_recall"], scores["union_precision"]) == (1.0, pytest.approx(2 / 3))


def test_an_abstention_is_no_prediction() -> None:
    row = score_answer(QUESTION, "r", answered("Nothing about Gouled.", (), abstained=True), seconds=0.1, trace=Trace())
    assert row.scores["acc"] == 0.0
    scores = aggregate_answers([row, score_failed_answer(QUESTION, "r", "no")])
    assert (scores["abstained"], scores["failed"], scores["seconds_per_query"]) == (1, 1, 0.1)


def test_one_dataset_is_an_object_and_several_have_an_average() -> None:
    perfect = result_of("one", [row_of(hit("a"), hit("b"))])
    half = result_of("two", [row_of(hit("a")), row_of(hit("a"))])
    assert build_report([perfect], None)["searchers"]["fused"]["recall@5"] == 1.0
    both = build_report([perfect, half], None)
    assert [one["dataset"] for one in both["datasets"]] == ["one", "two"]
    assert both["average"]["searchers"]["fused"]["recall@5"] == 0.75


def test_the_report_names_its_rows_and_follows_from_them(tmp_path: Path) -> None:
    file = tmp_path / "new" / "scores.json"
    results = [result_of("one", [row_of(hit("a"), hit("b")), score_failed_search(QUESTION, "fused", "no")])]
    with RowsFile(rows_path(file)) as kept:
        kept.finish(results[0].rows())
    report = json.loads(format_report(results, kept.path))
    assert report["rows"] == str(rows_path(file))
    rows = [json.loads(line) for line in Path(report["rows"]).read_text().splitlines()]
    told = [(row["kind"], row["dataset"], row["error"]) for row in rows]
    assert told == [("search", "one", None), ("search", "one", "no")]
    mean = sum(row["scores"]["recall@5"] for row in rows) / len(rows)
    assert report["searchers"]["fused"]["recall@5"] == mean == 0.5


def test_the_table_shows_what_was_measured() -> None:
    shown = io.StringIO()
    Console(width=100, file=shown).print(build_tables([result_of("[one]", [row_of(hit("a"))])]))
    text = shown.getvalue()
    assert "[one] (9 passages, 1 questions)" in text
    assert "50.0" in text


def test_limits_are_judged_dataset_by_dataset() -> None:
    reports = [build_report([result_of("one", [row_of(hit("a"), hit("b"))])], None)]
    reports += [build_report([result_of("two", [row_of(hit("a"))])], None)]
    assert find_shortfalls([parse_threshold("recall@5=.5")], reports) == []
    said = ["two: fused recall@5 is 0.500, below 0.7"]
    assert find_shortfalls([parse_threshold("fused/recall@5=.7")], reports) == said


@pytest.mark.parametrize("text", ["recall@5", "recall@3=.5", "recall@5=high", "recall@5=70", "=.5", "recall@5=nan"])
def test_a_limit_that_cannot_be_kept_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="--fail-under"):
        parse_threshold(text)


@pytest.mark.parametrize("text", ["dense/recall@5=.1", "acc=.1"])
def test_a_limit_for_what_was_not_measured_is_refused(text: str) -> None:
    reports = [build_report([result_of("one", [row_of(hit("a"))])], None)]
    with pytest.raises(InvalidInput, match="nothing that was run"):
        find_shortfalls([parse_threshold(text)], reports)
