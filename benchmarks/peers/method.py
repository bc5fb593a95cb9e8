"""What a method is to the benchmark: something that is fitted on training rows and says the classes
of test rows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.common.rate_limits import GapLimit, Limit, are_class_bounds
from benchmarks.common.rows import Split

RHO = 5.0  # points of accuracy that a point of violation is worth, for methods that must be told


@dataclass(frozen=True)
class Setting:
    """How strictly limits are asked for; the default is what tables show."""

    rho: float | None = None  # None: the method's own default, or RHO
    bounds: float = 1.0  # they are multiplied by it

    @property
    def text(self) -> str:
        if self == Setting():
            return "default"
        return f"rho {self.rho:g}" if self.bounds == 1.0 else f"bounds x {self.bounds:g}"

    def limits(self, limits: tuple[Limit, ...]) -> tuple[Limit, ...]:
        return tuple(replace(limit, bound=limit.bound * self.bounds) for limit in limits)


@dataclass(frozen=True)
class Problem:
    split: Split
    limits: tuple[Limit, ...]
    rho: float | None
    seed: int
    threads: int


@dataclass(frozen=True)
class Answer:
    predicted: np.ndarray  # classes of the test rows
    seconds: float  # of training, without reading data and without predicting


class DidNotRun(Exception):
    """The method is not there, or failed; the message says why."""


class Method(ABC):
    title: str
    learners: tuple[str, ...]
    deterministic: bool = True
    group_at_prediction: bool = False
    has_settings: bool = False  # whether it is run along the frontier

    def package_version(self) -> str:
        """Of the peer's package; empty for those of the project's own environment."""
        return ""

    @abstractmethod
    def can_do(self, limits: tuple[Limit, ...]) -> bool:
        """Whether the method has a word for limits of this kind."""

    @abstractmethod
    def fit(self, problem: Problem, learner: str) -> Answer: ...


def is_miss_rate(limits: tuple[Limit, ...]) -> bool:
    return are_class_bounds(limits) and [limit.name for limit in limits] == ["fnr"]


def gap_names(limits: tuple[Limit, ...]) -> frozenset[str]:
    """Rates whose gaps between two groups are limited; empty if anything else is."""
    if not all(isinstance(limit, GapLimit) for limit in limits):
        return frozenset()
    return frozenset(limit.name for limit in limits)


ERROR, ODDS, SELECTION = map(frozenset, (["error"], ["fnr", "fpr"], ["selection_rate"]))
