"""Nanoseconds per row and round on one core, which benchmarks.scale.model starts from.

python -m benchmarks.scale.rates [--rows 1000000] [--repeats 3]

By the library alone and by the solver auto, without a network: the difference between trainings of
many rounds and of few, so that what happens once does not count.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
from bregboost import ConstrainedClassifier
from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

from benchmarks.scale.cluster import LIMITS, make_block

FEATURES = 20
FEW, MANY = 20, 70  # rounds


def estimator(learner: str, rounds: int) -> Any:
    """The cluster benchmark's, on one thread."""
    trees = {"n_estimators": rounds, "learning_rate": 0.1, "n_jobs": 1}
    if learner == "xgboost":
        return XGBClassifier(**trees, max_depth=6, tree_method="hist")
    return LGBMClassifier(**trees, num_leaves=31, verbose=-1)


def train_alone(learner: str, table: pd.DataFrame, rounds: int) -> None:
    estimator(learner, rounds).fit(table.iloc[:, :FEATURES], table["label"])


def train_under_limits(learner: str, table: pd.DataFrame, rounds: int) -> None:
    inner = estimator(learner, rounds)
    model = ConstrainedClassifier(inner, LIMITS["auto"], validation="holdout")
    model.fit(table.iloc[:, :FEATURES], table["label"], sensitive_features=table[["group"]])


def seconds(run: Callable[[], object]) -> float:
    """Of the processor."""
    start = time.process_time()
    run()
    return time.process_time() - start


def seconds_per_round(train: Callable[[int], None]) -> float:
    return (seconds(partial(train, MANY)) - seconds(partial(train, FEW))) / (MANY - FEW)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    names = [*(f"x{j}" for j in range(FEATURES)), "group", "label"]
    table = pd.DataFrame(make_block(0, options.rows, FEATURES), columns=names)
    table["label"] = table["label"].astype(int)
    for learner in ("xgboost", "lightgbm"):
        for train in (train_alone, train_under_limits):
            found = [
                seconds_per_round(partial(train, learner, table)) / options.rows * 1e9
                for _ in range(options.repeats)
            ]
            print(
                f"{learner:<9} {train.__name__:<19} {statistics.median(found):6.1f} ns "
                f"({min(found):.1f} to {max(found):.1f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
