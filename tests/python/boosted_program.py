"""Runs of the example program `constrained_boosting`, and the rows that its tests train on."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, softmax
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from stock_training import Outcome, Training, structure

LIBRARIES = ("lightgbm", "xgboost")
# Small trees; LightGBM chooses the order of its sums by the clock unless told.
PARAMETERS = {
    "lightgbm": {"num_leaves": "7", "min_data_in_leaf": "5", "force_col_wise": "true"},
    "xgboost": {"max_depth": "3"},
}


@dataclass(frozen=True)
class Run:
    result: dict
    scores: np.ndarray  # one column per score
    fold_of_row: np.ndarray | None
    model: Path


def words(option: str, values: Iterable) -> list[str]:
    return [word for value in values for word in (option, str(value))]


def write_rows(training: Training, path: Path, groups: dict | None = None) -> None:
    columns = {f"f{j}": column for j, column in enumerate(training.features.T)}
    columns |= {"outcome": training.outcome} | (groups or {})
    columns |= {} if training.weights is None else {"w": training.weights}
    pd.DataFrame(columns).to_csv(path, index=False)


def arguments(training: Training) -> list[str]:
    parameters = {"nthread": 1} | training.parameters
    line = ["--learner", training.library, "--rounds", str(training.rounds), "--json"]
    line += ["--target" if training.kind == "regression" else "--label", "outcome"]
    line += words("--param", (f"{name}={value}" for name, value in parameters.items()))
    line += words("--categorical", (f"f{j}" for j in training.categorical))
    return line + (["--weight", "w"] if training.weights is not None else [])


def environment(**variables: str) -> dict[str, str]:
    """Libraries are those of this Python unless `variables` say otherwise. BREGBOOST_LIGHTGBM and
    the like of the caller would win over VIRTUAL_ENV."""
    inherited = {key: value for key, value in os.environ.items() if "BREGBOOST_" not in key}
    here = {"VIRTUAL_ENV": str(Path(sys.prefix)), "OMP_WAIT_POLICY": "passive"}
    return inherited | here | variables


class Program:
    def __init__(self, path: Path, folder: Path, **variables: str) -> None:
        self.path, self.folder, self.variables = path, folder, variables

    def run(self, *line: str | Path, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [self.path, *line],
            capture_output=True,
            text=True,
            env=environment(**self.variables, **variables),
        )

    def train(self, training: Training, *line: str, groups: dict | None = None) -> Run:
        """Groups are columns by name; each is told to the program."""
        groups = groups or {}
        data, scores = self.folder / "rows.csv", self.folder / "scores.csv"
        suffix = "txt" if training.library == "lightgbm" else "ubj"
        model = self.folder / f"model.{suffix}"
        write_rows(training, data, groups)
        line = [*arguments(training), *words("--group", groups), *line]
        done = self.run("--data", data, "--scores", scores, "--out-model", model, *line)
        assert done.returncode == 0, done.stderr
        values = np.loadtxt(scores, delimiter=",", skiprows=1, ndmin=2)
        fold_of_row = None
        if scores.read_text().splitlines()[0].endswith(",fold"):
            values, fold_of_row = values[:, :-1], values[:, -1].astype(int)
        return Run(json.loads(done.stdout), values, fold_of_row, model)


def probabilities(kind: str, scores: np.ndarray) -> np.ndarray:
    if kind == "binary":
        return expit(scores)
    return softmax(scores, axis=1) if kind == "multiclass" else scores


def check_outcome(training: Training, run: Run, stock: Outcome) -> None:
    """The run's scores, and those of its saved model, are the stock library's. LightGBM adds
    doubles, XGBoost floats."""

    def check(scores: np.ndarray, expected: np.ndarray) -> None:
        if training.library == "xgboost":
            scores = probabilities(training.kind, scores)
            expected = probabilities(training.kind, expected)
        atol = 1e-12 if training.library == "lightgbm" else 1e-6
        np.testing.assert_allclose(scores, expected, rtol=0, atol=atol)

    check(run.scores, stock.scores)
    check(stock.model_scores, stock.mean_scores)
    if training.library == "lightgbm" and training.fold_of_row is None:
        assert structure(run.model.read_text()) == str(stock.trees)


def training(library: str, rows: dict, rounds: int = 20, **parameters) -> Training:
    return Training(library, rounds=rounds, parameters=PARAMETERS[library] | parameters, **rows)


def cancer() -> dict:
    """Class 1, the positive one, is malignant."""
    data = load_breast_cancer()
    return {"kind": "binary", "features": data.data, "outcome": 1 - data.target}


def wine() -> dict:
    data = load_wine()
    return {"kind": "multiclass", "features": data.data, "outcome": data.target}


def diabetes() -> tuple[dict, dict[str, np.ndarray]]:
    """Whether the disease progresses faster than in the median patient, and the patients' sex."""
    data = load_diabetes()
    outcome = (data.target > np.median(data.target)).astype(int)
    rows = {"kind": "binary", "features": data.data, "outcome": outcome}
    return rows, {"sex": np.where(data.data[:, 1] > 0, "a", "b")}


def progression() -> dict:
    data = load_diabetes()
    outcome = (data.target - data.target.mean()) / data.target.std()
    return {"kind": "regression", "features": data.data, "outcome": outcome}


def mixed() -> dict:
    """A column of categories, and numbers of which one in seven is missing."""
    rng = np.random.default_rng(3)
    features = rng.normal(size=(800, 4))
    features[:, 3] = rng.integers(0, 12, 800)
    value = features[:, 0] + 2.0 * np.isin(features[:, 3], [0, 3, 4, 7, 11]) - features[:, 1]
    value += 0.5 * rng.normal(size=800)
    features[rng.random((800, 4)) < 1 / 7] = np.nan
    outcome = np.digitize(value, [0.2, 1.5])
    return {"kind": "multiclass", "features": features, "outcome": outcome, "categorical": (3,)}


def weighted(rows: dict) -> dict:
    rng = np.random.default_rng(4)
    return rows | {"weights": rng.uniform(0.2, 3.0, len(rows["outcome"]))}
