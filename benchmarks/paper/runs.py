"""One run: a problem, a learner, a method and a set of hyper-parameters, measured on test rows."""

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from bregboost import ConstrainedClassifier

from benchmarks.common.rate_limits import Limit, Outcome, total_violation
from benchmarks.common.tasks import Split
from benchmarks.paper.parameters import ParameterSet
from benchmarks.paper.problems import PROBLEMS, Problem

METHODS = ("plain", "paper", "paper_linearized", "auto", "auto_relaxed")


@dataclass(frozen=True)
class Run:
    problem: str
    learner: str
    method: str
    number: int  # of the set

    @property
    def key(self) -> str:
        return f"{self.problem}, {self.learner}, {self.method}, set {self.number}"


def wanted_runs(
    problems: Iterable[str], learners: Iterable[str], methods: Iterable[str], sets: int
) -> list[Run]:
    """Set by set, so that an interrupted benchmark has whole sets."""
    cells = [cell for cell in product(problems, learners, methods) if has_method(*cell)]
    return [Run(*cell, number) for number in range(sets) for cell in cells]


def has_method(problem: str, learner: str, method: str) -> bool:
    """Relaxed limits and forms of the paper's method exist for some problems only."""
    if method == "auto_relaxed":
        return PROBLEMS[problem].limits_at_paper_level(problem, learner) is not None
    return method in ("plain", "auto") or method in PROBLEMS[problem].solver_options


def limits_of(run: Run) -> tuple[Limit, ...]:
    problem = PROBLEMS[run.problem]
    relaxed = problem.limits_at_paper_level(run.problem, run.learner)
    return relaxed if run.method == "auto_relaxed" and relaxed else problem.task.limits


def constrained(
    run: Run, problem: Problem, parameters: ParameterSet, threads: int
) -> ConstrainedClassifier:
    estimator = parameters.estimator(run.learner, threads)
    if run.method in problem.solver_options:
        return ConstrainedClassifier(
            estimator,
            list(problem.paper_limits),
            solver=problem.solver,
            solver_options={
                "dual_step": parameters.dual_step,
                **problem.solver_options[run.method],
            },
        )
    texts = [limit.text for limit in limits_of(run)]
    return ConstrainedClassifier(estimator, texts, random_state=run.number)


def predictions(run: Run, split: Split, threads: int) -> np.ndarray:
    training = split.training
    parameters = ParameterSet.draw(run.number)
    if run.method == "plain":
        model: Any = parameters.estimator(run.learner, threads)
        model.fit(training.features, training.labels)
    else:
        model = constrained(run, PROBLEMS[run.problem], parameters, threads)
        groups = None if training.groups is None else {"group": training.groups}
        model.fit(training.features, training.labels, sensitive_features=groups)
    return np.asarray(model.predict(split.test.features))


def measure(run: Run, data: Path, threads: int) -> dict[str, Any]:
    """What the test rows say. Limits that a split has no rows for are refused by the library; that
    is a result too."""
    problem = PROBLEMS[run.problem]
    split = problem.task.split(data, run.number)
    start = time.perf_counter()
    try:
        predicted = predictions(run, split, threads)
    except ValueError as error:
        return asdict(run) | {"failure": str(error)}
    seconds = time.perf_counter() - start
    outcome = Outcome(predicted, split.test.labels, split.test.groups)
    limits = limits_of(run)
    return asdict(run) | {
        "accuracy": outcome.accuracy,
        "measure": problem.measured(outcome),
        "large_groups": problem.spread_of_large_groups(outcome, split),
        "violation": total_violation(limits, outcome),
        "seconds": seconds,
    }
