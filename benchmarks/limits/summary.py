"""Runs to table lines: means over seeds beside the figures to beat."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from benchmarks.common.all_tasks import ALL_TASKS
from benchmarks.common.rate_limits import are_class_bounds
from benchmarks.common.tasks import TASKS

# (task, learner, rho): accuracy and the paper's measure on test rows, percent, of the Python
# prototypes that the recipe was found with; LightGBM's unless the task has figures of both.
PROTOTYPE = {
    ("drybean", "lightgbm", 1.0): (90.3, 3.0),
    ("drybean", "lightgbm", 2.0): (90.2, 1.2),
    ("drybean", "lightgbm", 5.0): (88.4, 1.9),
    ("drybean", "xgboost", 1.0): (90.8, 1.6),
    ("drybean", "xgboost", 2.0): (90.1, 1.0),
    ("credit", "lightgbm", 5.0): (92.1, 1.1),
    ("credit", "lightgbm", 20.0): (88.3, 0.6),
    ("adult_error", "lightgbm", 5.0): (85.6, 5.0),
    ("adult_odds", "lightgbm", 5.0): (86.7, 2.4),
    ("adult_selection", "lightgbm", 5.0): (85.9, 4.8),
    ("compas", "lightgbm", 1.0): (58.4, 8.0),
    ("compas", "lightgbm", 5.0): (54.0, 6.3),
}

# The same prototypes run anew on the splits of SAME_SEEDS: accuracy, its standard error, the
# measure and its standard error.
SAME_SEEDS = range(100, 110)
PROTOTYPE_ON_SAME_SPLITS = {
    ("drybean", "lightgbm", 1.0): (90.85, 0.24, 2.31, 0.35),
    ("drybean", "lightgbm", 2.0): (90.08, 0.26, 1.63, 0.29),
    ("drybean", "lightgbm", 5.0): (88.97, 0.21, 1.11, 0.23),
    ("drybean", "xgboost", 1.0): (90.75, 0.23, 1.96, 0.40),
    ("drybean", "xgboost", 2.0): (90.03, 0.28, 1.54, 0.32),
    ("drybean", "xgboost", 5.0): (88.49, 0.33, 0.87, 0.29),
    ("credit", "lightgbm", 5.0): (92.21, 0.56, 2.08, 0.69),
    ("credit", "lightgbm", 20.0): (88.61, 0.46, 1.08, 0.43),
    ("credit", "xgboost", 5.0): (91.54, 0.54, 1.63, 0.46),
    ("credit", "xgboost", 20.0): (89.53, 0.88, 1.53, 0.46),
    ("adult_error", "lightgbm", 5.0): (85.54, 0.05, 4.98, 0.11),
    ("adult_error", "xgboost", 5.0): (85.45, 0.03, 5.06, 0.07),
    ("adult_odds", "lightgbm", 5.0): (86.55, 0.07, 3.09, 0.25),
    ("adult_odds", "xgboost", 5.0): (86.44, 0.05, 3.31, 0.28),
    ("adult_selection", "lightgbm", 5.0): (85.96, 0.02, 4.86, 0.06),
    ("adult_selection", "xgboost", 5.0): (85.76, 0.02, 4.91, 0.04),
    ("compas", "lightgbm", 1.0): (56.97, 0.73, 7.40, 0.40),
    ("compas", "lightgbm", 5.0): (54.45, 0.62, 5.73, 0.46),
    ("compas", "xgboost", 1.0): (57.73, 0.66, 6.23, 0.33),
    ("compas", "xgboost", 5.0): (54.86, 0.36, 5.68, 0.30),
}


def rhos_with_figures(task: str) -> list[float | None]:
    """5, those that the prototype was measured at, and the one that is chosen unless that is 5."""
    figures = sorted({5.0} | {rho for name, _, rho in PROTOTYPE if name == task})
    return [None, *figures] if are_class_bounds(ALL_TASKS[task].limits) else figures


def rho_text(rho: float | None) -> str:
    return "rho chosen" if rho is None else f"rho {rho:g}"


@dataclass(frozen=True)
class Mean:
    """In percent."""

    value: float
    error: float  # standard error over seeds; 0 for a single one

    @classmethod
    def of(cls, values: Iterable[float]) -> "Mean":
        percent = 100.0 * np.array(list(values))
        count = len(percent)
        error = percent.std(ddof=1) / np.sqrt(count) if count > 1 else 0.0
        return cls(float(percent.mean()), float(error))

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {self.error:.2f}"


HEADER = (
    "task",
    "learner",
    "method",
    "seeds",
    "accuracy",
    "violation (noise floor)",
    "measure",
    "out of fold",
    "prototype",
    "as good",
    "prototype, same splits",
    "as good there",
    "noise only",
)


Key = tuple[str, str, float | None]


def verdict(key: Key, accuracy: Mean, measure: Mean, theirs: tuple[Mean, Mean]) -> str:
    """Whether ours are better or within one standard error of the difference. A gap below its bound
    is as good as one at it."""
    their_accuracy, their_measure = theirs
    allowed = max(their_measure.value, 100.0 * TASKS[key[0]].bound)
    verdicts = {
        "accuracy": their_accuracy.value - accuracy.value
        <= math.hypot(accuracy.error, their_accuracy.error),
        "measure": measure.value - allowed <= math.hypot(measure.error, their_measure.error),
    }
    missed = [name for name, good in verdicts.items() if not good]
    return f"not {', '.join(missed)}" if missed else "yes"


def compared(key: Key, accuracy: Mean, measure: Mean) -> list[str]:
    """The prototype's figures and whether ours are as good; these come without standard errors, so
    that ours alone count."""
    if key not in PROTOTYPE:
        return ["", ""]
    theirs = tuple(Mean(value, 0.0) for value in PROTOTYPE[key])
    return [
        " / ".join(f"{mean.value:g}" for mean in theirs),
        verdict(key, accuracy, measure, theirs),
    ]


def compared_on_same_splits(key: Key, seeds: set[int], accuracy: Mean, measure: Mean) -> list[str]:
    if key not in PROTOTYPE_ON_SAME_SPLITS or seeds != set(SAME_SEEDS):
        return ["", ""]
    values = PROTOTYPE_ON_SAME_SPLITS[key]
    theirs = Mean(*values[:2]), Mean(*values[2:])
    return [f"{theirs[0]} / {theirs[1]}", verdict(key, accuracy, measure, theirs)]


def noise_verdict(runs: list[dict], violation: Mean, floor: Mean) -> str:
    """Whether chance alone explains the violation on test rows. Where limits were already broken
    out of fold it need not."""
    if any(run["unseen_violation"] > 0.0 for run in runs):
        return "broken out of fold"
    return "yes" if violation.value <= floor.value else "no"


def line(runs: list[dict]) -> list[str]:
    """Of runs that differ in their seeds alone."""
    first = runs[0]
    task = ALL_TASKS[first["task"]]
    limited = task.methods[first["method"]].with_limits

    def mean(name: str) -> Mean:
        return Mean.of(run[name] for run in runs)

    accuracy, violation, floor, measure = map(
        mean, ("accuracy", "violation", "noise_floor", "measure")
    )
    beside = [""] * 4
    if first["method"] == "auto":
        key = (first["task"], first["learner"], first["rho"])
        seeds = {run["seed"] for run in runs}
        beside = [
            *compared(key, accuracy, measure),
            *compared_on_same_splits(key, seeds, accuracy, measure),
        ]
    return [
        task.title,
        first["learner"],
        f"{first['method']}, {rho_text(first['rho'])}" if limited else first["method"],
        str(len(runs)),
        str(accuracy),
        f"{violation} ({floor.value:.2f})",
        "" if task.measure == "violation" else f"{task.measure} {measure}",
        f"{mean('unseen_accuracy').value:.2f}"
        + (f" / {mean('unseen_violation').value:.2f}" if limited else ""),
        *beside,
        noise_verdict(runs, violation, floor) if limited else "",
    ]


SURVEY_HEADER = (
    "data sets and limits",
    "learner",
    "method",
    "runs",
    "accuracy",
    "violation",
    "noise floor",
    "within it",
    "loss, less offsets",
)

# Points of accuracy that a point of violation is worth in losses.
LOSS_RHO = 5.0

# Runs of each data set, which differ in their seeds alone.
Surveys = dict[str, list[dict]]


def survey_losses(surveys: Surveys) -> dict[str, float]:
    return {
        name: float(np.mean([1.0 - run["accuracy"] + LOSS_RHO * run["violation"] for run in runs]))
        for name, runs in surveys.items()
    }


def survey_line(surveys: Surveys, with_offsets: Surveys) -> list[str]:
    """Means over data sets of the means over seeds; standard errors are over data sets."""
    first = next(iter(surveys.values()))[0]

    def means(value: str) -> list[float]:
        return [float(np.mean([run[value] for run in runs])) for runs in surveys.values()]

    violations, floors = means("violation"), means("noise_floor")
    within = sum(v <= floor for v, floor in zip(violations, floors, strict=True))
    theirs = survey_losses(with_offsets)
    less = Mean.of(loss - theirs[name] for name, loss in survey_losses(surveys).items())
    return [
        ALL_TASKS[first["task"]].title,
        first["learner"],
        f"{first['method']}, {rho_text(first['rho'])}",
        str(sum(map(len, surveys.values()))),
        str(Mean.of(means("accuracy"))),
        str(Mean.of(violations)),
        f"{Mean.of(floors).value:.2f}",
        f"{within} of {len(surveys)}",
        str(less),
    ]


CERTIFY_HEADER = (
    "learner",
    "rho",
    "delta",
    "seeds",
    "certified",
    "test fnr, certified",
    "test fnr above 5%",
    "accuracy, certified",
    "accuracy, no certificate asked",
)


def certify_line(runs: list[dict], uncertified: list[dict]) -> list[str]:
    """Of Credit with certification rows, and of the same seeds without."""
    certified = [run for run in runs if run["certified"]]
    rates = Mean.of(run["values"][0] for run in certified) if certified else "none"
    accuracy = Mean.of(run["accuracy"] for run in certified) if certified else "none"
    bound = TASKS["credit"].limits[0].bound
    return [
        runs[0]["learner"],
        rho_text(runs[0]["rho"]),
        f"{runs[0]['delta']:g}",
        str(len(runs)),
        f"{len(certified)} of {len(runs)}",
        str(rates),
        f"{sum(run['values'][0] > bound for run in certified)} of {len(certified)}",
        str(accuracy),
        str(Mean.of(run["accuracy"] for run in uncertified)),
    ]


def as_text(header: tuple[str, ...], lines: list[list[str]]) -> str:
    table = [list(header), *lines]
    widths = [max(len(row[j]) for row in table) for j in range(len(header))]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )


def as_markdown(header: tuple[str, ...], lines: list[list[str]]) -> str:
    rows = [list(header), ["---"] * len(header), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
