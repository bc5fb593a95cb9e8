"""What is refused, in which words, and that nothing of a failed fit remains."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bregboost import ConstrainedClassifier, ConstrainedRegressor, ConstraintError, rate
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from small_learners import LEARNERS, make

_generator = np.random.default_rng(0)
ROWS = 200
X = _generator.normal(size=(ROWS, 3))
SCORE = X[:, 0] + 0.5 * _generator.normal(size=ROWS)
Y = (SCORE > 0).astype(int)
THREE = np.digitize(SCORE, [-0.5, 0.5])
SEX = _generator.choice(["F", "M"], ROWS)
RARE = np.array(["a"] * (ROWS - 1) + ["b"])
MISSING = np.where(X > 2, np.nan, X)
GAP = "gap(error, by=sex) <= 5%"
GROUPS = {"sensitive_features": {"sex": SEX}}
NAN = float("nan")


def parameter(name: str, *values: Any, error: type = ValueError, allowed: str) -> list[Any]:
    """Cases of a bad parameter, which the message names with its value."""
    return [
        pytest.param(
            {name: value}, {}, X, Y, error, [f"{name}: ", repr(value), f"allowed: {allowed}"],
            id=f"{name}={value!r}",
        )
        for value in values
    ]  # fmt: skip


def data(
    name: str,
    error: type,
    words: list[str],
    parameters: dict[str, Any] | None = None,
    X: Any = X,
    y: Any = Y,
    **fit: Any,
) -> Any:
    return pytest.param(parameters or {}, fit, X, y, error, words, id=name)


CLASSIFIER_CASES = [
    *parameter("solver", "lbfgs", None, allowed="'auto', 'abpp', 'cbpr'"),
    *parameter("validation", "cv", 5, allowed="'auto', 'folds', 'holdout'"),
    *parameter("deploy", "mean", allowed="'fold_mean', 'refit'"),
    *parameter("rho", -1, NAN, float("inf"), "5", True, allowed="a number of at least 0"),
    *parameter("delta", 0, 0.6, NAN, "x", allowed="a number above 0 and at most 0.5"),
    *parameter("certify", 1.0, -0.1, NAN, "yes", True, allowed="a number of at least 0 and below"),
    *parameter("n_folds", 1, 2.5, True, "5", allowed="an integer of at least 2"),
    *parameter("n_folds", 1000, allowed="at most 200"),
    *parameter("objective", "nonsense", allowed="a rate (unknown rate 'nonsense'; known rates: "),
    *parameter("objective", "selection_rate", allowed="sums of accuracy"),
    *parameter("objective", 5, error=TypeError, allowed="the text of a rate"),
    *parameter("pos_label", 7, "yes", allowed="'0', '1'"),
    *parameter("all_rounds", "yes", None, 1, allowed="True, False"),
    *parameter("fold_offsets", "no", None, 1, allowed="True, False"),
    *parameter("verbose", "loud", 0.5, allowed="True, False, None"),
    *parameter("max_weight", -1, 0, NAN, "x", allowed="a number above 0"),
    *parameter("loss_range", (1, 0), 3, (1, 2, 3), "ab", (0, NAN), allowed="two numbers"),
    *parameter("random_state", -1, "x", 2.5, allowed="an integer of at least 0"),
    *parameter("solver_options", 3, error=TypeError, allowed="a dict"),
    *parameter("estimator", "catboost", allowed="LGBMClassifier, XGBClassifier, Logistic"),
    *parameter("constraints", 3, None, {"fnr": 0.05}, error=TypeError, allowed="text such as"),
    data(
        "baseline", TypeError, ["baseline: int", "allowed: a fitted model with predict()"],
        {"baseline": 3},
    ),
    data(
        "baseline of other classes", ValueError, ["baseline: class '2'", "allowed: '0', '1'"],
        {"baseline": LogisticRegression().fit(X, THREE), "constraints": "disagreement <= 5%"},
    ),
    data(
        "no baseline", ConstraintError, ["disagreement needs the predictions of a baseline"],
        {"constraints": "disagreement <= 5%"},
    ),
    data(
        "options of auto", ValueError, ["solver_options: ['surrogate']", "'auto'"],
        {"solver_options": {"surrogate": "sigmoid"}},
    ),
    data(
        "unknown option", ValueError, ["solver_options: 'step'", "allowed: 'bound_rule'"],
        {"solver": "abpp", "solver_options": {"step": 1.0}},
    ),
    data(
        "type of an option", TypeError, ["solver_options['primal_step']: 'x'", "a number"],
        {"solver": "abpp", "solver_options": {"primal_step": "x"}},
    ),
    data(
        "choice of an option", ValueError, ["surrogate: 'x'", "allowed: cross_entropy"],
        {"solver": "abpp", "solver_options": {"surrogate": "x"}},
    ),
    data(
        "range of an option", ValueError, ["primal_step: -1", "allowed: a finite number above 0"],
        {"solver": "abpp", "solver_options": {"primal_step": -1.0}},
    ),
    data(
        "certificate of abpp", ValueError, ["certify: 0.2", "'abpp'"],
        {"solver": "abpp", "certify": 0.2},
    ),
    data(
        "objective of abpp", ValueError, ["objective: 'recall'", "'abpp'"],
        {"solver": "abpp", "objective": "recall"},
    ),
    data(
        "forest", TypeError, ["estimator: RandomForestClassifier", "allowed for a classification"],
        {"estimator": RandomForestClassifier()},
    ),
    data(
        "regressor", TypeError, ["estimator: Ridge", "allowed for a classification"],
        {"estimator": Ridge()},
    ),
    data("group column", ValueError, ["sensitive_features: no column 'sex'"], {"constraints": GAP}),
    data(
        "other group column", ValueError, ["no column 'sex'", "allowed: 'gender'"],
        {"constraints": GAP}, sensitive_features={"gender": SEX},
    ),
    data(
        "class", ConstraintError, ["class '7'", "allowed: 0, 1"],
        {"constraints": "error(class=7) <= 5%"},
    ),
    data(
        "group", ConstraintError, ["value 'Q'", "column 'sex'", "allowed: F, M"],
        {"constraints": "error(sex=Q) <= 5%"}, **GROUPS,
    ),
    data(
        "group absent in a fold", ConstraintError, ["one row to train on in g=b", "2 or more"],
        {"constraints": "gap(error, by=g) <= 5%"}, sensitive_features={"g": RARE},
    ),
    data(
        "rates of two classes", ConstraintError, ["fnr needs two classes", "error(class=...)"],
        {"constraints": "fnr <= 5%"}, y=THREE,
    ),
    data("grammar", ConstraintError, ["'fnrr <= 5%', column 1"], {"constraints": "fnrr <= 5%"}),
    data("y", ValueError, ["y: 199 values for 200 rows", "one for each row"], y=Y[:-1]),
    data("no y", ValueError, ["y: None"], y=None),
    data("one class", ValueError, ["y: one class, '0'", "two or more"], y=np.zeros(ROWS)),
    data("two columns", ValueError, ["y should be a 1d array"], y=np.column_stack([Y, Y])),
    data("missing label", ValueError, ["Input y contains NaN"], y=np.where(Y, NAN, 1.0)),
    data("missing feature", ValueError, ["Input X contains NaN"], X=MISSING),
    data("weights", ValueError, ["sample_weight: shape (3,)", "200 rows"], sample_weight=[1, 2, 3]),
    data("negative", ValueError, ["sample_weight: -1.0 in row 0"], sample_weight=-np.ones(ROWS)),
    data("rate weights", ValueError, ["rate_weight: shape (3,)"], rate_weight=[1, 2, 3]),
    data(
        "groups' length", ValueError, ["sensitive_features['sex']: 199 rows", "allowed: 200"],
        {"constraints": GAP}, sensitive_features={"sex": SEX[:-1]},
    ),
    data("no pair", ValueError, ["eval_set: ndarray of 200", "one pair (X, y)"], eval_set=X),
    data("pairs", ValueError, ["eval_set: 2 pairs", "one pair"], eval_set=[(X, Y), (X, Y)]),
    data("evaluation y", ValueError, ["eval_set: 199 values for 200"], eval_set=(X, Y[:-1])),
    data("evaluation X", ValueError, ["eval_set: 2 features", "3"], eval_set=(X[:, :2], Y)),
    data("evaluation class", ValueError, ["eval_set: class '2'", "'0', '1'"], eval_set=(X, Y + 1)),
    data(
        "evaluation groups", ValueError, ["eval_sensitive_features: no column 'sex'"],
        {"constraints": GAP}, eval_set=(X, Y), **GROUPS,
    ),
    data(
        "evaluation weights", ValueError, ["eval_sample_weight: shape (3,)"],
        eval_set=(X, Y), eval_sample_weight=[1, 2, 3],
    ),
    data(
        "weights without rows", ValueError, ["eval_sample_weight: given", "without eval_set: None"],
        eval_sample_weight=np.ones(ROWS),
    ),
    data(
        "validation twice", ValueError, ["validation: 'folds'", "eval_set"],
        {"validation": "folds"}, eval_set=(X, Y),
    ),
    data(
        "certification twice", ValueError, ["certify: 0.2", "certify_set"],
        {"certify": 0.2}, certify_set=(X, Y),
    ),
    data(
        "certification rows of abpp", ValueError, ["certify_set: given", "'abpp'"],
        {"solver": "abpp"}, certify_set=(X, Y),
    ),
]  # fmt: skip


def fitted_attributes(model: Any) -> list[str]:
    return [name for name in vars(model) if name.endswith("_") or name.startswith("_")]


@pytest.mark.parametrize(("parameters", "fit", "X", "y", "error", "words"), CLASSIFIER_CASES)
def test_a_bad_fit_says_why_and_leaves_nothing_behind(parameters, fit, X, y, error, words):
    given = {"estimator": "linear", "constraints": "fpr <= 20%", **parameters}
    if y is THREE and "constraints" not in parameters:
        given["constraints"] = ()
    model = ConstrainedClassifier(**given)
    with pytest.raises(error) as caught:
        model.fit(X, y, **fit)
    assert isinstance(caught.value, (ValueError, TypeError))
    for word in words:
        assert word in str(caught.value)
    assert fitted_attributes(model) == []


@pytest.mark.parametrize(("parameters", "fit", "X", "y", "error", "words"), CLASSIFIER_CASES)
def test_a_bad_fit_leaves_an_earlier_one_as_it_was(parameters, fit, X, y, error, words):
    model = ConstrainedClassifier("linear", "fpr <= 20%").fit(np.abs(MISSING) < 1, Y)
    before = dict(vars(model))
    decisions = model.predict(np.abs(MISSING) < 1)
    model.set_params(**parameters)
    with pytest.raises(error):
        model.fit(X, y, **fit)
    kept = {name: value for name, value in vars(model).items() if name not in parameters}
    expected = {name: value for name, value in before.items() if name not in parameters}
    assert kept.keys() == expected.keys()
    assert all(kept[name] is expected[name] for name in kept)
    np.testing.assert_array_equal(model.predict(np.abs(MISSING) < 1), decisions)


@pytest.mark.parametrize(
    ("parameters", "y", "error", "message"),
    [
        ({"constraints": "fnr <= 5%"}, SCORE, ConstraintError, "fnr needs class labels"),
        (
            {"constraints": "fnr <= 5%", "solver": "abpp"},
            SCORE,
            ConstraintError,
            "the target is numeric; allowed: loss",
        ),
        ({"objective": "accuracy", "constraints": "loss <= 1"}, SCORE, ValueError, "accuracy"),
        ({"estimator": LogisticRegression()}, SCORE, TypeError, "allowed for a regression: LGBMRe"),
        ({}, np.where(Y, np.inf, 1.0), ValueError, "Input y contains infinity"),
        ({}, SEX, ValueError, "in row 0; allowed: numbers"),
    ],
)
def test_bad_fits_of_a_regressor(parameters, y, error, message):
    model = ConstrainedRegressor(**{"estimator": "linear", **parameters})
    with pytest.raises(error, match=re.escape(message)):
        model.fit(X, y)
    assert fitted_attributes(model) == []


@pytest.mark.parametrize("estimator", ["lightgbm", "xgboost"])
@pytest.mark.parametrize(
    ("fit", "message"),
    [
        ({"eval_set": (X[:, :2], Y)}, "eval_set: 2 features; allowed: 3"),
        ({"eval_set": (X, Y[:-1])}, "eval_set: 199 values for 200"),
        ({"sample_weight": [1.0]}, "sample_weight: shape (1,)"),
    ],
)
def test_the_libraries_do_not_answer_first(estimator, fit, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        ConstrainedClassifier(make(estimator), "fnr <= 5%").fit(X, Y, **fit)


def test_a_bound_is_a_number():
    with pytest.raises(ValueError, match="bound: nan; allowed: finite numbers"):
        _ = rate.fnr() <= NAN
    with pytest.raises(ConstraintError, match="unknown rate 'nan'"):
        ConstrainedClassifier("linear", "fnr <= nan").fit(X, Y)


@pytest.mark.parametrize(
    "use",
    [
        lambda model: model.predict(X),
        lambda model: model.predict_proba(X),
        lambda model: model.decision_function(X),
        lambda model: model.score(X, Y),
        lambda model: model.recalibrate("fnr <= 5%"),
        lambda model: model.certificate_,
        lambda model: model.history_,
        lambda model: model.multipliers_,
        lambda model: model.status_,
    ],
)
def test_nothing_can_be_asked_before_a_fit(use: Callable[[Any], Any]):
    with pytest.raises(NotFittedError, match="This ConstrainedClassifier instance is not fitted"):
        use(ConstrainedClassifier("linear", "fnr <= 5%"))


@pytest.mark.parametrize("estimator", LEARNERS)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X[:, :2], "X has 2 features, but ConstrainedClassifier is expecting 3 features as input"),
        (X[0], "X: 1 dimensions; allowed: 2. Reshape your data"),
    ],
)
def test_predictions_want_the_features_of_the_fit(estimator, rows, message):
    model = ConstrainedClassifier(make(estimator)).fit(X, Y)
    for answer in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            answer(rows)


@pytest.mark.parametrize(
    ("constraints", "parameters", "error", "message"),
    [
        ("fnrr <= 5%", {}, ConstraintError, "unknown rate 'fnrr'"),
        (GAP, {}, ConstraintError, "unknown group column 'sex'; allowed: none"),
        ("fnr <= 5%", {"rho": -1}, ValueError, "rho: -1; allowed: a number of at least 0"),
        ("fnr <= 5%", {"objective": "x"}, ValueError, "objective: 'x'; allowed: a rate"),
    ],
)
def test_bad_recalibrations(constraints, parameters, error, message):
    model = ConstrainedClassifier("linear", "fnr <= 5%").fit(X, Y)
    with pytest.raises(error, match=re.escape(message)):
        model.recalibrate(constraints, **parameters)


@pytest.mark.parametrize(
    "model",
    [
        ConstrainedClassifier("linear"),
        ConstrainedClassifier("linear", "fnr <= 30%", solver="abpp"),
    ],
)
def test_models_that_cannot_be_recalibrated(model):
    with pytest.raises(ValueError, match="allowed: a classifier that was fitted by the solver"):
        model.fit(X, Y).recalibrate("fnr <= 5%")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ValueError, "bounds, rhos: both or none; allowed: one of them"),
        ({"bounds": [0.1], "rhos": [1]}, ValueError, "bounds, rhos: both or none"),
        ({"bounds": []}, ValueError, "bounds: none; allowed: one or more"),
        ({"bounds": 0.1}, TypeError, "bounds: 0.1; allowed: a list of numbers"),
        ({"bounds": "0.1"}, TypeError, "bounds: '0.1'; allowed: a list of numbers"),
        ({"bounds": [0.1, NAN]}, ValueError, "bounds: nan; allowed: a number that is finite"),
        ({"bounds": [-0.1]}, ConstraintError, "bound -10% is out of range for 'fnr'"),
        ({"rhos": [-1]}, ValueError, "rhos: -1; allowed: a number of at least 0"),
        ({"bounds": [0.1], "constraint": 3}, ValueError, "constraint: 3; allowed: a place from 0"),
        ({"bounds": [0.1], "constraint": 1.5}, ValueError, "constraint: 1.5; allowed"),
        ({"bounds": [0.1], "constraint": "fpr <= 3%"}, ValueError, "one of ['fnr <= 5%']"),
        ({"bounds": [0.1], "groups": SEX}, TypeError, "groups: unknown; allowed: sample_weight"),
        ({"bounds": [0.1], "certify_set": (X, Y)}, ValueError, "certify_set: given; allowed for"),
    ],
)
@pytest.mark.parametrize("models", [True, False])
def test_bad_frontiers(arguments, error, message, models):
    model = ConstrainedClassifier("linear", "fnr <= 5%")
    with pytest.raises(error, match=re.escape(message)):
        model.frontier(X, Y, models=models, **arguments)
    assert fitted_attributes(model) == []


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"constraints": ()}, "constraints: none; allowed for a frontier: one or more"),
        ({"solver": "abpp"}, "solver: 'abpp'; allowed for a frontier: 'auto'"),
    ],
)
def test_frontiers_need_limits_on_unseen_rows(parameters, message):
    model = ConstrainedClassifier("linear", "fnr <= 5%").set_params(**parameters)
    with pytest.raises(ValueError, match=re.escape(message)):
        model.frontier(X, Y, bounds=[0.1])
