"""Runs to table lines: means over seeds beside the figures to beat."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

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


def rhos_with_figures(task: str) -> list[float]:
    """5, and those that the prototype was measured at."""
    return sorted({5.0} | {rho for name, _, rho in PROTOTYPE if name == task})


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
    "noise only",
)


def compared(key: tuple[str, str, float], accuracy: Mean, measure: Mean) -> tuple[str, str]:
    """The prototype's figures, and whether ours are within one standard error of them or better.
    A gap below its bound is as good as one at it."""
    if key not in PROTOTYPE:
        return "", ""
    their_accuracy, their_measure = PROTOTYPE[key]
    allowed = max(their_measure, 100.0 * TASKS[key[0]].bound)
    verdicts = {
        "accuracy": accuracy.value + accuracy.error >= their_accuracy,
        "measure": measure.value - measure.error <= allowed,
    }
    missed = [name for name, good in verdicts.items() if not good]
    return (
        f"{their_accuracy:g} / {their_measure:g}",
        f"not {', '.join(missed)}" if missed else "yes",
    )


def noise_verdict(runs: list[dict], violation: Mean, floor: Mean) -> str:
    """Whether chance alone explains the violation on test rows. Where limits were already broken
    out of fold it need not."""
    if any(run["unseen_violation"] > 0.0 for run in runs):
        return "broken out of fold"
    return "yes" if violation.value <= floor.value else "no"


def line(runs: list[dict]) -> list[str]:
    """Of runs that differ in their seeds alone."""
    first = runs[0]
    task = TASKS[first["task"]]
    limited = task.methods[first["method"]].with_limits

    def mean(name: str) -> Mean:
        return Mean.of(run[name] for run in runs)

    accuracy, violation, floor, measure = map(
        mean, ("accuracy", "violation", "noise_floor", "measure")
    )
    figures, as_good = "", ""
    if first["method"] == "auto":
        key = (first["task"], first["learner"], first["rho"])
        figures, as_good = compared(key, accuracy, measure)
    return [
        task.title,
        first["learner"],
        f"{first['method']}, rho {first['rho']:g}" if limited else first["method"],
        str(len(runs)),
        str(accuracy),
        f"{violation} ({floor.value:.2f})",
        "" if task.measure == "violation" else f"{task.measure} {measure}",
        f"{mean('unseen_accuracy').value:.2f}"
        + (f" / {mean('unseen_violation').value:.2f}" if limited else ""),
        figures,
        as_good,
        noise_verdict(runs, violation, floor) if limited else "",
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
        f"{runs[0]['rho']:g}",
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
