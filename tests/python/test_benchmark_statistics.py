"""Statistics of the benchmarks against closed forms and exact enumeration."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from benchmarks.common.statistics import (
    Scores,
    Summary,
    clear_best,
    dominates,
    paired_difference,
    tail,
)


def test_mean_and_deviation() -> None:
    summary = Summary.of([1.0, 2.0, 6.0])
    assert summary.mean == 3.0
    assert summary.deviation == pytest.approx(math.sqrt(7.0))  # (4 + 1 + 9) / 2
    assert math.isnan(Summary.of([1.0]).deviation)


def test_interval_is_that_of_all_resamples() -> None:
    first, second = [3.0, 5.0, 4.5, 9.0, 2.0], [1.0, 2.5, 5.0, 3.0, 1.5]
    differences = np.subtract(first, second)
    means = [np.mean(chosen) for chosen in itertools.product(differences, repeat=5)]  # 3125
    cut = tail(0.8, 5)
    difference = paired_difference(first, second, confidence=0.8, resamples=200000)
    assert difference.mean == pytest.approx(differences.mean())
    assert difference.low == pytest.approx(np.quantile(means, cut), abs=0.03)
    assert difference.high == pytest.approx(np.quantile(means, 1.0 - cut), abs=0.03)


def test_interval_of_many_normal_values_is_students() -> None:
    values = np.random.default_rng(3).normal(0.4, 2.0, size=400)
    difference = paired_difference(values, np.zeros(400), resamples=20000)
    low, high = stats.t.interval(0.95, 399, values.mean(), stats.sem(values))
    assert difference.low == pytest.approx(low, abs=0.01)
    assert difference.high == pytest.approx(high, abs=0.01)


def test_few_values_are_covered_as_often_as_promised() -> None:
    random = np.random.default_rng(5)
    repeats, count = 600, 10
    covered = 0
    for values in random.normal(1.0, 1.0, size=(repeats, count)):
        difference = paired_difference(values, np.zeros(count), resamples=1000)
        covered += difference.low <= 1.0 <= difference.high
    # Three standard errors of a share of 0.95 are 0.027; the plain percentile interval has 0.90.
    assert covered / repeats > 0.925


def test_constant_difference_has_no_width() -> None:
    difference = paired_difference([2.0, 3.0, 4.0], [1.0, 2.0, 3.0])
    assert (difference.low, difference.mean, difference.high) == (1.0, 1.0, 1.0)
    assert difference.is_positive
    assert difference.excludes_zero


def test_same_numbers_same_interval() -> None:
    values = ([0.1, 0.5, 0.2, 0.9], [0.3, 0.2, 0.2, 0.1])
    assert paired_difference(*values) == paired_difference(*values)


def test_one_seed_shows_nothing() -> None:
    difference = paired_difference([2.0], [1.0])
    assert difference.mean == 1.0
    assert not difference.excludes_zero
    assert clear_best({"a": [2.0], "b": [1.0]}) is None


def test_values_must_be_paired() -> None:
    with pytest.raises(ValueError, match="values: 2 and 1; allowed: one of each per seed"):
        paired_difference([1.0, 2.0], [1.0])


def test_best_is_clear_only_if_it_is_always_ahead() -> None:
    first = [5.0, 6.0, 7.0, 8.0]
    runner_up = [4.0, 5.5, 6.0, 7.0]  # behind for every seed
    changing = [6.5, 4.5, 8.0, 6.0]  # ahead for half of them
    assert clear_best({"b": runner_up, "a": first}) == "a"
    assert clear_best({"a": first, "b": changing}) is None
    assert clear_best({"a": first, "b": runner_up}, larger=False) == "b"
    assert clear_best({"a": first}) is None


def test_dominated_in_both_or_not_at_all() -> None:
    middle = Scores([0.80, 0.82, 0.81, 0.80], [0.02, 0.03, 0.02, 0.02])
    better = Scores([0.83, 0.84, 0.84, 0.82], [0.01, 0.01, 0.01, 0.01])
    costly = Scores([0.70, 0.72, 0.71, 0.70], [0.01, 0.01, 0.01, 0.01])
    uncertain = Scores([0.79, 0.86, 0.80, 0.83], [0.01, 0.01, 0.01, 0.01])
    assert dominates(better, middle)
    assert not dominates(middle, better)
    assert not dominates(costly, middle)
    assert not dominates(uncertain, middle)
    assert not dominates(middle, middle)
