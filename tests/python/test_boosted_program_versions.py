"""`constrained_boosting` with the oldest supported libraries. BREGBOOST_OLD_PYTHON names a Python
with LightGBM 4.0.0 and XGBoost 2.1.0, as in test_exported_models_versions.py."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import stock_training
from boosted_program import (
    LIBRARIES,
    Program,
    Run,
    cancer,
    check_outcome,
    mixed,
    progression,
    training,
    weighted,
    wine,
)
from stock_training import Outcome, Training

pytestmark = pytest.mark.slow
BOTH = pytest.mark.parametrize("library", LIBRARIES)
SAMPLING = {
    "lightgbm": {"bagging_fraction": "0.7", "bagging_freq": "2", "feature_fraction": "0.5"},
    "xgboost": {"subsample": "0.7", "colsample_bytree": "0.5"},
}


@pytest.fixture(scope="module")
def old_python() -> str:
    python = os.environ.get("BREGBOOST_OLD_PYTHON")
    if not python:
        pytest.skip("BREGBOOST_OLD_PYTHON is not set")
    return python


@pytest.fixture
def program(constrained_boosting: Path, old_python: str, tmp_path: Path) -> Program:
    environment = Path(old_python).absolute().parents[1]
    return Program(constrained_boosting, tmp_path, VIRTUAL_ENV=str(environment))


@pytest.fixture
def stock(old_python: str, tmp_path: Path) -> Callable[[Training, Run], Outcome]:
    """Trains under the old libraries, and lets them read the run's model."""

    def train(case: Training, run: Run) -> Outcome:
        request, result = tmp_path / "training.npz", tmp_path / "outcome.npz"
        stock_training.save(case, request)
        script = Path(stock_training.__file__)
        subprocess.run([old_python, script, request, run.model, result], check=True)
        return Outcome(**np.load(result))

    return train


@BOTH
@pytest.mark.parametrize(
    "rows",
    [cancer(), wine(), progression(), weighted(cancer()), mixed()],
    ids=["two classes", "three classes", "numeric target", "weights", "categories"],
)
def test_without_constraints_it_is_the_stock_library(program, stock, library, rows):
    case = training(library, rows)
    run = program.train(case)
    check_outcome(case, run, stock(case, run))


@BOTH
@pytest.mark.parametrize("rows", [cancer(), wine()], ids=["two classes", "three classes"])
def test_sampling_is_the_stock_librarys(program, stock, library, rows):
    case = training(library, rows, seed="11", **SAMPLING[library])
    run = program.train(case)
    check_outcome(case, run, stock(case, run))


@BOTH
@pytest.mark.parametrize("rows", [cancer(), weighted(mixed())], ids=["cancer", "mixed"])
def test_folds_are_stock_trainings_of_their_own(program, stock, library, rows):
    case = training(library, rows)
    run = program.train(case, "--folds", "5")
    case = replace(case, fold_of_row=run.fold_of_row)
    check_outcome(case, run, stock(case, run))


@BOTH
@pytest.mark.parametrize("rows", [cancer(), wine()], ids=["two classes", "three classes"])
def test_limits_offsets_and_averages_are_in_the_model(program, stock, library, rows):
    line = ["--constraint", "error <= 20%", "--average", "--temperature", "0.7", "--offset", "0.5"]
    line += ["--offset", "-0.2", "--offset", "0.1"] if rows["kind"] == "multiclass" else []
    case = training(library, rows, rounds=60)
    run = program.train(case, *line)
    assert run.result["history"][-1]["surrogate_violation"] < 1e-3
    offsets = [0.5, -0.2, 0.1][: run.scores.shape[1]]
    scores = stock(case, run).summed_scores
    atol = 1e-12 if library == "lightgbm" else 4e-6
    np.testing.assert_allclose(scores, run.scores / 0.7 + offsets, rtol=0, atol=atol)


def test_it_is_the_old_libraries_that_are_tested(program, old_python):
    script = "import lightgbm, xgboost; print(lightgbm.__version__, xgboost.__version__)"
    done = subprocess.run([old_python, "-c", script], capture_output=True, text=True, check=True)
    lightgbm, xgboost = done.stdout.split()
    assert lightgbm.startswith("4.0.")
    assert xgboost.startswith("2.1.")
