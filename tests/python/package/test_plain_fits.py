"""Without constraints the model is that of the stock estimator."""

from typing import Any

import numpy as np
import pytest
from backend_cases import FEATURES, NUM_ROWS, TARGETS, task_of
from bregboost import ConstrainedClassifier, ConstrainedRegressor
from sklearn.base import clone
from small_learners import LEARNERS, every_learner, make

# By LightGBM 4.0, of pandas' categories.
pytestmark = pytest.mark.filterwarnings("ignore:np.find_common_type:DeprecationWarning")

WEIGHTS = np.random.default_rng(3).integers(1, 4, NUM_ROWS).astype(float)
TOLERANCE = {"lightgbm": 1e-12, "xgboost": 1e-6, "linear": 1e-4}
SETTINGS: dict[str, dict[str, Any]] = {
    "lightgbm": {"subsample": 0.7, "subsample_freq": 1, "random_state": 3},
    "xgboost": {"subsample": 0.7, "random_state": 3},
    "linear": {},
}


def constrained(estimator: Any, task: str) -> Any:
    kind = ConstrainedClassifier if task == "classification" else ConstrainedRegressor
    return kind(estimator)


def estimator_for(learner: str, target: str, **parameters: Any) -> Any:
    if learner == "linear" and target != "regression":
        parameters = {"tol": 1e-10, "max_iter": 1000, **parameters}
    return make(learner, task_of(target), **SETTINGS[learner], **parameters)


def rows_for(learner: str, container: str) -> Any:
    rows = FEATURES[container]()
    return np.nan_to_num(rows) if learner == "linear" and container == "numpy" else rows


def check_same(learner: str, target: str, estimator: Any, rows: Any, **fit: Any) -> None:
    y = TARGETS[target]
    stock = clone(estimator)
    codes = np.unique(y, return_inverse=True)[1]
    is_coded = learner == "xgboost" and target != "regression"  # it knows codes only
    stock.fit(rows, codes if is_coded else y, **fit)
    model = constrained(estimator, task_of(target)).fit(rows, y, **fit)
    tolerance = TOLERANCE[learner]
    if target == "regression":
        np.testing.assert_allclose(
            model.estimator_.predict(rows), stock.predict(rows), rtol=0, atol=tolerance
        )
        np.testing.assert_allclose(model.predict(rows), stock.predict(rows), rtol=0, atol=tolerance)
        return
    expected = stock.predict_proba(rows)
    np.testing.assert_allclose(
        model.estimator_.predict_proba(rows), expected, rtol=0, atol=tolerance
    )
    np.testing.assert_allclose(model.predict_proba(rows), expected, rtol=0, atol=tolerance)
    labels = model.classes_[stock.predict(rows)] if is_coded else stock.predict(rows)
    second, first = np.sort(expected, axis=1)[:, -2:].T
    is_clear = first - second > 10 * tolerance
    np.testing.assert_array_equal(model.predict(rows)[is_clear], labels[is_clear])
    assert model.status_ == "unconstrained"


@every_learner
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_stock_model(learner, target, weighted):
    fit = {"sample_weight": WEIGHTS} if weighted else {}
    check_same(learner, target, estimator_for(learner, target), rows_for(learner, "numpy"), **fit)


@pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("target", TARGETS)
def test_the_stock_model_of_categories_and_missing_values(learner, target):
    estimator = estimator_for(learner, target)
    if learner == "xgboost":
        estimator.set_params(enable_categorical=True, tree_method="hist")
    check_same(learner, target, estimator, rows_for(learner, "pandas categorical"))


CLASS_WEIGHTS = [
    ("lightgbm", "binary", {"class_weight": "balanced"}),
    ("lightgbm", "binary", {"class_weight": {"no": 1.0, "yes": 3.0}}),
    ("lightgbm", "classes", {"class_weight": "balanced"}),
    # The libraries leave this weight out of the average score that they start from.
    ("lightgbm", "binary", {"scale_pos_weight": 2.5, "boost_from_average": False}),
    ("xgboost", "binary", {"scale_pos_weight": 2.5, "base_score": 0.5}),
    ("linear", "binary", {"class_weight": "balanced"}),
    ("linear", "classes", {"class_weight": {"low": 2.0}}),
]


@pytest.mark.parametrize(("learner", "target", "parameters"), CLASS_WEIGHTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_stock_model_of_class_weights(learner, target, parameters, weighted):
    fit = {"sample_weight": WEIGHTS} if weighted else {}
    estimator = estimator_for(learner, target, **parameters)
    check_same(learner, target, estimator, rows_for(learner, "numpy"), **fit)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    "labels",
    [
        np.array([False, True]),
        np.array([-1, 7]),
        np.array([0.5, 2.0]),
        np.array(["yes", "no"], dtype=object),
    ],
    ids=["bool", "int", "float", "object"],
)
def test_labels_come_back_as_they_were_given(learner, labels):
    rows = rows_for(learner, "numpy")
    y = labels[(TARGETS["binary"] == "yes").astype(int)]
    if labels.dtype == float:  # scikit-learn takes whole numbers alone for classes
        y = y * 2
    model = constrained(make(learner), "classification").fit(rows, y)
    predicted = model.predict(rows)
    assert predicted.dtype == model.classes_.dtype
    assert predicted.dtype.kind == y.dtype.kind
    assert set(predicted) == set(y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    assert model.score(rows, y) == np.mean(predicted == y)
    if learner == "xgboost":
        np.testing.assert_array_equal(model.classes_[model.estimator_.predict(rows)], predicted)
    else:
        np.testing.assert_array_equal(model.estimator_.predict(rows), predicted)


@pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("target", TARGETS)
def test_an_odd_number_of_rounds(learner, target):
    estimator = estimator_for(learner, target, n_estimators=7)
    check_same(learner, target, estimator, rows_for(learner, "numpy"))
