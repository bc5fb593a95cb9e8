"""Which runs there are, and one of them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.common.rate_limits import Outcome, noise_floor, total_violation
from benchmarks.common.rows import Split
from benchmarks.common.tasks import AT_THE_PAPERS_BOUNDS, TASKS, Task
from benchmarks.peers.method import DidNotRun, Problem, Setting
from benchmarks.peers.methods import FRONTIERS, METHODS

PEER_TASKS: dict[str, Task] = {
    name: (TASKS | AT_THE_PAPERS_BOUNDS)[name]
    for name in (
        "drybean",
        "credit",
        "credit_relaxed",
        "adult_error",
        "adult_relaxed",
        "adult_odds",
        "adult_selection",
        "compas",
    )
}

# Left out of a quick run at the paper's bounds, where they are asked the same at other bounds.
SLOW = ("reduction", "reduction_as_given", "forest_cx", "forest_er")


@dataclass(frozen=True)
class Run:
    task: str
    method: str
    learner: str
    setting: Setting
    seed: int

    @property
    def key(self) -> str:
        words = (self.task, self.method, self.learner, self.setting.text, f"seed {self.seed}")
        return ", ".join(words)

    @property
    def words(self) -> dict:
        return asdict(self) | {"setting": self.setting.text}


def wanted_runs(
    tasks: Sequence[str],
    methods: Sequence[str],
    learners: Sequence[str],
    seeds: Sequence[int],
    quick: bool = False,
) -> list[Run]:
    """Seed by seed, so that a run that is stopped early has all methods, and methods that are
    compared are timed soon after each other."""

    def of(task: str, name: str, seed: int) -> Iterator[Run]:
        method = METHODS[name]
        if quick and name in SLOW and task in AT_THE_PAPERS_BOUNDS:
            return
        along_frontier = name == "bregboost" if quick else method.has_settings
        settings = [Setting(), *(FRONTIERS.get(task, ()) if along_frontier else ())]
        for learner in method.learners:
            if learner in learners and method.can_do(PEER_TASKS[task].limits):
                yield from (Run(task, name, learner, setting, seed) for setting in settings)

    return [
        run for seed in seeds for task in tasks for name in methods for run in of(task, name, seed)
    ]


@lru_cache(maxsize=1)
def split_of(task: str, data: Path, seed: int) -> Split:
    return PEER_TASKS[task].split(data, seed)


def measure(run: Run, data: Path, threads: int) -> dict:
    """Of the test rows; why, if the method did not run."""
    task, method = PEER_TASKS[run.task], METHODS[run.method]
    split = split_of(run.task, data, run.seed)
    problem = Problem(split, run.setting.limits(task.limits), run.setting.rho, run.seed, threads)
    try:
        with threadpool_limits(threads):
            plain_seconds = METHODS["plain"].fit(problem, "lightgbm").seconds
            answer = method.fit(problem, run.learner)
    except DidNotRun as reason:
        return run.words | {"failure": str(reason)}
    outcome = Outcome(answer.predicted, split.test.labels, split.test.groups)
    values = [limit.value(outcome) for limit in task.limits]
    return run.words | {
        "accuracy": outcome.accuracy,
        "values": [None if math.isnan(value) else value for value in values],
        "violations": [
            None if math.isnan(value) else max(0.0, value - limit.bound)
            for value, limit in zip(values, task.limits, strict=True)
        ],
        "violation": total_violation(task.limits, outcome),
        "measure": task.measured(outcome, split),
        # A limit that is undefined on these rows is not held.
        "held": all(value <= limit.bound for value, limit in zip(values, task.limits, strict=True)),
        "noise_floor": noise_floor(task.limits, outcome, len(split.training.labels)),
        "seconds": answer.seconds,
        "plain_seconds": plain_seconds,
        "deterministic": method.deterministic,
        "group_at_prediction": method.group_at_prediction and split.test.groups is not None,
    }
