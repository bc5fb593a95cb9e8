"""Values of labels and groups as text."""

import numpy as np
import pandas as pd
import pytest
from bregboost._values import MISSING, value_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("", ""),
        ("F", "F"),
        (np.str_("F"), "F"),
        (2, "2"),
        (np.int8(2), "2"),
        (2.0, "2"),
        (np.float32(2), "2"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (np.float32(0.1), "0.1"),
        (1e300, str(10**300 + int(1e300) - 10**300)),
        (float("inf"), "inf"),
        (False, "False"),
        (np.True_, "True"),
        (pd.Interval(0, 10), "(0, 10]"),
        (pd.Timestamp("2024-01-02"), "2024-01-02 00:00:00"),
    ],
)
def test_values_read_the_same_whatever_their_type(value: object, text: str) -> None:
    assert value_text(value, "column") == text


@pytest.mark.parametrize("value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_missing_values_are_a_group_of_their_own(value: object) -> None:
    assert value_text(value, "column") == MISSING


@pytest.mark.parametrize("value", [["F"], ("F", "M"), {"F"}, {}, np.array(["F"]), b"F"])
def test_several_values_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match=r"^column: .*; allowed: a single value"):
        value_text(value, "column")
