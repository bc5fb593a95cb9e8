"""Results as the page reads them: one cell per task, method, learner and setting, with lists by
seed."""

from dataclasses import dataclass

import numpy as np

from benchmarks.common.statistics import Scores, Summary
from benchmarks.peers.method import RHO

LEARNER_NAMES = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "forest": ""}
OURS = "bregboost"


@dataclass(frozen=True)
class Cell:
    """Shares, not percent. Without runs, `failure` says why."""

    task: str
    method: str
    learner: str
    setting: str
    title: str
    seeds: list[int]
    accuracy: list[float]
    violation: list[float]
    measure: list[float]
    noise_floor: list[float]
    values: list[list[float | None]]
    held: list[bool]
    seconds: list[float]
    plain_seconds: list[float]
    deterministic: bool
    group_at_prediction: bool
    failure: str = ""

    @property
    def name(self) -> str:
        """Of the method with its learner, as the page says it."""
        learner = LEARNER_NAMES[self.learner]
        return f"{self.title} ({learner})" if learner else self.title

    @property
    def is_ours(self) -> bool:
        return self.method == OURS

    @property
    def scores(self) -> Scores:
        return Scores(self.accuracy, self.violation)

    @property
    def time_ratio(self) -> float:
        """The median over seeds: a pause of the machine is not the method's."""
        return float(np.median(np.divide(self.seconds, self.plain_seconds)))

    @property
    def axis_values(self) -> list[float]:
        """What the picture shows on the horizontal axis: the limited rate where there is one."""
        single = len(self.values[0]) == 1
        return [values[0] for values in self.values] if single else self.measure

    @property
    def is_within_noise(self) -> bool:
        """The mean violation is no more than chance alone makes of limits that hold exactly."""
        return Summary.of(self.violation).mean <= Summary.of(self.noise_floor).mean

    @property
    def strictness(self) -> float:
        """Orders the settings of a frontier; the default is at its place among either kind."""
        kind, _, number = self.setting.rpartition(" ")
        if kind == "rho":
            return float(number) / RHO
        return 1.0 if self.setting == "default" else 1.0 / float(number)


def cells_of(document: dict) -> list[Cell]:
    """bregboost's first."""
    methods, tasks = document["methods"], document["tasks"]

    def cell(fields: dict) -> Cell:
        method = methods[fields["method"]]
        by_group = tasks[fields["task"]]["by_group"]
        return Cell(
            **fields,
            title=method["title"],
            deterministic=method["deterministic"],
            group_at_prediction=by_group and method["group_at_prediction"],
        )

    return sorted(map(cell, document["cells"]), key=lambda cell: not cell.is_ours)
