"""The average over datasets."""

from evaluation.judging import JudgementRow, aggregate_judgements
from evaluation.report.aggregates import average_scores
from evaluation.rows.answer_rows import ModelRow


def test_nested_scores_are_averaged_name_by_name() -> None:
    one = {"em": 0.5, "depths": {"0": 1.0, "1": 0.0}, "judge": {"information_gain": {"0": 4.0}}, "failed": 0}
    two = {"em": 1.0, "depths": {"0": 0.0, "1": 1.0}, "judge": {"information_gain": {"0": 6.0, "1": 8.0}}, "failed": 1}
    assert average_scores([one, two]) == {
        "em": 0.75,
        "depths": {"0": 0.5, "1": 0.5},
        "judge": {"information_gain": {"0": 5.0, "1": 8.0}},
        "failed": 0.5,
    }


def test_what_is_not_known_of_a_dataset_does_not_count_and_what_means_nothing_is_left_out() -> None:
    scores = [{"union_recall": None, "succ": None}, {"union_recall": 0.5, "succ": None}]
    assert average_scores(scores) == {"union_recall": 0.5, "succ": None}
    odd = {"fingerprint": "f", "latency_ms": {"p50": 1.0}, "difference": None, "mrr": 1.0}
    assert average_scores([odd]) == {"mrr": 1.0}


def test_judgements_of_two_datasets_are_averaged_without_their_models() -> None:
    rows = [JudgementRow(question_id="q", reasoner="cot", relevance=2, models=(ModelRow(name="large"),))]
    averaged = average_scores([{"judge": aggregate_judgements(rows)}] * 2)["judge"]
    assert averaged["relevance"]["score"] == 200.0
    assert not {"models", "reference_from"} & averaged.keys()
