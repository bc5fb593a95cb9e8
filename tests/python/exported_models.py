"""Exports of the models that stock_models.py trains, and what they must predict."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import stock_models
from stock_models import FEATURES, NUM_SCORES, SUFFIXES

# How trees become a model. Weights of rounds come from the last one backwards, so that they fit
# folds of any number of rounds; None: no weights are given.
RECIPES = {
    "plain": {"folds": [0]},
    "averaged": {
        "folds": [1],
        "last_weights": [0.75, 0.5, 0.0],
        "starts": [[0.4, -0.7, 0.1]],
        "inverse_temperature": 0.7,
        "offsets": [-1.3, 0.2, 0.9],
    },
    "mean": {
        "folds": [0, 1, 2],
        "weights": [1.0, 2.0, 0.5],
        "last_weights": [0.8, 0.3],
        "starts": [[0.4, -0.7, 0.1], [0.3, -0.9, 0.0], [0.5, -0.5, 0.2]],
        "inverse_temperature": 1.6,
        "offsets": [0.6, -0.1, 2.2],
    },
    "constant": {
        "folds": [2],
        "last_weights": [0.0] * stock_models.num_rounds(2),
        "starts": [[0.4, -0.7, 0.1]],
        "inverse_temperature": 2.0,
        "offsets": [0.6, -0.1, 2.2],
    },
}


# LightGBM adds doubles, XGBoost floats.
TOLERANCES = {"lightgbm": 1e-12, "xgboost": 1e-6}
SCORE_TOLERANCES = {"lightgbm": 1e-12, "xgboost": 3e-6}


@dataclass(frozen=True)
class Case:
    library: str  # lightgbm, xgboost
    features: str  # numeric, categorical
    kind: str  # of NUM_SCORES
    recipe: str  # of RECIPES

    def __str__(self) -> str:
        return f"{self.library}-{self.features}-{self.kind}-{self.recipe}"

    @property
    def categorical(self) -> bool:
        return self.features == "categorical"

    @property
    def num_scores(self) -> int:
        return NUM_SCORES[self.kind]

    @property
    def file_name(self) -> str:
        return f"{self.features}-{self.kind}-{self.recipe}{SUFFIXES[self.library]}"

    def model_of(self, folder: Path, fold: int) -> Path:
        return folder / f"{self.features}-{self.kind}-{fold}{SUFFIXES[self.library]}"


CASES = [
    Case(library, features, kind, recipe)
    for library in SUFFIXES
    for features in FEATURES
    for kind in NUM_SCORES
    for recipe in RECIPES
]


def round_weights(recipe: dict, fold: int) -> list[float]:
    last = recipe.get("last_weights", [])
    return [1.0] * (stock_models.num_rounds(fold) - len(last)) + last


def run_export(program: Path, **request) -> None:
    """Raises CalledProcessError, with the reason in its stderr, if the program refuses."""
    subprocess.run([program], input=json.dumps(request), text=True, check=True, capture_output=True)


def export(program: Path, case: Case, models: Path, folder: Path) -> Path:
    """Writes the case's model into `folder`."""
    recipe, k = RECIPES[case.recipe], case.num_scores
    parts = []
    for i, fold in enumerate(recipe["folds"]):
        part = {"file": str(case.model_of(models, fold))}
        if "last_weights" in recipe:
            part["round_weights"] = round_weights(recipe, fold)
        if "weights" in recipe:
            part["weight"] = recipe["weights"][i]
        if "starts" in recipe:
            part["start"] = recipe["starts"][i][:k]
        parts.append(part)
    spec = {}
    if "offsets" in recipe:
        spec["offsets"] = recipe["offsets"][:k]
    if "inverse_temperature" in recipe:
        spec["inverse_temperature"] = recipe["inverse_temperature"]
    output = folder / case.file_name
    run_export(
        program,
        library=case.library,
        output=str(output),
        parts=parts,
        objective=case.kind,
        num_scores=k,
        **spec,
    )
    return output


def export_all(program: Path, models: Path, folder: Path) -> dict[Case, Path]:
    return {case: export(program, case, models, folder) for case in CASES}


def scores_of_round(case: Case, booster, features: np.ndarray, round_: int) -> np.ndarray:
    """What the trees of one round say."""
    if case.library == "lightgbm":
        options = {"start_iteration": round_, "num_iteration": 1}
        return stock_models.predict_scores(booster, features, case.categorical, **options)
    options = {"iteration_range": (round_, round_ + 1)}
    scores = stock_models.predict_scores(booster, features, case.categorical, **options)
    return scores - (0.0 if case.kind == "binary" else 0.5)  # base_score


def expected_scores(case: Case, models: Path, features: np.ndarray) -> np.ndarray:
    """inverse_temperature * mean_p [start_p + sum_t weight_pt tree_pt(x)] + offset, from the
    models as trained."""
    recipe, k = RECIPES[case.recipe], case.num_scores
    zeros = [[0.0] * 3] * 3
    shares = np.array(recipe.get("weights", [1.0] * len(recipe["folds"])))
    mean = np.zeros((len(features), k))
    for share, start, fold in zip(
        shares / shares.sum(), recipe.get("starts", zeros), recipe["folds"], strict=False
    ):
        booster = stock_models.load(case.model_of(models, fold))
        scores = np.tile(start[:k], (len(features), 1))
        for round_, weight in enumerate(round_weights(recipe, fold)):
            scores += weight * scores_of_round(case, booster, features, round_)
        mean += share * scores
    return recipe.get("inverse_temperature", 1.0) * mean + recipe.get("offsets", zeros[0])[:k]


def predictions_of(kind: str, scores: np.ndarray) -> np.ndarray:
    if kind == "binary":
        return 1 / (1 + np.exp(-scores))
    if kind == "multiclass":
        shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)
    return scores


def check_predictions(case: Case, models: Path, features: np.ndarray, scores, predicted) -> None:
    """`scores` and `predicted` are what the exported model says, `models` the trained ones."""
    expected = expected_scores(case, models, features)
    atol = SCORE_TOLERANCES[case.library]
    np.testing.assert_allclose(scores, expected, rtol=0, atol=atol, err_msg=str(case))
    expected = predictions_of(case.kind, expected)
    atol = TOLERANCES[case.library]
    np.testing.assert_allclose(predicted, expected, rtol=0, atol=atol, err_msg=str(case))
