"""Limits on rates as the program reads them, and what they come to on rows with known predictions.

Each limit has its text, its value on an `Outcome`, and the standard error of that value: what a
rate that is exactly at its bound scatters by on so many rows.
"""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Outcome:
    predicted: np.ndarray
    labels: np.ndarray
    groups: np.ndarray | None

    def rate(self, event: str, label: int | None = None, group: int | None = None) -> "Rate":
        rows = np.full(len(self.labels), True)
        if label is not None:
            rows &= self.labels == label
        if group is not None:
            rows &= self.groups == group
        happened = self.predicted == 1 if event == "selected" else self.predicted != self.labels
        return Rate(int(happened[rows].sum()), int(rows.sum()))

    @property
    def accuracy(self) -> float:
        return 1.0 - self.rate("error").value


@dataclass(frozen=True)
class Rate:
    events: int
    rows: int

    @property
    def value(self) -> float:
        """Undefined (NaN) without rows."""
        return self.events / self.rows if self.rows else math.nan

    @property
    def variance(self) -> float:
        return self.value * (1.0 - self.value) / self.rows if self.rows else math.nan


@dataclass(frozen=True)
class ClassLimit:
    """error(class=c) <= bound; `name` is what the program calls it, such as fnr."""

    name: str
    label: int
    bound: float

    @property
    def text(self) -> str:
        return f"{self.name} <= {100 * self.bound:g}%"

    def value(self, outcome: Outcome) -> float:
        return outcome.rate("error", self.label).value

    def standard_error(self, outcome: Outcome) -> float:
        rows = outcome.rate("error", self.label).rows
        return math.sqrt(self.bound * (1.0 - self.bound) / rows) if rows else math.nan


@dataclass(frozen=True)
class GapLimit:
    """gap(name, by=group) <= bound between groups 0 and 1."""

    name: str
    event: str
    label: int | None
    bound: float

    @property
    def text(self) -> str:
        return f"gap({self.name}, by=group) <= {100 * self.bound:g}%"

    def rates(self, outcome: Outcome) -> tuple[Rate, Rate]:
        return tuple(outcome.rate(self.event, self.label, group) for group in (0, 1))

    def value(self, outcome: Outcome) -> float:
        first, second = self.rates(outcome)
        return abs(first.value - second.value)

    def standard_error(self, outcome: Outcome) -> float:
        first, second = self.rates(outcome)
        return math.sqrt(first.variance + second.variance)


@dataclass(frozen=True)
class DeviationLimit:
    """error(group=g) - error <= bound (sign 1), or the reverse (sign -1)."""

    group: int
    sign: int
    bound: float

    @property
    def text(self) -> str:
        terms = [f"error(group={self.group})", "error"]
        return f"{' - '.join(terms[:: self.sign])} <= {100 * self.bound:g}%"

    def value(self, outcome: Outcome) -> float:
        of_group = outcome.rate("error", group=self.group)
        return self.sign * (of_group.value - outcome.rate("error").value)

    def standard_error(self, outcome: Outcome) -> float:
        """Half of it for each of the two signs: they are never at their bounds together.

        With w the group's share of the rows, error(g) - error = (1 - w) (error(g) - error(others)).
        """
        of_group, of_all = outcome.rate("error", group=self.group), outcome.rate("error")
        others = Rate(of_all.events - of_group.events, of_all.rows - of_group.rows)
        share = of_group.rows / of_all.rows
        return 0.5 * (1.0 - share) * math.sqrt(of_group.variance + others.variance)


Limit = ClassLimit | GapLimit | DeviationLimit


def are_class_bounds(limits: tuple[Limit, ...]) -> bool:
    return all(isinstance(limit, ClassLimit) for limit in limits)


def total_violation(limits: tuple[Limit, ...], outcome: Outcome) -> float:
    """Of those that are defined on these rows."""
    values = np.array([limit.value(outcome) - limit.bound for limit in limits])
    return float(np.maximum(0.0, values[~np.isnan(values)]).sum())


def noise_floor(limits: tuple[Limit, ...], outcome: Outcome, calibration_rows: int) -> float:
    """The mean violation to be expected of limits that hold with equality on the calibration rows.

    A normal variable exceeds its mean by 0.4 standard deviations on average (1 / sqrt(2 pi)); the
    calibration rows err as well as the test rows.
    """
    errors = np.array([limit.standard_error(outcome) for limit in limits])
    inflation = math.sqrt(1.0 + len(outcome.labels) / calibration_rows)
    return 0.4 * inflation * float(errors[~np.isnan(errors)].sum())
