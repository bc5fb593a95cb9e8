"""The random sets of hyper-parameters that all methods share.

The paper draws 100 of them, "including step size, iteration numbers, and other classifier
hyperparameters", and prints no ranges. Ours are `RANGES`: settings around the libraries' defaults
that a user would try. A set is a function of its number alone, so that the first ten of a hundred
are those of a quick run.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

SEED = 2308  # of all sets; a set's own number comes beside it
LEARNERS = ("lightgbm", "xgboost")


@dataclass(frozen=True)
class Range:
    """Uniform between two numbers, or uniform in their logarithms; both ends included."""

    low: float
    high: float
    logarithmic: bool = False
    whole: bool = False

    def draw(self, random: np.random.Generator) -> float | int:
        if self.whole:
            return int(random.integers(int(self.low), int(self.high), endpoint=True))
        if self.logarithmic:
            return float(np.exp(random.uniform(np.log(self.low), np.log(self.high))))
        return float(random.uniform(self.low, self.high))

    def __str__(self) -> str:
        kind = "whole, " if self.whole else "logarithmic, " if self.logarithmic else ""
        return f"{kind}{self.low:g} to {self.high:g}"


# Drawn in this order: a new one goes to the end, or every set changes.
RANGES = {
    "learning_rate": Range(0.05, 0.3, logarithmic=True),
    "iterations": Range(50, 150, whole=True),
    "leaves": Range(7, 31, whole=True),
    "depth": Range(3, 6, whole=True),
    "min_child": Range(5, 50, whole=True),
    "l2": Range(0.1, 10.0, logarithmic=True),
    "feature_share": Range(0.6, 1.0),
    "dual_step": Range(0.03, 0.3, logarithmic=True),
}
MEANINGS = {
    "learning_rate": "`learning_rate` of both libraries",
    "iterations": "`n_estimators` of both; for the paper's solvers, their iterations",
    "leaves": "`num_leaves` of LightGBM",
    "depth": "`max_depth` of XGBoost",
    "min_child": "`min_child_samples` of LightGBM",
    "l2": "`reg_lambda` of both",
    "feature_share": "`colsample_bytree` of both",
    "dual_step": "the first dual step of the paper's solvers",
}


@dataclass(frozen=True)
class ParameterSet:
    """One set; `number` also seeds the split of the rows and the libraries' own draws."""

    number: int
    learning_rate: float
    iterations: int
    leaves: int
    depth: int
    min_child: int
    l2: float
    feature_share: float
    dual_step: float

    @classmethod
    def draw(cls, number: int) -> "ParameterSet":
        random = np.random.default_rng([SEED, number])
        return cls(number, **{name: values.draw(random) for name, values in RANGES.items()})

    def as_dict(self) -> dict[str, float | int]:
        return asdict(self)

    def estimator(self, learner: str, threads: int) -> Any:
        """A stock estimator that grows the same trees whatever the machine does beside."""
        shared = {
            "learning_rate": self.learning_rate,
            "n_estimators": self.iterations,
            "reg_lambda": self.l2,
            "colsample_bytree": self.feature_share,
            "random_state": self.number,
            "n_jobs": threads,
        }
        if learner == "lightgbm":
            return LGBMClassifier(
                num_leaves=self.leaves,
                min_child_samples=self.min_child,
                deterministic=True,
                force_col_wise=True,
                verbose=-1,
                **shared,
            )
        if learner == "xgboost":
            return XGBClassifier(max_depth=self.depth, verbosity=0, **shared)
        raise ValueError(f"learner: '{learner}'; allowed: {', '.join(LEARNERS)}")
