"""Means over seeds, paired differences with bootstrap intervals, and what follows from them.

All values are lists with one number per seed, in the same order of seeds.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
RESAMPLES = 10000


@dataclass(frozen=True)
class Summary:
    mean: float
    deviation: float  # standard deviation over seeds; NaN for a single one

    @classmethod
    def of(cls, values: Sequence[float]) -> "Summary":
        numbers = np.asarray(values, dtype=float)
        deviation = float(numbers.std(ddof=1)) if len(numbers) > 1 else math.nan
        return cls(float(numbers.mean()), deviation)


@dataclass(frozen=True)
class Difference:
    """Of two means over the same seeds, with an interval that is NaN for fewer than two seeds."""

    mean: float
    low: float
    high: float

    @property
    def is_positive(self) -> bool:
        return self.low > 0.0

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0.0 or self.high < 0.0


def tail(confidence: float, count: int) -> float:
    """The share that is cut off at each end of the resampled means.

    The percentile interval is too narrow for few values: it is the normal one with the deviation
    that divides by n. The share is therefore the normal tail beyond sqrt(n / (n - 1)) times
    Student's quantile (the expanded percentile interval of Hesterberg, 2015).
    """
    quantile = stats.t.ppf(0.5 + confidence / 2.0, count - 1)
    return float(stats.norm.sf(math.sqrt(count / (count - 1)) * quantile))


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Difference:
    """first - second, resampled over seeds. The same numbers give the same interval."""
    if len(first) != len(second):
        raise ValueError(f"values: {len(first)} and {len(second)}; allowed: one of each per seed")
    differences = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    count = len(differences)
    mean = float(differences.mean())
    if count < 2:
        return Difference(mean, math.nan, math.nan)
    chosen = np.random.default_rng(seed).integers(count, size=(resamples, count))
    means = differences[chosen].mean(axis=1)
    cut = tail(confidence, count)
    low, high = np.quantile(means, [cut, 1.0 - cut])
    return Difference(mean, float(low), float(high))


def clear_best(values: Mapping[str, Sequence[float]], larger: bool = True) -> str | None:
    """The name with the best mean, if the interval of its distance to the runner-up excludes zero.

    None too if there is nothing to compare with.
    """
    ranked = sorted(values, key=lambda name: np.mean(values[name]), reverse=larger)
    if len(ranked) < 2:
        return None
    difference = paired_difference(values[ranked[0]], values[ranked[1]])
    return ranked[0] if difference.excludes_zero else None


@dataclass(frozen=True)
class Scores:
    accuracy: Sequence[float]
    violation: Sequence[float]  # of limits, or any measure that is better when small


def dominates(first: Scores, second: Scores) -> bool:
    """Higher accuracy and less violation, both beyond the noise of the seeds."""
    gain = paired_difference(first.accuracy, second.accuracy)
    relief = paired_difference(second.violation, first.violation)
    return gain.is_positive and relief.is_positive
