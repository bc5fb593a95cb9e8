"""Comparisons of rounds, and of limits on ratios and several groups: what they count."""

import numpy as np
import pytest

from benchmarks.common.rate_limits import Outcome, total_violation
from benchmarks.common.rows import Rows, Split
from benchmarks.limits import rounds, several_groups
from benchmarks.limits.several_groups import KINDS, with_four_groups


def outcome_of(selected: list[int], rows: int) -> Outcome:
    """Groups of as many rows each, with so many of them selected; all labels are 1."""
    predicted = np.concatenate([np.arange(rows) < count for count in selected]).astype(int)
    groups = np.repeat(np.arange(len(selected)), rows)
    return Outcome(predicted, np.ones(len(groups), int), groups)


def test_ratios_are_of_the_groups_that_are_furthest_apart() -> None:
    outcome = outcome_of([20, 30, 40], 100)
    limit = KINDS["four_fifths"]
    assert total_violation((limit,), outcome) == pytest.approx(0.8 - 0.5)
    assert total_violation((KINDS["ratio_tpr"],), outcome) == pytest.approx(0.9 - 0.5)
    assert total_violation((KINDS["selection"],), outcome) == pytest.approx(0.2 - 0.05)
    assert total_violation((KINDS["errors"],), outcome) == pytest.approx(0.2 - 0.05)
    assert total_violation((limit,), outcome_of([40, 45], 100)) == 0.0
    assert total_violation((limit,), outcome_of([0, 0], 100)) == pytest.approx(0.8)


def test_standard_errors_are_what_samples_scatter_by() -> None:
    random = np.random.default_rng(1)
    for name, event_share in (("four_fifths", (0.24, 0.3)), ("selection", (0.25, 0.3))):
        limit = KINDS[name]
        counts = random.binomial(500, event_share, size=(2000, 2))
        outcomes = [outcome_of(list(count), 500) for count in counts]
        values = [limit.value(outcome) for outcome in outcomes]
        errors = [limit.standard_error(outcome) for outcome in outcomes]
        assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)


def test_four_groups_are_the_two_parted_by_a_feature_that_goes() -> None:
    random = np.random.default_rng(2)
    features = np.column_stack([np.zeros(400), random.normal(size=400), np.arange(400) % 7 == 0])
    rows = Rows(features, np.zeros(400, int), np.arange(400) % 2)
    split = with_four_groups(Split(rows, rows))
    assert split.test.features.shape == (400, 2)
    np.testing.assert_array_equal(split.training.groups // 2, rows.groups)
    above = features[:, 1] > np.median(features[:, 1])
    np.testing.assert_array_equal(split.training.groups % 2, above)


def test_lines_compare_losses() -> None:
    def pair(every: float, best: float) -> rounds.Pair:
        return {
            "all": rounds.Judged(100, every, 0.01, 0.02),
            "best": rounds.Judged(40, best, 0.02, 0.02),
        }

    found = rounds.line("fnr <= 5%", "xgboost", [[pair(0.7, 0.85)], [pair(0.9, 0.9)]])
    assert found[2:6] == ["2", "40", "80.00", "87.50"]
    assert found[-2].startswith("-2.50")  # -15 + 5 and 0 + 5 points
    assert found[-1] == "1 of 2"

    def judged(accuracy: float, violation: float) -> several_groups.Judged:
        return several_groups.Judged(accuracy, violation, 0.0, 0.01)

    ways = {"plain": judged(0.9, 0.3), "offsets": judged(0.7, 0.1), "auto": judged(0.8, 0.0)}
    found = several_groups.line(KINDS["errors"], 4, "lightgbm", [[ways], [ways]])
    assert found[3:6] == ["90.0 / 30.0", "70.0 / 10.0", "80.0 / 0.0"]
    assert found[-1].startswith("-60.00")
