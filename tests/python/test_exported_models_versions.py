"""Exported models across versions: the oldest supported libraries and the installed ones read each
other's. BREGBOOST_OLD_PYTHON names a Python with LightGBM 4.0.0 and XGBoost 2.1.0."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import stock_models
from exported_models import CASES, SCORE_TOLERANCES, check_predictions, export_all

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run_old(rows, tmp_path_factory) -> Callable[[str, Path], None]:
    """Runs a command of stock_models.py under the old libraries."""
    python = os.environ.get("BREGBOOST_OLD_PYTHON")
    if not python:
        pytest.skip("BREGBOOST_OLD_PYTHON is not set")
    data = tmp_path_factory.mktemp("rows") / "rows.npz"
    np.savez(data, **rows)

    def run(command: str, folder: Path) -> None:
        script = Path(stock_models.__file__)
        subprocess.run([python, script, command, data, folder], check=True)

    return run


@pytest.fixture(scope="module")
def old_models(run_old, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("old_models")
    run_old("train", folder)
    return folder


@pytest.fixture(scope="module")
def old_exported(export_model, old_models, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("old_exported")
    export_all(export_model, old_models, folder)
    return folder


def check_all(predictions: dict, models: Path, features: np.ndarray) -> None:
    assert len(predictions) == len(CASES)
    for case in CASES:
        found = predictions[case.file_name]
        check_predictions(case, models, features, found["scores"], found["predicted"])
        atol = SCORE_TOLERANCES[case.library]
        np.testing.assert_allclose(found["contributed"], found["scores"], rtol=0, atol=atol)


def read_predictions(folder: Path) -> dict:
    return json.loads((folder / "predictions").read_text())


def test_old_libraries_read_new_models(exported, trained_models, rows, run_old):
    folder = exported(CASES[0]).parent
    run_old("predict", folder)
    check_all(read_predictions(folder), trained_models, rows["features"])


def test_new_libraries_read_old_models(old_exported, old_models, rows):
    predictions = stock_models.predict_all(rows["features"], old_exported)
    check_all(predictions, old_models, rows["features"])


def test_old_libraries_read_old_models(old_exported, old_models, rows, run_old):
    run_old("predict", old_exported)
    check_all(read_predictions(old_exported), old_models, rows["features"])
