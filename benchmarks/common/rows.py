"""Rows of a data set, and how they are parted. Needs NumPy alone: peers read it in environments of
their own."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Rows:
    features: np.ndarray
    labels: np.ndarray
    groups: np.ndarray | None = None

    def __getitem__(self, chosen: np.ndarray) -> "Rows":
        groups = None if self.groups is None else self.groups[chosen]
        return Rows(self.features[chosen], self.labels[chosen], groups)


@dataclass(frozen=True)
class Split:
    training: Rows
    test: Rows
    large_groups: tuple[int, ...] = ()
