"""What limits cost on a Dask cluster: constrained over plain training, on the same workers.

python -m benchmarks.scale.cluster [--rows 2000000] [--workers 2] [--rounds 100] [--repeats 3]

Generated rows, persisted before anything is timed. The ways run one after the other in each repeat;
what is printed are medians, and medians of the ratios within a repeat.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import dask
import numpy as np
from bregboost.dask import ConstrainedClassifier
from dask import array as da
from dask import dataframe as dd
from distributed import Client, LocalCluster, wait
from lightgbm import DaskLGBMClassifier, LGBMClassifier
from xgboost import XGBClassifier
from xgboost.dask import DaskXGBClassifier

# ABPP takes convex limits only.
LIMITS = {"abpp": ["fnr <= 20%"], "auto": ["fnr <= 20%", "gap(error, by=group) <= 3%"]}
PARTS_PER_WORKER = 2


def make_block(seed: int, rows: int, features: int) -> np.ndarray:
    """Features, then a group, then a label that depends on both."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(rows, features + 2)).astype(np.float32)
    values[:, features] = random.random(rows) < 0.3
    score = values[:, 0] - values[:, 1] * values[:, 2] + 0.5 * values[:, features]
    values[:, features + 1] = score + random.logistic(size=rows) > 0.5
    return values


def make_rows(rows: int, features: int, parts: int) -> tuple[Any, Any, Any]:
    """X, y and the group, on the workers."""
    shape = (rows // parts, features + 2)
    blocks = [
        da.from_delayed(dask.delayed(make_block)(seed, rows // parts, features), shape, np.float32)
        for seed in range(parts)
    ]
    table = dd.from_dask_array(
        da.concatenate(blocks), columns=[*(f"x{j}" for j in range(features)), "group", "label"]
    ).persist()
    wait(table)
    return table[[f"x{j}" for j in range(features)]], table["label"].astype(int), table[["group"]]


def seconds(run: Callable[[], object]) -> float:
    """Of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    """Read the flags, start a cluster, print a line per way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--learners", nargs="+", default=["xgboost", "lightgbm"])
    args = parser.parse_args()
    trees = {"n_estimators": args.rounds, "learning_rate": 0.1}
    stock = {
        "xgboost": DaskXGBClassifier(**trees, max_depth=6, tree_method="hist", n_jobs=1),
        "lightgbm": DaskLGBMClassifier(**trees, num_leaves=31, verbose=-1, n_jobs=1),
    }
    inner = {
        "xgboost": XGBClassifier(**trees, max_depth=6, tree_method="hist", n_jobs=1),
        "lightgbm": LGBMClassifier(**trees, num_leaves=31, verbose=-1, n_jobs=1),
    }
    with (
        LocalCluster(
            n_workers=args.workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
    ):
        X, y, group = make_rows(args.rows, args.features, PARTS_PER_WORKER * args.workers)
        print(f"{args.rows} x {args.features}, {args.rounds} rounds, {args.workers} workers")
        for learner in args.learners:
            ways: dict[str, Callable[[], object]] = {
                "plain": lambda learner=learner: stock[learner].fit(X, y),
                **{
                    solver: lambda learner=learner, solver=solver: ConstrainedClassifier(
                        inner[learner], LIMITS[solver], solver=solver
                    ).fit(X, y, sensitive_features=group)
                    for solver in LIMITS
                },
            }
            times: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(args.repeats):
                for name, run in ways.items():
                    times[name].append(seconds(run))
            for name, values in times.items():
                ratios = [a / b for a, b in zip(values, times["plain"], strict=True)]
                print(
                    f"{learner:<9} {name:<6} {statistics.median(values):7.2f} s, "
                    f"{statistics.median(ratios):.3f} of plain "
                    f"({min(ratios):.3f} to {max(ratios):.3f})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
