"""The course of CBPR on Adult for several alpha: loss and loss difference at every iteration.

The paper's third figure. All of it is on the training rows, where its solver looks.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from bregboost import ConstrainedClassifier
from scipy.special import expit

from benchmarks.common.tasks import Rows
from benchmarks.paper.parameters import ParameterSet
from benchmarks.paper.problems import FORMS, GROUP_LOSSES, PROBLEMS

PROBLEM = "adult"
ALPHAS = (0.02, 0.05, 0.1, 0.15)
# Settings that most users start from, on the split of set 0.
SETTINGS = ParameterSet(
    number=0,
    learning_rate=0.1,
    iterations=100,
    leaves=31,
    depth=5,
    min_child=20,
    l2=1.0,
    feature_share=1.0,
    dual_step=0.1,
)
EVERY = 5  # iterations between two points of the plain course


@dataclass(frozen=True)
class Course:
    learner: str
    method: str  # plain, or a form of CBPR
    alpha: float | None = None  # None: no limit

    @property
    def key(self) -> str:
        limit = "no limit" if self.alpha is None else f"alpha {self.alpha:g}"
        return f"{PROBLEM}, {self.learner}, {self.method}, {limit}"


def wanted_courses(learners: Iterable[str], methods: Iterable[str]) -> list[Course]:
    """Those of the plain library too, if there is something to compare them with."""
    forms = [method for method in methods if method in FORMS]
    if not forms:
        return []
    limited = [Course(*cell) for cell in product(learners, forms, ALPHAS)]
    return [Course(learner, "plain") for learner in learners] + limited


def follow(course: Course, data: Path, threads: int) -> dict[str, Any]:
    rows = PROBLEMS[PROBLEM].task.split(data, SETTINGS.number).training
    trace = plain if course.alpha is None else limited
    return asdict(course) | trace(course, rows, threads)


def limited(course: Course, rows: Rows, threads: int) -> dict[str, list[float]]:
    limit = GROUP_LOSSES.format(course.alpha)
    model = ConstrainedClassifier(
        SETTINGS.estimator(course.learner, threads),
        limit,
        solver=PROBLEMS[PROBLEM].solver,
        solver_options={"dual_step": SETTINGS.dual_step, **FORMS[course.method]},
    )
    model.fit(rows.features, rows.labels, sensitive_features={"group": rows.groups})
    points = model.history_[["objective", f"value: {limit}"]]
    # Rows between the sub-problems say once more where the model is.
    moved = points.diff().ne(0.0).any(axis=1)
    objective, difference = (points.loc[moved, name].tolist() for name in points)
    return {
        "iteration": list(range(len(objective))),
        "objective": objective,
        "difference": difference,
    }


def plain(course: Course, rows: Rows, threads: int) -> dict[str, list[float]]:
    """Of the stock library, from its own predictions with the first trees."""
    model = SETTINGS.estimator(course.learner, threads).fit(rows.features, rows.labels)
    counts = range(EVERY, SETTINGS.iterations + 1, EVERY)
    losses = [row_losses(model, course.learner, count, rows) for count in counts]
    by_group = [[loss[rows.groups == group].mean() for group in (0, 1)] for loss in losses]
    return {
        "iteration": list(counts),
        "objective": [float(loss.mean()) for loss in losses],
        "difference": [float(abs(first - second)) for first, second in by_group],
    }


def row_losses(model: Any, learner: str, trees: int, rows: Rows) -> np.ndarray:
    if learner == "lightgbm":
        scores = model.predict(rows.features, raw_score=True, num_iteration=trees)
    else:
        scores = model.predict(rows.features, output_margin=True, iteration_range=(0, trees))
    margins = np.where(rows.labels == 1, scores, -scores)
    return -np.log(expit(margins.astype(float)))
