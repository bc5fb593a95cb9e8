"""The data sets, how a seed splits them, and the limits that are asked for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from benchmarks.common.rate_limits import (
    ClassLimit,
    DeviationLimit,
    GapLimit,
    Limit,
    Outcome,
    total_violation,
)
from benchmarks.common.rows import Rows, Split

LARGE_GROUP = 300  # rows in all: groups below it are left out of the spread over groups


@dataclass(frozen=True)
class Method:
    """A way to call the program; `with_limits` says whether it is told the task's limits."""

    with_limits: bool = True
    rho: float | None = None  # instead of the one asked for
    arguments: tuple[str, ...] = ()


AUTO = {"auto": Method()}
OFFSETS = "offsets only"
AUTO_AND_OFFSETS = {OFFSETS: Method(arguments=("--path", "calibration")), **AUTO}


@dataclass(frozen=True)
class Task:
    title: str
    split: Callable[[Path, int], Split]
    limits: tuple[Limit, ...]
    measure: str = "violation"  # the paper's: violation, gap, worst gap, spread
    bound: float = 0.0  # of the measure
    methods: dict[str, Method] = field(default_factory=AUTO.copy)
    needs_files: bool = True

    def measured(self, outcome: Outcome, split: Split) -> float:
        if self.measure == "violation":
            return total_violation(self.limits, outcome)
        if self.measure == "spread":
            errors = [outcome.rate("error", group=g).value for g in split.large_groups]
            return float(np.std(errors))
        return max(limit.value(outcome) for limit in self.limits)


@lru_cache
def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path)


def codes(values: pd.Series) -> np.ndarray:
    """Places in alphabetical order; -1 where missing."""
    return pd.factorize(values.astype(str), sort=True)[0]


def numbers(table: pd.DataFrame) -> np.ndarray:
    """Texts become codes."""
    columns = [
        column if pd.api.types.is_numeric_dtype(column) else codes(column)
        for _, column in table.items()
    ]
    return np.column_stack(columns).astype(float)


def split_by_class(rows: Rows, seed: int, large_groups: tuple[int, ...] = ()) -> Split:
    places = np.arange(len(rows.labels))
    training, test = train_test_split(
        places, test_size=0.2, random_state=1000 + seed, stratify=rows.labels
    )
    return Split(rows[training], rows[test], large_groups)


def drybean(folder: Path, seed: int) -> Split:
    """15 of 16 features, as in the paper."""
    table = read(folder / "drybean.csv.xz")
    features = table.drop(columns="Class").to_numpy()[:, :-1].astype(float)
    return split_by_class(Rows(features, codes(table["Class"])), seed)


def credit(folder: Path, seed: int) -> Split:
    table = read(folder / "creditcard_sample.csv.xz")
    features = table.drop(columns="Class").to_numpy().astype(float)
    return split_by_class(Rows(features, table["Class"].to_numpy().astype(int)), seed)


def adult(folder: Path, seed: int) -> Split:
    """The official test rows; a seed draws 80% of the training rows. Group 0 is female."""
    training, test = (read(folder / f"adult_{part}.csv.xz") for part in ("train", "test"))
    both = pd.concat([training, test], ignore_index=True)
    features = numbers(both.drop(columns=["income", "sex"]))
    rows = Rows(features, codes(both["income"]), codes(both["sex"]))
    count = len(training)
    drawn = np.random.default_rng(1000 + seed).choice(count, int(0.8 * count), replace=False)
    return Split(rows[drawn], rows[np.arange(count, len(both))])


def compas(folder: Path, seed: int) -> Split:
    table = read(folder / "compas.csv.xz")
    labels = table["score_text"].map({"Low": 0, "Medium": 1, "High": 2}).to_numpy().astype(int)
    races = codes(table["race"])
    features = numbers(table.drop(columns=["score_text", "race"]))
    large = tuple(int(g) for g in np.flatnonzero(np.bincount(races) >= LARGE_GROUP))
    return split_by_class(Rows(features, labels, races), seed, large)


def merit_and_giveaway(count: int, random: np.random.Generator) -> Rows:
    """Labels follow a merit, alike in both groups, and the group itself, which a feature gives
    away. One threshold for all can close the gap in selection only by selecting nearly everybody
    or nobody; a model that leaves the giveaway alone loses little."""
    groups = (random.random(count) < 0.5).astype(int)
    shift = np.where(groups == 1, -1.5, 1.5)
    merit, giveaway, noise = random.normal(size=(3, count))
    probability = 1.0 / (1.0 + np.exp(-(3.0 * merit + shift)))
    labels = (random.random(count) < probability).astype(int)
    return Rows(np.column_stack([merit, giveaway + shift, noise]), labels, groups)


def generated(_: Path, seed: int) -> Split:
    random = np.random.default_rng(1000 + seed)
    return Split(merit_and_giveaway(4000, random), merit_and_giveaway(20000, random))


CLASS_BOUNDS = {1: 0.01, 2: 0.03, 3: 0.02, 4: 0.02}
RACES = 6
TASKS = {
    "drybean": Task(
        "Drybean, four class bounds",
        drybean,
        tuple(ClassLimit(f"error(class={c})", c, bound) for c, bound in CLASS_BOUNDS.items()),
    ),
    "credit": Task("Credit, fnr <= 5%", credit, (ClassLimit("fnr", 1, 0.05),)),
    "adult_error": Task(
        "Adult, error gap <= 5%",
        adult,
        (GapLimit("error", "error", None, 0.05),),
        measure="gap",
        bound=0.05,
    ),
    "adult_odds": Task(
        "Adult, FNR and FPR gaps <= 2%",
        adult,
        (GapLimit("fnr", "error", 1, 0.02), GapLimit("fpr", "error", 0, 0.02)),
        measure="worst gap",
        bound=0.02,
    ),
    "adult_selection": Task(
        "Adult, selection gap <= 5%",
        adult,
        (GapLimit("selection_rate", "selected", None, 0.05),),
        measure="gap",
        bound=0.05,
    ),
    "compas": Task(
        "Compas, errors of races within 3% of the mean",
        compas,
        tuple(DeviationLimit(g, sign, 0.03) for g in range(RACES) for sign in (1, -1)),
        measure="spread",
    ),
    "generated": Task(
        "Generated, fnr <= 30%, selection gap <= 5%",
        generated,
        (ClassLimit("fnr", 1, 0.3), GapLimit("selection_rate", "selected", None, 0.05)),
        methods={
            "no limits": Method(with_limits=False),
            OFFSETS: Method(rho=50.0, arguments=("--path", "calibration")),
            **AUTO,
        },
        needs_files=False,
    ),
}

# Bounds that the paper's own models reach on test rows: what is an easy limit worth?
AT_THE_PAPERS_BOUNDS = {
    "credit_relaxed": Task(
        "Credit, fnr <= 11.63%",
        credit,
        (ClassLimit("fnr", 1, 0.1163),),
        measure="miss rate",
        bound=0.1163,
    ),
    "adult_relaxed": Task(
        "Adult, error gap <= 9.3%",
        adult,
        (GapLimit("error", "error", None, 0.093),),
        measure="gap",
        bound=0.093,
    ),
}
