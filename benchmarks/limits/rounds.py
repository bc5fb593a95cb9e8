"""Does it pay to keep only as many rounds as unseen rows gain by? Tasks that are held by plain
training and offsets: three limits on each survey, and bounds on two of four to nine classes. Prints
a table."""

import argparse
import itertools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.common.arguments import words_among
from benchmarks.common.class_tasks import CLASS_TASKS, ClassTask
from benchmarks.common.rate_limits import ClassLimit, Limit, noise_floor, total_violation
from benchmarks.common.survey_tasks import CONFIRMING, SETTING, Survey
from benchmarks.limits.program import survey_parser, train
from benchmarks.limits.summary import Mean, as_markdown, as_text

RHO = 5.0  # of the loss in the table, which counts all limits alike
WAYS = {"all": ("--all-rounds",), "best": ()}
HEADER = (
    "limits",
    "learner",
    "data sets",
    "rounds kept",
    "accuracy, all rounds",
    "best",
    "violation, all rounds",
    "best",
    "noise floor",
    "loss, best less all",
    "lower",
)


@dataclass(frozen=True)
class Kind:
    """The same limits, or the same kind of limits, on many data sets."""

    title: str
    tasks: tuple[Survey | ClassTask, ...]
    limit: ClassLimit | None = None  # none: those of each task

    def limits(self, task: Survey | ClassTask) -> tuple[Limit, ...]:
        return (self.limit,) if self.limit else task.limits


SURVEYS = tuple((SETTING | CONFIRMING).values())
KINDS = {
    "misses_few": Kind("fnr <= 5%", SURVEYS, ClassLimit("fnr", 1, 0.05)),
    "misses": Kind("fnr <= 20%", SURVEYS, ClassLimit("fnr", 1, 0.2)),
    "alarms": Kind("fpr <= 1%", SURVEYS, ClassLimit("fpr", 0, 0.01)),
    "classes": Kind("errors of two classes", tuple(CLASS_TASKS.values())),
}


@dataclass(frozen=True)
class Judged:
    rounds: float
    accuracy: float
    violation: float
    noise_floor: float

    @property
    def loss(self) -> float:
        return 1.0 - self.accuracy + RHO * self.violation


Pair = dict[str, Judged]  # by the names of WAYS


def measure(
    kind: Kind, learner: str, options: argparse.Namespace, task: Survey | ClassTask, seed: int
) -> Pair:
    split = task.split(options.data, seed)
    limits = kind.limits(task)
    pair = {}
    for way, words in WAYS.items():
        arguments = ("--seed", str(seed), *words)
        answer = train(options.program, split, learner, limits, arguments, threads=1)
        pair[way] = Judged(
            answer.report["rounds_kept"],
            answer.outcome.accuracy,
            total_violation(limits, answer.outcome),
            noise_floor(limits, answer.outcome, answer.report["rows"]["unseen"]),
        )
    return pair


def line(title: str, learner: str, by_task: Sequence[Sequence[Pair]]) -> list[str]:
    """Means over data sets of the means over seeds; standard errors are over data sets."""

    def mean(name: str, way: str) -> Mean:
        return Mean.of(np.mean([getattr(pair[way], name) for pair in pairs]) for pairs in by_task)

    less = [np.mean([pair["best"].loss - pair["all"].loss for pair in pairs]) for pairs in by_task]
    other = [difference for difference in less if difference != 0.0]
    return [
        title,
        learner,
        str(len(by_task)),
        f"{np.mean([pair['best'].rounds for pairs in by_task for pair in pairs]):.0f}",
        *(f"{mean('accuracy', way).value:.2f}" for way in WAYS),
        *(f"{mean('violation', way).value:.2f}" for way in WAYS),
        f"{mean('noise_floor', 'best').value:.2f}",
        str(Mean.of(less)),
        f"{sum(difference < 0.0 for difference in other)} of {len(other)}",
    ]


def parse() -> argparse.Namespace:
    parser = survey_parser(__doc__, seeds="0-2")
    parser.add_argument(
        "--kinds",
        type=lambda text: words_among(KINDS, text),
        default=list(KINDS),
        help=f"among {','.join(KINDS)}; default: all",
    )
    return parser.parse_args()


def main() -> None:
    options = parse()
    lines = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, learner in itertools.product(options.kinds, options.learners):
            kind = KINDS[name]
            of_cell = partial(measure, kind, learner, options)
            tasks, seeds = zip(*itertools.product(kind.tasks, options.seeds), strict=True)
            pairs = iter(list(pool.map(of_cell, tasks, seeds)))
            by_task = [[next(pairs) for _ in options.seeds] for _ in kind.tasks]
            lines.append(line(kind.title, learner, by_task))
    show = as_markdown if options.markdown else as_text
    print(show(HEADER, lines))


if __name__ == "__main__":
    main()
