"""Results as the page reads them: one cell per task, method, learner and setting, with lists by
seed."""

from dataclasses import dataclass

import numpy as np

from benchmarks.common.statistics import Scores, Summary

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

    def at_seeds(self, seeds: list[int], values: list[float]) -> list[float]:
        return [value for seed, value in zip(self.seeds, values, strict=True) if seed in seeds]


def cells_of(document: dict) -> list[Cell]:
    methods = document["methods"]

    def cell(fields: dict) -> Cell:
        method = methods[fields["method"]]
        traits = {name: method[name] for name in ("title", "deterministic", "group_at_prediction")}
        return Cell(**fields, **traits)

    return [cell(fields) for fields in document["cells"]]
