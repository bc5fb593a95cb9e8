"""Models that `constrained_boosting` saves, in the stock libraries and in SHAP, ONNX and Treelite:
averages, means of folds, offsets and temperature are part of the model."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import converters
import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from boosted_program import LIBRARIES, Program, Run, cancer, probabilities, training, wine, words
from stock_training import Training, load_model

TEMPERATURE = 1.6
OFFSETS = (0.7, -0.4, 0.2)
ROWS = {"cancer": cancer(), "wine": wine()}
RECIPES = {
    "limit": ["--constraint", "error <= 10%"],
    "average": ["--constraint", "error <= 10%", "--average"],
    "folds": ["--constraint", "error <= 10%", "--folds", "3"],
}
SCORE_TOLERANCES = {"lightgbm": 1e-12, "xgboost": 4e-6}
CONVERTED = 1e-5


@dataclass(frozen=True)
class Case:
    library: str
    rows: str  # of ROWS
    recipe: str  # of RECIPES

    def __str__(self) -> str:
        return f"{self.library}-{self.rows}-{self.recipe}"

    @property
    def training(self) -> Training:
        # Leaves of many rows: every tree of every fold finds splits.
        parameters = {"num_leaves": "3"} if self.library == "lightgbm" else {"max_depth": "2"}
        return training(self.library, ROWS[self.rows], rounds=12, **parameters)

    @property
    def offsets(self) -> tuple[float, ...]:
        return OFFSETS[:1] if self.rows == "cancer" else OFFSETS


CASES = [
    Case(library, rows, recipe) for library in LIBRARIES for rows in ROWS for recipe in RECIPES
]
ALL = pytest.mark.parametrize("case", CASES, ids=str)


@pytest.fixture(scope="module")
def trained(constrained_boosting: Path, tmp_path_factory) -> Callable[..., Run]:
    """A case's run, as it is or with offsets and temperature; each is made once."""

    @cache
    def run(case: Case, adjusted: bool = True) -> Run:
        program = Program(constrained_boosting, tmp_path_factory.mktemp("trained"))
        line = RECIPES[case.recipe]
        if adjusted:
            line = [*line, "--temperature", str(TEMPERATURE), *words("--offset", case.offsets)]
        return program.train(case.training, *line)

    return run


def raw_scores(case: Case, run: Run) -> np.ndarray:
    return case.training.raw_scores(load_model(run.model))


def predicted(case: Case, run: Run) -> np.ndarray:
    """What the model's own objective makes of its scores; one column per score."""
    booster, features = load_model(run.model), case.training.features
    if case.library == "lightgbm":
        result = booster.predict(features, num_threads=1)
    else:
        matrix = xgb.DMatrix(features, feature_names=booster.feature_names, nthread=1)
        result = booster.predict(matrix)
    return result.reshape(len(features), -1)


@ALL
def test_scores_of_the_training_are_those_of_the_model(case, trained):
    run, plain = trained(case), trained(case, adjusted=False)
    np.testing.assert_array_equal(run.scores, plain.scores)  # are those before any adjustment
    # Folds score rows that they have not seen, the model is the mean of all folds.
    scores = raw_scores(case, plain) if case.recipe == "folds" else plain.scores
    expected = scores / TEMPERATURE + case.offsets
    atol = SCORE_TOLERANCES[case.library]
    np.testing.assert_allclose(raw_scores(case, run), expected, rtol=0, atol=atol)


@ALL
def test_predictions_are_probabilities(case, trained):
    run = trained(case)
    expected = probabilities(case.training.kind, raw_scores(case, run))
    atol = 1e-12 if case.library == "lightgbm" else 1e-6
    np.testing.assert_allclose(predicted(case, run), expected, rtol=0, atol=atol)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_average_is_of_the_iterates(library, trained):
    """By its definition, from the rounds of the run that does not average."""
    case = Case(library, "cancer", "average")
    average = trained(case, adjusted=False)
    last = trained(replace(case, recipe="limit"), adjusted=False)
    weights = np.array([row["sigma"] for row in average.result["history"]][:-1])
    booster, features = load_model(last.model), case.training.features
    iterates = []
    for rounds in range(1, case.training.rounds + 1):
        if library == "lightgbm":
            scores = booster.predict(features, raw_score=True, num_iteration=rounds)
        else:
            matrix = xgb.DMatrix(features, feature_names=booster.feature_names, nthread=1)
            options = {"output_margin": True, "iteration_range": (0, rounds)}
            scores = booster.predict(matrix, **options)
        iterates.append(scores)
    expected = np.average(iterates, axis=0, weights=weights)
    np.testing.assert_allclose(average.scores[:, 0], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("rows", ROWS)
def test_xgboosts_estimator_loads_it(rows, trained):
    case = Case("xgboost", rows, "limit")
    run = trained(case)
    estimator = xgb.XGBClassifier(n_jobs=1)
    estimator.load_model(run.model)
    of_classes = estimator.predict_proba(case.training.features)
    np.testing.assert_allclose(of_classes.sum(axis=1), 1, rtol=0, atol=1e-6)
    expected = predicted(case, run)
    of_classes = of_classes[:, -expected.shape[1] :]
    np.testing.assert_allclose(of_classes, expected, rtol=0, atol=1e-6)


@ALL
def test_shap_values_add_up(case, trained):
    run = trained(case)
    scores = converters.shap_scores(load_model(run.model), case.training.features)
    np.testing.assert_allclose(scores, raw_scores(case, run), rtol=0, atol=CONVERTED)


@ALL
def test_onnx(case, trained):
    run = trained(case)
    of_classes = converters.onnx_probabilities(load_model(run.model), case.training.features)
    expected = predicted(case, run)
    of_classes = of_classes.reshape(len(expected), -1)[:, -expected.shape[1] :]
    np.testing.assert_allclose(of_classes, expected, rtol=0, atol=CONVERTED)


@ALL
def test_treelite(case, trained):
    run = trained(case)
    probability = converters.treelite_probabilities(run.model, case.training.features)
    np.testing.assert_allclose(probability, predicted(case, run), rtol=0, atol=CONVERTED)


def log_loss(kind: str, scores: np.ndarray, outcome: np.ndarray) -> float:
    probability = probabilities(kind, scores)
    if kind == "binary":
        probability = np.column_stack([1 - probability[:, 0], probability[:, 0]])
    return -np.log(probability[np.arange(len(outcome)), outcome]).mean()


@ALL
def test_training_goes_on_from_it(case, trained):
    job, run = case.training, trained(case)
    if case.library == "lightgbm":
        data = lgb.Dataset(
            job.features, job.outcome, params=job.all_parameters, free_raw_data=False
        )
        after = lgb.train(job.all_parameters, data, 5, init_model=load_model(run.model))
        assert after.current_iteration() == load_model(run.model).current_iteration() + 5
    else:
        names = load_model(run.model).feature_names
        data = xgb.DMatrix(job.features, job.outcome, feature_names=names, nthread=1)
        after = xgb.train(job.all_parameters, data, 5, xgb_model=run.model)
        assert after.num_boosted_rounds() == load_model(run.model).num_boosted_rounds() + 5
    before = log_loss(job.kind, raw_scores(case, run), job.outcome)
    assert log_loss(job.kind, job.raw_scores(after), job.outcome) < before
