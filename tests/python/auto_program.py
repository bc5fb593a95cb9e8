"""Runs of the example program `constrained_auto`, the rows that its tests train on, and what an
exported model decides."""

import json
from dataclasses import dataclass
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb
from boosted_program import Program, words

LEARNERS = ("lightgbm", "xgboost", "linear")
TREES = ("lightgbm", "xgboost")
ROUNDS = 40
PARAMETERS = {
    "lightgbm": (
        f"num_iterations={ROUNDS}",
        "num_leaves=7",
        "verbosity=-1",
        "deterministic=true",
        "force_col_wise=true",
        "num_threads=1",
    ),
    "xgboost": (f"num_boost_round={ROUNDS}", "max_depth=3", "verbosity=0", "nthread=1"),
    "linear": (),
}
SUFFIXES = {"lightgbm": "txt", "xgboost": "ubj", "linear": "json"}
TARGETS = ("label", "group")


def merit_and_giveaway(count: int, seed: int) -> pd.DataFrame:
    """Labels follow a merit, alike in both groups, and the group itself, which a feature gives
    away: a model that uses both selects group a far more often."""
    random = np.random.default_rng(seed)
    group = np.where(random.random(count) < 0.5, "b", "a")
    shift = np.where(group == "b", -1.5, 1.5)
    merit, giveaway, noise = random.normal(size=(3, count))
    label = random.random(count) < 1.0 / (1.0 + np.exp(-(3.0 * merit + shift)))
    features = {"merit": merit, "giveaway": giveaway + shift, "noise": noise}
    return pd.DataFrame(features | {"label": label.astype(int), "group": group})


def three_classes(count: int, seed: int) -> pd.DataFrame:
    """Around the corners of a triangle, overlapping."""
    random = np.random.default_rng(seed)
    label = np.arange(count) % 3
    angle = 2.0 * np.pi / 3.0 * label
    x, y = 1.2 * np.array([np.cos(angle), np.sin(angle)]) + random.normal(size=(2, count))
    return pd.DataFrame({"x": x, "y": y, "label": label})


def features_of(table: pd.DataFrame) -> np.ndarray:
    return table[[name for name in table.columns if name not in TARGETS]].to_numpy()


@dataclass(frozen=True)
class Fit:
    learner: str
    report: dict
    model: Path

    def probabilities(self, table: pd.DataFrame) -> np.ndarray:
        """One for two classes, else one column per class; by the stock library."""
        features = features_of(table)
        if self.learner == "lightgbm":
            return lgb.Booster(model_file=self.model).predict(features, num_threads=1)
        if self.learner == "xgboost":
            booster = xgb.Booster({"nthread": 1}, model_file=self.model)
            names = booster.feature_names
            return booster.predict(xgb.DMatrix(features, feature_names=names, nthread=1))
        model = json.loads(self.model.read_text())
        scores = features @ np.array(model["coefficients"]).T + model["intercept"]
        odds = np.exp(scores)
        if scores.shape[1] == 1:
            return (odds / (1.0 + odds))[:, 0]
        return odds / odds.sum(axis=1, keepdims=True)

    def decisions(self, table: pd.DataFrame) -> np.ndarray:
        given = self.probabilities(table)
        return (given > 0.5).astype(int) if given.ndim == 1 else given.argmax(axis=1)


class AutoProgram:
    def __init__(self, path: Path, folder: Path) -> None:
        self.program, self.folder = Program(path, folder, OMP_NUM_THREADS="1"), folder

    def run(self, learner: str, table: pd.DataFrame, limits: list[str], *line: str):
        """The finished process and where its model is to be."""
        data, model = self.folder / "rows.csv", self.folder / f"model.{SUFFIXES[learner]}"
        model.unlink(missing_ok=True)
        table.to_csv(data, index=False)
        command = ["--data", data, "--label", "label", "--learner", learner, "--json"]
        command += ["--out-model", model, *words("--constraint", limits)]
        command += words("--param", PARAMETERS[learner])
        command += ["--group", "group"] if "group" in table else []
        return self.program.run(*command, *line), model

    def fit(self, learner: str, table: pd.DataFrame, limits: list[str], *line: str) -> Fit:
        done, model = self.run(learner, table, limits, *line)
        assert done.returncode == 0, done.stderr
        return Fit(learner, json.loads(done.stdout), model)
