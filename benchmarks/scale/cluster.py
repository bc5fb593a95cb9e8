"""What limits cost on a Dask cluster: constrained over plain training, on the same workers.

python -m benchmarks.scale.cluster [--rows 2000000] [--workers 1 2 4] [--rounds 100] [--repeats 3]
                                   [--out JSON] [--page docs/scale.md]

Generated rows, persisted before anything is timed. The ways run one after the other in each repeat;
what is printed are medians, and medians of the ratios within a repeat.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
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

from benchmarks.common.machine import processor
from benchmarks.common.markdown import table, with_part
from benchmarks.common.results_file import write_whole

PART = "measured on a cluster"
ALONE = "alone"

# ABPP takes convex limits only.
LIMITS = {"abpp": ["fnr <= 20%"], "auto": ["fnr <= 20%", "gap(error, by=group) <= 3%"]}
PARTS_PER_WORKER = 2
TITLES = {"xgboost": "XGBoost", "lightgbm": "LightGBM"}
WAYS = {
    ALONE: "alone",
    **{way: f"`{way}`, {' and '.join(f'`{limit}`' for limit in LIMITS[way])}" for way in LIMITS},
}


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
    frame = dd.from_dask_array(
        da.concatenate(blocks), columns=[*(f"x{j}" for j in range(features)), "group", "label"]
    ).persist()
    wait(frame)
    return frame[[f"x{j}" for j in range(features)]], frame["label"].astype(int), frame[["group"]]


def seconds(run: Callable[[], object]) -> float:
    """Of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def ways_of(learner: str, rounds: int, rows: tuple[Any, Any, Any]) -> dict[str, Callable]:
    """The library alone, then each solver."""
    X, y, group = rows
    trees = {"n_estimators": rounds, "learning_rate": 0.1, "n_jobs": 1}
    if learner == "xgboost":
        trees |= {"max_depth": 6, "tree_method": "hist"}
        stock, inner = DaskXGBClassifier(**trees), XGBClassifier(**trees)
    else:
        trees |= {"num_leaves": 31, "verbose": -1}
        stock, inner = DaskLGBMClassifier(**trees), LGBMClassifier(**trees)

    def limited(solver: str) -> object:
        model = ConstrainedClassifier(inner, LIMITS[solver], solver=solver)
        return model.fit(X, y, sensitive_features=group)

    return {
        ALONE: lambda: stock.fit(X, y),
        **{solver: partial(limited, solver) for solver in LIMITS},
    }


def measure(args: argparse.Namespace, workers: int) -> list[dict[str, Any]]:
    """All ways of all learners on so many workers, one after the other in each repeat."""
    cells = []
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        rows = make_rows(args.rows, args.features, PARTS_PER_WORKER * max(args.workers))
        for learner in args.learners:
            ways = ways_of(learner, args.rounds, rows)
            times: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(args.repeats):
                for way, run in ways.items():
                    times[way].append(seconds(run))
            for way, values in times.items():
                cell = {"workers": workers, "learner": learner, "way": way, "seconds": values}
                cells.append(cell)
                print(
                    f"{workers} workers, {learner:<9} {way:<6} {statistics.median(values):7.2f} s, "
                    f"{ratio(values, times[ALONE])} of {ALONE}",
                    flush=True,
                )
    return cells


def ratio(values: Sequence[float], alone: Sequence[float]) -> str:
    """Median and range of the ratios within a repeat."""
    ratios = [a / b for a, b in zip(values, alone, strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def render(results: dict[str, Any]) -> str:
    """The table of the page, with what it was made on."""
    about = results["about"]
    times = {(c["workers"], c["learner"], c["way"]): c["seconds"] for c in results["cells"]}
    numbers = sorted({workers for workers, _, _ in times})
    lines = []
    for learner, way in dict.fromkeys((learner, way) for _, learner, way in times):
        line = [TITLES[learner], WAYS[way]]
        for workers in numbers:
            values = times[workers, learner, way]
            text = f"{statistics.median(values):.1f} s"
            if way != ALONE:
                text += f", {ratio(values, times[workers, learner, ALONE])}"
            line.append(text)
        lines.append(line)
    header = ["", "", *(f"{n} worker{'s' if n > 1 else ''}" for n in numbers)]
    return (
        f"{about['rows']:,} x {about['features']} generated rows, {about['rounds']} rounds; "
        f"workers of one thread each,\n"
        f"on one machine with {about['cores']} cores ({about['machine']}).\n"
        f"Medians of {about['repeats']}; behind the seconds, those over the library's own Dask\n"
        f"estimator (range).\n\n{table(header, lines)}"
    )


def main() -> None:
    """Read the flags, measure, and write what was found where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--learners", nargs="+", default=["xgboost", "lightgbm"])
    parser.add_argument("--out", type=Path, help="JSON with all seconds")
    parser.add_argument("--page", type=Path, help="whose table is written anew")
    args = parser.parse_args()
    about = {
        **{name: getattr(args, name) for name in ("rows", "features", "rounds", "repeats")},
        "machine": processor(),
        "cores": os.cpu_count(),
        "versions": {
            name: version(name) for name in ("bregboost", "dask", "lightgbm", "xgboost-cpu")
        },
    }
    cells = [cell for workers in args.workers for cell in measure(args, workers)]
    results = {"about": about, "cells": cells}
    if args.out:
        write_whole(args.out, json.dumps(results, indent=1) + "\n")
    if args.page:
        write_whole(args.page, with_part(args.page.read_text(), PART, render(results)))


if __name__ == "__main__":
    main()
