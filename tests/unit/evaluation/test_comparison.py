"""Searchers and reasoners against a baseline: in the report, and in the table."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from core.errors import InvalidInput
from evaluation import Experiment, GoldQuestion, Result, Support, bootstrap_interval, build_report, build_tables
from evaluation.rows.answer_rows import AnswerRow, ReviewRow
from evaluation.rows.scored_answers import score_failed_answer
from evaluation.rows.search_rows import SearchRow, score_failed_search
from tests.unit.evaluation.builders import result_of


def question(number: int) -> GoldQuestion:
    return GoldQuestion(
        id=f"q{number}", text="Where?", answer="Here", aliases=(), supporting=frozenset({Support(key="a")})
    )


def searches(name: str, *recalls: float) -> list[SearchRow]:
    rows = [(score_failed_search(question(number), name, ""), recall) for number, recall in enumerate(recalls)]
    return [replace(row, scores={**row.scores, "recall@5": recall}, error=None) for row, recall in rows]


def answers(name: str, *matches: float) -> list[AnswerRow]:
    rows = [(score_failed_answer(question(number), name, ""), match) for number, match in enumerate(matches)]
    return [replace(row, scores={**row.scores, "em": match, "f1": match}, error=None) for row, match in rows]


DENSE = searches("dense", 0.5, 0.5, 0.0, 0.0)
FUSED = searches("fused", 1.0, 0.5, 0.5, 0.0)


def test_the_difference_is_taken_question_by_question() -> None:
    expected = bootstrap_interval([0.5, 0.0, 0.5, 0.0], seed=0)
    report = build_report([result_of("one", [*DENSE, *FUSED[::-1]])], None)["searchers"]
    assert report["dense"]["difference"] is None
    interval = {"mean": 0.25, "low": expected.low, "high": expected.high}
    assert report["fused"]["difference"] == {"to": "dense", "recall@5": interval}
    json.dumps(report)


def test_another_baseline_turns_it_round_and_one_searcher_alone_has_none() -> None:
    report = build_report([result_of("one", [*DENSE, *FUSED], baseline="fused")], None)["searchers"]
    assert report["fused"]["difference"] is None
    assert report["dense"]["difference"]["recall@5"]["mean"] == -0.25
    assert build_report([result_of("one", DENSE)], None)["searchers"]["dense"]["difference"] is None
    failed = [score_failed_search(question(0), "fused", "away"), *FUSED[1:]]
    report = build_report([result_of("one", [*DENSE, *failed])], None)["searchers"]
    assert report["fused"]["difference"]["recall@5"]["mean"] == 0.0, "a question that failed counts with nothing"


def test_reasoners_are_compared_with_the_first_or_with_the_baseline() -> None:
    answered = [*answers("short", 1.0, 0.0, 0.0, 0.0), *answers("long", 1.0, 1.0, 0.0, 0.0)]
    report = build_report([result_of("one", [*DENSE, *FUSED], answered, baseline="fused")], None)["reasoners"]
    assert report["short"]["difference"] is None
    assert report["long"]["difference"]["to"] == "short"
    assert report["long"]["difference"]["f1"]["mean"] == report["long"]["difference"]["em"]["mean"] == 0.25
    turned = build_report([result_of("one", (), answered, baseline="long")], None)["reasoners"]
    assert turned["short"]["difference"]["em"]["mean"] == -0.25


def test_the_average_of_datasets_has_no_interval() -> None:
    result = result_of("one", [*DENSE, *FUSED])
    average = build_report([result, result], None)["average"]["searchers"]["fused"]
    assert average["recall@5"] == 0.5
    assert "difference" not in average


def test_a_baseline_has_to_be_compared() -> None:
    with pytest.raises(InvalidInput, match="--baseline 'bm25' is not compared; name one of: dense, fused"):
        Experiment(searchers=("dense", "fused"), baseline="bm25")
    assert Experiment(searchers=("fused",), reasoners=("extractive",), baseline="extractive").baseline == "extractive"


def test_the_tables_say_what_a_difference_is_to() -> None:
    both = result_of("one", [*DENSE, *FUSED], answers("short", 1.0, 0.0, 0.0, 0.0))
    text = shown(both)
    assert "fused" in text[text.index("beyond dense") :]
    assert "+25.0 (+0.0 to +50.0)" in text
    assert "The difference to dense in points" in text
    assert "beyond short" not in text
    assert "beyond" not in shown(result_of("one", DENSE))
    text = shown(result_of("one", (), [*answers("short", 0.0, 0.0), *answers("long", 1.0, 1.0)]))
    assert "beyond short" in text
    assert text.count("+100.0 (+100.0 to +100.0)") == 2
    text = shown(both, both)
    assert text.count("beyond dense") == 2
    assert "beyond" not in text[text.index("average of 2 datasets") :]


def test_reviews_and_sentences_have_tables_if_there_are_any() -> None:
    row = answers("par", 1.0)[0]
    assert "reviews" not in shown(result_of("one", (), [row]))
    reviews = tuple(
        ReviewRow(step="1", verdict=verdict, before_f1=before, after_f1=after)
        for verdict, before, after in (("REVISED", 0.0, 1.0), ("REVISED", 1.0, 0.0), ("PASS", 1.0, 1.0))
    )
    scores = {**row.scores, "sentence_precision": 0.25, "sentence_recall": 0.5}
    text = shown(result_of("one", (), [replace(row, reviews=reviews, scores=scores)]))
    assert "repaired" in text
    counts = next(line for line in text[text.index("reviews") :].splitlines() if line.startswith("par"))
    assert counts.split()[1:] == ["1", "0", "1", "1", "0", "0", "0"]
    assert "25.0" in text[text.index("quote precision") :]
    report = build_report([result_of("one", (), [replace(row, reviews=reviews)])], None)["reasoners"]["par"]
    assert report["reviews"]["REVISED"] == {"repaired": 1, "broke": 1, "neither": 0, "unknown": 0}
    assert "average of 2 datasets" in shown(
        result_of("one", (), [row]), result_of("one", (), [replace(row, reviews=reviews)])
    )


def shown(*results: Result) -> str:
    file = io.StringIO()
    Console(width=100, file=file).print(build_tables(results))
    return file.getvalue()
