"""The history of a training as a table."""

import sys

import pandas as pd
import pytest
from bregboost._history import history_frame
from report_samples import FNR, GAP, SMALL


def test_one_column_per_value_and_multiplier() -> None:
    frame = history_frame(SMALL["history"], [FNR, GAP])
    assert frame["k"].tolist() == [0, 1, 2]
    assert frame["phase"].tolist() == ["main"] * 3
    assert frame["seconds"].tolist() == [0.0, 0.5, 1.0]
    for j, text in enumerate([FNR, GAP]):
        values = [row["values"][j] for row in SMALL["history"]]
        assert frame[f"value: {text}"].tolist() == values
        multipliers = [row["multipliers"][j] for row in SMALL["history"]]
        assert frame[f"multiplier: {text}"].tolist() == multipliers


def test_undefined_numbers_are_nan() -> None:
    frame = history_frame([{"k": 0, "objective": None, "values": [None], "multipliers": []}], [FNR])
    assert frame[["objective", "tau", f"value: {FNR}", f"multiplier: {FNR}"]].isna().all(axis=None)
    assert frame["k"].dtype == "int64"


def test_an_empty_history_has_the_columns_of_a_long_one() -> None:
    empty, full = history_frame([], [FNR, GAP]), history_frame(SMALL["history"], [FNR, GAP])
    assert empty.empty
    pd.testing.assert_series_equal(empty.dtypes, full.dtypes)


def test_numbers_that_do_not_fit_the_constraints_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"history\[0\]\['values'\]: 2 numbers; allowed: 1, one per constraint"
    ):
        history_frame(SMALL["history"], [FNR])


def test_without_pandas_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"history: .*pip install bregboost\[pandas\]"):
        history_frame([])
