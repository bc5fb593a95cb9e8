"""Trainings by the stock libraries on their own, LightGBM 4.0 and XGBoost 2.1 or newer: what the
example program must repeat where no constraint binds it.

Imported by the tests, and run under the Python of an older pair of libraries:

    python stock_training.py TRAINING.npz MODEL RESULT.npz      trains, and predicts with MODEL
"""

import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

import lightgbm as lgb
import numpy as np
import xgboost as xgb

OBJECTIVES = {
    "lightgbm": {"binary": "binary", "multiclass": "multiclass", "regression": "regression"},
    "xgboost": {
        "binary": "binary:logistic",
        "multiclass": "multi:softprob",
        "regression": "reg:squarederror",
    },
}


@dataclass(frozen=True)
class Training:
    """Rows and how to train on them; with folds, one booster for the rows outside each of them."""

    library: str  # lightgbm, xgboost
    kind: str  # binary, multiclass, regression
    features: np.ndarray
    outcome: np.ndarray
    rounds: int
    parameters: dict[str, str] = field(default_factory=dict)
    weights: np.ndarray | None = None
    categorical: tuple[int, ...] = ()
    fold_of_row: np.ndarray | None = None

    @property
    def all_parameters(self) -> dict[str, str | int]:
        settings = {"objective": OBJECTIVES[self.library][self.kind], "nthread": 1}
        if self.kind == "multiclass":
            settings["num_class"] = int(self.outcome.max()) + 1
        settings |= {"verbosity": -1} if self.library == "lightgbm" else {}
        return settings | self.parameters

    def seen(self) -> list[np.ndarray]:
        """The rows that each booster trains on."""
        if self.fold_of_row is None:
            return [np.arange(len(self.features))]
        folds = range(self.fold_of_row.max() + 1)
        return [np.flatnonzero(self.fold_of_row != fold) for fold in folds]

    def boosters(self) -> list:
        """One for each part of the rows; all share the bins of the whole."""
        return {"lightgbm": self._lightgbm, "xgboost": self._xgboost}[self.library]()

    def _lightgbm(self) -> list[lgb.Booster]:
        parameters = self.all_parameters
        data = lgb.Dataset(
            self.features,
            self.outcome,
            weight=self.weights,
            categorical_feature=list(self.categorical),
            params=parameters,
            free_raw_data=False,
        )
        if self.fold_of_row is None:
            return [lgb.train(parameters, data, self.rounds)]
        boosters = [lgb.Booster(parameters, data.subset(rows)) for rows in self.seen()]
        for booster in boosters:  # train() of LightGBM 4.0 does not take subsets
            for _ in range(self.rounds):
                booster.update()
        return boosters

    def _xgboost(self) -> list[xgb.Booster]:
        whole = self._matrix(slice(None))
        matrices = [whole]
        if self.fold_of_row is not None:
            matrices = [self._matrix(rows, ref=whole) for rows in self.seen()]
        return [xgb.train(self.all_parameters, matrix, self.rounds) for matrix in matrices]

    def _matrix(self, rows, **options) -> xgb.DMatrix:
        types = ["c" if j in self.categorical else "q" for j in range(self.features.shape[1])]
        options |= {"feature_types": types, "enable_categorical": True, "nthread": 1}
        if self.parameters.get("tree_method") in ("exact", "approx"):
            matrix = xgb.DMatrix(self.features[rows], self.outcome[rows], **options)
        else:
            options["max_bin"] = int(self.parameters.get("max_bin", 256))
            matrix = xgb.QuantileDMatrix(self.features[rows], self.outcome[rows], **options)
        # Weights that are there when XGBoost bins the features shape the bins; the program's rows
        # count alike.
        if self.weights is not None:
            matrix.set_info(weight=self.weights[rows])
        return matrix

    def raw_scores(self, booster) -> np.ndarray:
        """Of all rows, one column per score."""
        if self.library == "lightgbm":
            scores = booster.predict(self.features, raw_score=True, num_threads=1)
        else:
            scores = booster.predict(
                xgb.DMatrix(
                    self.features,
                    feature_names=booster.feature_names,
                    feature_types=booster.feature_types,
                    enable_categorical=True,
                    nthread=1,
                ),
                output_margin=True,
            )
        return scores.reshape(len(self.features), -1).astype(float)

    def summed_scores(self, booster) -> np.ndarray:
        """As raw_scores, but XGBoost's rounds are added as doubles: it adds floats itself."""
        if self.library == "lightgbm":
            return self.raw_scores(booster)
        rounds = range(booster.num_boosted_rounds())
        base = 0.0 if self.kind == "binary" else 0.5  # what the base_score of a slice adds
        return base + sum(self.raw_scores(booster[r : r + 1]) - base for r in rounds)


@dataclass(frozen=True)
class Outcome:
    scores: np.ndarray  # of rows not seen if there are folds, else of the training rows
    mean_scores: np.ndarray  # the mean of all boosters
    trees: str  # LightGBM: those of the first booster
    model_scores: np.ndarray  # of the model in a file
    summed_scores: np.ndarray  # the same, round by round


def run(training: Training, model: Path) -> Outcome:
    boosters = training.boosters()
    by_booster = np.array([training.raw_scores(booster) for booster in boosters])
    rows = np.arange(len(training.features))
    booster_of_row = 0 if training.fold_of_row is None else training.fold_of_row
    return Outcome(
        scores=by_booster[booster_of_row, rows],
        mean_scores=by_booster.mean(axis=0),
        trees=structure(boosters[0].model_to_string()) if training.library == "lightgbm" else "",
        model_scores=training.raw_scores(load_model(model)),
        summed_scores=training.summed_scores(load_model(model)),
    )


def load_model(path: Path):
    if path.suffix == ".txt":
        # From a file, LightGBM 4.0 reads parameters too and fails over those that it does not know.
        return lgb.Booster(model_str=path.read_text())
    return xgb.Booster({"nthread": 1}, model_file=str(path))


STRUCTURE = ("num_leaves", "num_cat", "split_feature", "threshold", "decision_type", "left_child")
STRUCTURE += ("right_child", "leaf_count", "cat_boundaries", "cat_threshold")


def structure(model: str) -> str:
    """The lines of a LightGBM model that say which trees it has, leaf values apart."""
    lines = model.splitlines()
    return "\n".join(line for line in lines if line.split("=")[0] in STRUCTURE)


def save(training: Training, path: Path) -> None:
    fields = {name: value for name, value in asdict(training).items() if value is not None}
    fields["parameters"] = [f"{name}={value}" for name, value in training.parameters.items()]
    np.savez(path, **fields)


def load(path: Path) -> Training:
    fields = {name: value if value.ndim else value.item() for name, value in np.load(path).items()}
    fields["parameters"] = dict(text.split("=") for text in fields["parameters"].tolist())
    fields["categorical"] = tuple(int(column) for column in fields["categorical"])
    return Training(**fields)


if __name__ == "__main__":
    request, model, result = map(Path, sys.argv[1:])
    np.savez(result, **asdict(run(load(request), model)))
