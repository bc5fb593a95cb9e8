"""How far rates on fresh rows agree between two Dask workers and one machine.

python -m benchmarks.scale.agreement [--rows 20000 100000 400000] [--seeds 3] [--out JSON]
                                     [--page docs/scale.md]

Features are continuous, so that the libraries choose other bins on a cluster. Beside it stands what
other bins do on one machine: the same training with one bin less per feature.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bregboost import ConstrainedClassifier as OnOneMachine
from bregboost.dask import ConstrainedClassifier
from dask import array as da
from distributed import Client, LocalCluster, default_client
from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

from benchmarks.common.markdown import table, with_part
from benchmarks.common.results_file import write_whole

PART = "agreement"
LIMITS = ["fnr <= 25%", "gap(fpr, by=city) <= 4%"]
ESTIMATORS = {
    "XGBoost": XGBClassifier(n_estimators=60, max_depth=4, max_bin=256, n_jobs=1),
    "LightGBM": LGBMClassifier(n_estimators=60, num_leaves=15, max_bin=255, n_jobs=1, verbose=-1),
}


@dataclass(frozen=True)
class People:
    X: np.ndarray
    y: np.ndarray
    city: np.ndarray

    def __getitem__(self, rows: slice) -> "People":
        return People(self.X[rows], self.y[rows], self.city[rows])

    def spread(self) -> "People":
        """The same rows in partitions, on the workers."""

        def of(values: np.ndarray) -> da.Array:
            return da.concatenate(
                [
                    da.from_delayed(default_client().scatter(part), part.shape, part.dtype)
                    for part in np.array_split(values, 4)
                ]
            )

        return People(of(self.X), of(self.y), of(self.city))


def make_people(seed: int, rows: int) -> tuple[People, People, People]:
    """Rows to train on, unseen rows and fresh rows, as many of each."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(3 * rows, 6))
    city = np.where(random.random(3 * rows) < 0.4, "south", "north")
    score = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.5 * (city == "south")
    y = (score + random.logistic(size=3 * rows) > 0.5).astype(int)
    people = People(X, y, city)
    return tuple(people[k * rows : (k + 1) * rows] for k in range(3))


def fit(way: type, estimator: Any, training: People, unseen: People) -> Any:
    return way(estimator, LIMITS).fit(
        training.X,
        training.y,
        sensitive_features=training.city,
        eval_set=(unseen.X, unseen.y),
        eval_sensitive_features=unseen.city,
    )


def limited_rates(model: Any, people: People) -> list[float]:
    """The miss rate and the gap between the cities, in points."""
    predicted, negative, south = model.predict(people.X), people.y == 0, people.city == "south"
    alarms = [predicted[negative & of].mean() for of in (south, ~south)]
    return [100.0 * (1.0 - predicted[people.y == 1].mean()), 100.0 * (alarms[0] - alarms[1])]


def differences(name: str, rows: int, seed: int) -> dict[str, list[float]]:
    """Of both rates on fresh rows from those of one machine. Needs a client."""
    estimator = ESTIMATORS[name]
    fewer_bins = type(estimator)(**{**estimator.get_params(), "max_bin": estimator.max_bin - 1})
    training, unseen, fresh = make_people(seed, rows)
    alone = limited_rates(fit(OnOneMachine, estimator, training, unseen), fresh)
    others = {
        "cluster": fit(ConstrainedClassifier, estimator, training.spread(), unseen.spread()),
        "bins": fit(OnOneMachine, fewer_bins, training, unseen),
    }
    return {
        way: np.subtract(limited_rates(model, fresh), alone).tolist()
        for way, model in others.items()
    }


def shown(points: Sequence[Sequence[float]]) -> list[str]:
    """For each rate the mean over seeds, and the largest of them."""
    return [
        f"{np.mean(values):+.2f} ({max(np.abs(values)):.2f})"
        for values in zip(*points, strict=True)
    ]


def render(cells: list[dict[str, Any]]) -> str:
    """The table of the page."""
    lines = [
        [
            cell["library"],
            f"{cell['rows']:,}",
            *shown([d["cluster"] for d in cell["differences"]]),
            *shown([d["bins"] for d in cell["differences"]]),
        ]
        for cell in cells
    ]
    header = ["", "rows", "cluster: fnr", "cluster: gap", "one bin less: fnr", "one bin less: gap"]
    return table(header, lines)


def main() -> None:
    """Read the flags, compare, and write what was found where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 100_000, 400_000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="JSON with all differences")
    parser.add_argument("--page", type=Path, help="whose table is written anew")
    args = parser.parse_args()
    cells = []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        for name in ESTIMATORS:
            for rows in args.rows:
                found = [differences(name, rows, seed) for seed in range(args.seeds)]
                cells.append({"library": name, "rows": rows, "differences": found})
                print(render(cells[-1:]).splitlines()[-1], flush=True)
    if args.out:
        write_whole(args.out, json.dumps({"cells": cells}, indent=1) + "\n")
    if args.page:
        write_whole(args.page, with_part(args.page.read_text(), PART, render(cells)))


if __name__ == "__main__":
    main()
