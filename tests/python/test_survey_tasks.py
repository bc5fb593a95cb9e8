"""Surveys become tasks: which columns are features, and what is averaged over which runs."""

import lzma
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.common.survey_tasks import CONFIRMING, MEDIAN, SETTING, Gaps, Is, Survey
from benchmarks.limits.summary import survey_line

TABLE = pd.DataFrame(
    {
        "rownames": range(1, 7),
        "id": range(11, 17),
        "wage": [1.0, 2.0, 3.0, 4.0, 9.0, np.nan],
        "sex": ["F", "M", "F", None, "F", "M"],
        "town": ["Rome", "Bonn", None, "Oslo", "Bonn", "Rome"],
    }
)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Is("sex", "F"), [1, 0, 1, 0, 1, 0]),
        (Is("wage", 3.0), [0, 0, 0, 1, 1, 0]),
        (Is("wage", MEDIAN), [0, 0, 0, 1, 1, 0]),
    ],
)
def test_conditions(condition: Is, expected: list[int]) -> None:
    np.testing.assert_array_equal(condition.of(TABLE), expected)


def test_features_are_what_is_left(tmp_path: Path) -> None:
    (tmp_path / "survey.pkl.compress").write_bytes(lzma.compress(pickle.dumps(TABLE)))
    survey = Survey("survey", Is("wage", 2.0), Is("sex", "M"), Gaps(0.02, 0.02, 0.02, 0.02), "id")
    rows = survey.rows(tmp_path)  # without the rows whose label or group is missing
    np.testing.assert_array_equal(rows.labels, [0, 0, 1, 1])
    np.testing.assert_array_equal(rows.groups, [0, 1, 0, 0])
    np.testing.assert_array_equal(rows.features, [[1.0], [0.0], [-1.0], [0.0]])


def test_no_data_set_is_on_both_sides() -> None:
    files = [{survey.file for survey in surveys.values()} for surveys in (SETTING, CONFIRMING)]
    assert not files[0] & files[1]


def test_means_are_over_data_sets() -> None:
    def runs(name: str, *accuracies_and_violations: tuple[float, float]) -> dict[str, list[dict]]:
        same = {"task": name, "learner": "lightgbm", "method": "auto", "rho": 5.0}
        return {
            name: [
                {**same, "accuracy": accuracy, "violation": violation, "noise_floor": 0.01}
                for accuracy, violation in accuracies_and_violations
            ]
        }

    first, second = "setting_error_arrests", "setting_error_trump"
    line = survey_line(
        runs(first, (0.8, 0.0), (0.9, 0.0)) | runs(second, (0.75, 0.02)),
        runs(first, (0.8, 0.02)) | runs(second, (0.7, 0.02)),
    )
    assert line[:4] == ["setting, error", "lightgbm", "auto, rho 5", "3"]
    assert line[4] == "80.00 ± 5.00"  # of 85 and 75
    assert line[5] == "1.00 ± 1.00"
    assert line[7] == "1 of 2"
    assert line[8] == "-10.00 ± 5.00"  # of 15 - 30 and 35 - 40
