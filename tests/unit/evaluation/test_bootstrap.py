"""Intervals whose answer is known."""

import numpy as np
import pytest

from evaluation import Interval, bootstrap_interval


def test_the_same_difference_everywhere_is_certain() -> None:
    found = bootstrap_interval([0.25] * 40, seed=0)
    assert (found.mean, found.low, found.high) == pytest.approx((0.25, 0.25, 0.25))
    assert found.clear_of_zero
    none = bootstrap_interval([0.0] * 50, seed=0)
    assert (none, none.clear_of_zero) == (Interval(mean=0.0, low=0.0, high=0.0), False)


def test_what_cancels_out_is_zero_and_not_nearly_so() -> None:
    differences = [*[1 / 3] * 3, -0.1, -0.2, -0.3, -0.4]
    assert sum(differences) != 0.0
    assert str(bootstrap_interval(differences, seed=0).mean) == "0.0"


def test_a_seed_fixes_it_and_the_order_of_questions_changes_nothing() -> None:
    differences = [0.5, -0.25, 0.0, 1.0, 0.0, -0.5, 0.25, 0.0]
    found = bootstrap_interval(differences, seed=3, resamples=99)
    for order in (differences, differences[::-1]):
        assert bootstrap_interval(order, seed=3, resamples=99) == found
    assert bootstrap_interval(differences, seed=4, resamples=99) != found


def test_it_is_as_wide_as_the_normal_approximation_says() -> None:
    differences = np.random.default_rng(1).normal(0.1, 0.4, 400)
    found = bootstrap_interval(list(differences), seed=0)
    half = 1.96 * float(differences.std()) / np.sqrt(400)
    assert found.mean == pytest.approx(float(differences.mean()))
    assert (found.low, found.high) == pytest.approx((found.mean - half, found.mean + half), abs=0.1 * half)


def test_a_lower_level_is_narrower() -> None:
    differences = [0.5, -0.25, 0.0, 1.0, 0.0, -0.5, 0.25, 0.0]
    wide, narrow = bootstrap_interval(differences, seed=0), bootstrap_interval(differences, seed=0, level=0.5)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high


def test_it_holds_the_truth_about_as_often_as_it_says() -> None:
    """300 samples of 60 questions whose true mean difference is .1: the seeds are fixed, and so is the count."""
    rng = np.random.default_rng(0)
    values, chances = [-0.5, 0.0, 0.5], [0.1, 0.6, 0.3]
    found = [bootstrap_interval(list(rng.choice(values, 60, p=chances)), seed=0, resamples=1000) for _ in range(300)]
    held = sum(one.low <= 0.1 <= one.high for one in found)
    assert 0.91 <= held / 300 <= 0.98
