"""Models trained and read by the stock libraries, LightGBM 4.0 and XGBoost 2.1 or newer.

Imported by the tests, and run under the Python of an older pair of libraries:

    python stock_models.py train ROWS.npz FOLDER      writes models of every kind
    python stock_models.py predict ROWS.npz FOLDER    writes what the models in FOLDER predict to
                                                      FOLDER/predictions, as JSON
"""

import itertools
import json
import sys
from pathlib import Path

import lightgbm as lgb
import numpy as np
import xgboost as xgb

FEATURES = ("numeric", "categorical")
CATEGORICAL = 3  # the column that cases with categories use as such
NUM_SCORES = {"binary": 1, "multiclass": 3, "regression": 1, "huber": 1}
XGBOOST_OBJECTIVES = {
    "binary": "binary:logistic",
    "multiclass": "multi:softprob",
    "regression": "reg:squarederror",
    "huber": "reg:squarederror",  # to be changed by the export
}


def make_rows(num_rows: int = 300, seed: int = 0) -> dict[str, np.ndarray]:
    """Features with missing values and a column of codes; a target of each kind."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(num_rows, 4)).astype(np.float32).astype(float)
    features[:, CATEGORICAL] = rng.integers(0, 9, num_rows)
    value = features[:, 0] + 2.0 * np.isin(features[:, CATEGORICAL], [0, 3, 4, 7]) + features[:, 1]
    features[rng.random(num_rows) < 0.15, 0] = np.nan
    value += 0.3 * rng.normal(size=num_rows)
    return {
        "features": features,
        "binary": (value > 1.0).astype(float),
        "multiclass": np.digitize(value, [0.3, 1.7]).astype(float),
        "regression": value,
        "huber": value,
    }


def derivatives(kind: str, scores: np.ndarray, target: np.ndarray):
    """Of the loss, one column per score; training in bregboost passes its own in the same way."""
    if kind == "multiclass":
        shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
        probability = shifted / shifted.sum(axis=1, keepdims=True)
        return probability - np.eye(3)[target.astype(int)], 2 * probability * (1 - probability)
    if kind == "binary":
        probability = 1 / (1 + np.exp(-scores))
        return probability - target, probability * (1 - probability)
    return np.clip(scores - target, -1, 1), np.ones_like(scores)


def train_lightgbm(rows: dict, kind: str, rounds: int, **parameters) -> str:
    """Custom derivatives, hence `[objective: custom]` and no objective in the header."""
    categorical = parameters.pop("categorical", False)
    data = lgb.Dataset(
        rows["features"],
        rows[kind],
        categorical_feature=[CATEGORICAL] if categorical else [],
        params={"verbose": -1},
    )
    parameters = {
        "objective": lambda scores, _: derivatives(kind, scores, rows[kind]),
        "num_class": NUM_SCORES[kind],
        "num_leaves": 7,
        "learning_rate": 0.3,
        "min_data_per_group": 5,
        "cat_smooth": 1,
        "max_cat_to_onehot": 1,
        "num_threads": 1,
        "verbose": -1,
        **parameters,
    }
    return lgb.train(parameters, data, num_boost_round=rounds).model_to_string()


def xgboost_matrix(features: np.ndarray, target=None, categorical: bool = False) -> xgb.DMatrix:
    types = ["q"] * features.shape[1]
    if categorical:
        types[CATEGORICAL] = "c"
    return xgb.DMatrix(features, target, feature_types=types, enable_categorical=True, nthread=1)


def train_xgboost(rows: dict, kind: str, rounds: int, **parameters) -> str:
    categorical = parameters.pop("categorical", False)
    data = xgboost_matrix(rows["features"], rows[kind], categorical)
    parameters = {
        "objective": XGBOOST_OBJECTIVES[kind],
        "base_score": 0.5,
        "max_depth": 3,
        "max_cat_to_onehot": 1,
        "nthread": 1,
        **parameters,
    }
    if kind == "multiclass":
        parameters["num_class"] = 3

    def objective(scores, _):
        return derivatives(kind, scores, rows[kind])

    booster = xgb.train(parameters, data, num_boost_round=rounds, obj=objective)
    return booster.save_raw("json").decode()


TRAINERS = {"lightgbm": train_lightgbm, "xgboost": train_xgboost}
SUFFIXES = {"lightgbm": ".txt", "xgboost": ".json"}


def has_categories(path: Path) -> bool:
    return path.name.startswith("categorical")


def num_rounds(fold: int) -> int:
    return 4 + fold


def train_all(rows: dict[str, np.ndarray], folder: Path) -> Path:
    """`{numeric,categorical}-{kind}-{fold}.{txt,json}`: folds differ in rows and in rounds."""
    for library, train in TRAINERS.items():
        for features, kind, fold in itertools.product(FEATURES, NUM_SCORES, range(3)):
            part = {name: column[fold::2] for name, column in rows.items()}
            categorical = features == "categorical"
            model = train(part, kind, num_rounds(fold), categorical=categorical)
            (folder / f"{features}-{kind}-{fold}{SUFFIXES[library]}").write_text(model)
    return folder


def load(path: Path):
    if path.suffix == ".txt":
        # From a file, LightGBM 4.0 reads parameters too and fails over those that it does not know:
        # every model of a newer version, whoever wrote it.
        return lgb.Booster(model_str=path.read_text())
    return xgb.Booster({"nthread": 1}, model_file=str(path))


def predict(booster, features: np.ndarray, categorical: bool, **options) -> np.ndarray:
    """One column per score; `options` are those of the library."""
    if isinstance(booster, lgb.Booster):
        predicted = booster.predict(features, num_threads=1, **options)
    else:
        matrix = xgboost_matrix(features, categorical=categorical)
        predicted = booster.predict(matrix, **options).astype(float)
    return predicted.reshape(len(features), -1)


def predict_scores(booster, features: np.ndarray, categorical: bool, **options) -> np.ndarray:
    raw = "raw_score" if isinstance(booster, lgb.Booster) else "output_margin"
    return predict(booster, features, categorical, **{raw: True}, **options)


def predict_contributions(booster, features: np.ndarray, categorical: bool) -> np.ndarray:
    """SHAP values by row, score, and feature or (last) constant."""
    option = "pred_contrib" if isinstance(booster, lgb.Booster) else "pred_contribs"
    values = predict(booster, features, categorical, **{option: True})
    return values.reshape(len(features), -1, features.shape[1] + 1)


def predict_all(features: np.ndarray, folder: Path) -> dict[str, dict]:
    """Of every model in the folder, by file name."""
    predictions = {}
    for path in sorted([*folder.glob("*.txt"), *folder.glob("*.json")]):
        booster, categorical = load(path), has_categories(path)
        predictions[path.name] = {
            "predicted": predict(booster, features, categorical).tolist(),
            "scores": predict_scores(booster, features, categorical).tolist(),
            "contributed": predict_contributions(booster, features, categorical).sum(2).tolist(),
        }
    return predictions


if __name__ == "__main__":
    command, data, target = sys.argv[1], np.load(sys.argv[2]), Path(sys.argv[3])
    if command == "train":
        train_all(dict(data), target)
    else:
        (target / "predictions").write_text(json.dumps(predict_all(data["features"], target)))
