"""The threshold between questions that a corpus answers and those that it does not."""

import json

import pytest

from evaluation import build_calibration_report
from evaluation.scores import Separation, choose_threshold, compute_curve, hold_out

CLEAR = Separation(answerable=(0.6, 0.7, 0.8, 0.9), unanswerable=(0.1, 0.2, 0.3, 0.4))
MIXED = Separation(answerable=(0.3, 0.7, 0.8, 0.9), unanswerable=(0.1, 0.2, 0.35, 0.75))


def test_the_middle_of_the_best_thresholds_is_chosen() -> None:
    chosen = choose_threshold(CLEAR)
    assert (chosen.threshold, chosen.answered, chosen.abstained) == (0.5, 1.0, 1.0)


def test_both_kinds_of_errors_count_the_same() -> None:
    many = Separation(answerable=MIXED.answerable, unanswerable=MIXED.unanswerable * 10)
    assert choose_threshold(many).threshold == choose_threshold(MIXED).threshold
    assert choose_threshold(MIXED).balanced_accuracy == 0.75


def test_the_curve_falls_for_one_kind_and_rises_for_the_other() -> None:
    curve = compute_curve(MIXED)
    assert (curve[0].answered, curve[0].abstained) == (1.0, 0.0)
    assert (curve[-1].answered, curve[-1].abstained) == (0.0, 1.0)
    answered, abstained = [point.answered for point in curve], [point.abstained for point in curve]
    assert answered == sorted(answered, reverse=True)
    assert abstained == sorted(abstained)


def test_a_question_is_in_one_half_and_the_seed_decides_in_which() -> None:
    one, two = hold_out(MIXED, 1)
    assert sorted(one.answerable + two.answerable) == sorted(MIXED.answerable)
    assert (len(one.unanswerable), len(two.unanswerable)) == (2, 2)
    assert hold_out(MIXED, 1) == (one, two)
    assert any(hold_out(MIXED, seed) != (one, two) for seed in range(2, 8))


def test_the_report_judges_each_dataset_by_the_threshold_of_the_others() -> None:
    report = build_calibration_report({"clear": CLEAR, "mixed": MIXED}, "m", seed=0)
    held_out = {"threshold": 0.5, "answered": 0.75, "abstained": 0.75, "balanced_accuracy": 0.75}
    assert report["held_out"]["mixed"] == [held_out]
    assert len(report["held_out"]["a random half"]) == 2
    assert (report["answerable"], report["unanswerable"], report["embedding_model"]) == (8, 8, "m")
    assert report["datasets"]["clear"]["balanced_accuracy"] == pytest.approx(1.0)
    json.dumps(report)
