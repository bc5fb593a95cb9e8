"""XGBoost's estimators: data, parameters and weights against its own `fit`, plain models back."""

import os
import pickle
import re
from typing import Any

import numpy as np
import pytest
from backend_cases import (
    FEATURES,
    NUM_ROWS,
    TARGETS,
    every_container,
    every_target,
    task_of,
    with_other_codes,
)
from bregboost._backends import Columns, Data, TreeBackend, backend_for
from bregboost._rows import encode_labels, take_rows
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

xgboost = pytest.importorskip("xgboost")

IS_OLD = xgboost.__version__.startswith("2.")
SETTINGS = {"n_estimators": 8, "max_depth": 3, "n_jobs": 1, "enable_categorical": True}


def make_estimator(target: str, **settings: Any) -> Any:
    kind = xgboost.XGBRegressor if target == "regression" else xgboost.XGBClassifier
    return kind(**(SETTINGS | settings))


def make_backend(target: str, **settings: Any) -> TreeBackend:
    return backend_for(make_estimator(target, **settings), task_of(target))


def labels_of(target: str) -> np.ndarray:
    y = TARGETS[target]
    return y if target == "regression" else encode_labels(y).codes


def train(backend: TreeBackend, data: Data, target: str) -> bytes:
    """What the core would return: a model that does not know the names of its features."""
    objectives = {
        "binary": {"objective": "binary:logistic"},
        "classes": {"objective": "multi:softprob", "num_class": 3},
        "regression": {"objective": "reg:squarederror"},
    }
    parameters = backend.parameters(data.columns) | objectives[target]
    parameters.pop("early_stopping_rounds", None)
    rounds = int(parameters.pop("num_boost_round"))
    data.keep.set_label(labels_of(target))
    booster = xgboost.train(parameters, data.keep, num_boost_round=rounds)
    booster.feature_names = None
    booster.feature_types = None
    return bytes(booster.save_raw("ubj"))


def rebuilt(backend: TreeBackend, X: Any, target: str) -> Any:
    data = backend.make_data(X)
    columns = pickle.loads(pickle.dumps(data.columns))
    classes = None if target == "regression" else encode_labels(TARGETS[target]).classes
    return backend.rebuild(train(backend, data, target), columns, classes)


def features_in(container: str) -> Any:
    if IS_OLD and container == "polars categorical":
        pytest.skip("refused")
    return FEATURES[container]()


def stock_container(container: str) -> str:
    """The container itself or, where the backend converts it, one that XGBoost takes."""
    converted = {"coo array": "csr", "csc": "csr"}
    if IS_OLD:
        converted |= {"polars": "pandas", "pyarrow": "pandas"}
    return converted.get(container, container)


@every_container
@every_target
def test_the_model_is_that_of_fit(container, target):
    X = features_in(container)
    backend = make_backend(target)
    fitted = rebuilt(backend, X, target)
    scores = backend.raw_scores(fitted, X)
    assert scores.shape == ((NUM_ROWS, 3) if target == "classes" else (NUM_ROWS,))
    assert scores.dtype == np.float64
    assert scores.std() > 0.1
    X = FEATURES[stock_container(container)]()
    stock = make_estimator(target).fit(X, labels_of(target))
    np.testing.assert_array_equal(scores, stock.predict(X, output_margin=True))
    np.testing.assert_array_equal(fitted.predict(X), stock.predict(X))
    if target != "regression":
        np.testing.assert_array_equal(fitted.predict_proba(X), stock.predict_proba(X))


@pytest.mark.parametrize("container", ["numpy", "pandas", "pandas categorical"])
@every_target
def test_attributes_are_those_after_fit(container, target):
    X = FEATURES[container]()
    fitted = rebuilt(make_backend(target), X, target)
    stock = make_estimator(target).fit(X, labels_of(target))
    check_is_fitted(fitted)
    assert type(fitted) is type(stock)
    assert fitted.get_params() == pytest.approx(make_estimator(target).get_params(), nan_ok=True)
    assert fitted.n_features_in_ == stock.n_features_in_
    assert hasattr(fitted, "feature_names_in_") == hasattr(stock, "feature_names_in_")
    if container != "numpy":
        assert fitted.feature_names_in_.tolist() == stock.feature_names_in_.tolist()
    assert fitted.get_booster().feature_types == stock.get_booster().feature_types
    if target != "regression":
        assert fitted.n_classes_ == stock.n_classes_
        assert fitted.classes_.tolist() == stock.classes_.tolist()
    np.testing.assert_array_equal(fitted.feature_importances_, stock.feature_importances_)
    assert fitted.score(X, labels_of(target)) == stock.score(X, labels_of(target))


@every_target
def test_plain_estimators_survive_pickling_saving_and_cloning(target, tmp_path):
    X = FEATURES["pandas categorical"]()
    estimator = make_estimator(target)
    fitted = rebuilt(backend_for(estimator, task_of(target)), X, target)
    expected = fitted.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), expected)
    assert not clone(fitted).__sklearn_is_fitted__()
    assert not estimator.__sklearn_is_fitted__()
    fitted.save_model(tmp_path / "model.ubj")
    loaded = make_estimator(target)
    loaded.load_model(tmp_path / "model.ubj")
    np.testing.assert_array_equal(loaded.predict(X), expected)
    refitted = fitted.fit(X, labels_of(target))
    assert refitted.get_booster().num_boosted_rounds() == SETTINGS["n_estimators"]


@every_target
def test_plain_estimators_can_be_explained(target):
    shap = pytest.importorskip("shap")
    X = FEATURES["numpy"]()
    fitted = rebuilt(make_backend(target, base_score=0.5), X, target)
    explained = shap.TreeExplainer(fitted)(X[:20])
    total = explained.values.sum(axis=1) + explained.base_values
    np.testing.assert_allclose(total, fitted.predict(X[:20], output_margin=True), atol=1e-5)


def test_softmax_is_what_it_was():
    X = FEATURES["numpy"]()
    fitted = rebuilt(make_backend("classes", objective="multi:softmax"), X, "classes")
    expected = rebuilt(make_backend("classes"), X, "classes")
    np.testing.assert_array_equal(fitted.predict(X), expected.predict(X))
    np.testing.assert_allclose(fitted.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    assert fitted.objective == "multi:softmax"


def test_models_that_stopped_early_or_not_predict_with_all_rounds():
    fitted = rebuilt(make_backend("binary", early_stopping_rounds=2), FEATURES["numpy"](), "binary")
    assert not hasattr(fitted, "best_iteration")
    assert fitted.get_booster().num_boosted_rounds() == SETTINGS["n_estimators"]


@pytest.mark.parametrize("tree_method", [None, "auto", "hist", "approx", "exact"])
def test_the_kind_of_matrix_is_that_of_fit(tree_method):
    has_bins = tree_method not in ("approx", "exact")
    backend = make_backend("binary", tree_method=tree_method, enable_categorical=False)
    data = backend.make_data(FEATURES["numpy"]())
    assert type(data.keep) is (xgboost.QuantileDMatrix if has_bins else xgboost.DMatrix)
    assert data.handle == data.keep.handle.value
    held_out = backend.make_data(FEATURES["numpy"]()[:9], reference=data)
    assert type(held_out.keep) is type(data.keep)
    assert (held_out.n_rows, held_out.n_features) == (9, 4)


def test_bins_are_weighted_as_in_fit():
    X, y = FEATURES["numpy"](), labels_of("binary")
    weight = np.where(np.arange(NUM_ROWS) < 200, 0.01, 1.0)
    backend = make_backend("binary", max_bin=8)
    data = backend.make_data(X, weight=weight)
    fitted = backend.rebuild(train(backend, data, "binary"), data.columns, np.array([0, 1]))
    stock = make_estimator("binary", max_bin=8).fit(X, y, sample_weight=weight)
    scores = stock.predict(X, output_margin=True)
    np.testing.assert_array_equal(fitted.predict(X, output_margin=True), scores)
    unweighted = make_estimator("binary", max_bin=8).fit(X, y)
    assert np.abs(scores - unweighted.predict(X, output_margin=True)).max() > 0.01


@pytest.mark.parametrize("container", ["numpy", "csr", "pandas categorical", "polars categorical"])
def test_held_out_rows_share_bins_and_categories(container):
    X, y = features_in(container), labels_of("binary")
    backend = make_backend("binary")
    data = backend.make_data(X)
    rows = np.arange(50, 150)
    other = take_rows(X, rows)
    if "categorical" in container:
        other = with_other_codes(other)
    held_out = backend.make_data(other, reference=data)
    data.keep.set_label(y)
    held_out.keep.set_label(y[rows])
    record: dict = {}
    booster = xgboost.train(
        {"objective": "binary:logistic", "nthread": 1, "eval_metric": "logloss"},
        data.keep,
        evals=[(held_out.keep, "held_out")],
        evals_result=record,
        verbose_eval=False,
    )
    chance = booster.inplace_predict(take_rows(FEATURES[stock_container(container)](), rows))
    loss = -np.log(np.where(y[rows] == 1, chance, 1 - chance)).mean()
    assert record["held_out"]["logloss"][-1] == pytest.approx(loss, rel=1e-5)


@pytest.mark.skipif(IS_OLD, reason="matrices know no categories")
@pytest.mark.parametrize("container", ["pandas categorical", "polars categorical"])
def test_held_out_rows_need_no_recoding(container):
    pytest.importorskip("pyarrow")
    backend = make_backend("binary")
    data = backend.make_data(FEATURES[container]())
    held_out = backend.make_data(with_other_codes(FEATURES[container]()), reference=data)
    cities = [
        dict(matrix.get_categories(export_to_arrow=True).to_arrow())["city"].to_pylist()
        for matrix in (data.keep, held_out.keep)
    ]
    assert len(cities[0]) == 4
    assert cities[0] == cities[1]


def test_categories_whose_codes_may_change_are_refused(monkeypatch):
    if not IS_OLD:
        monkeypatch.setattr(xgboost, "__version__", "2.1.4")
    with pytest.raises(ValueError, match=r"^X: categorical columns of polars; allowed before XGBo"):
        make_backend("binary").make_data(FEATURES["polars categorical"]())


def test_held_out_rows_with_fewer_categorical_columns(monkeypatch):
    monkeypatch.delattr(xgboost.DMatrix, "get_categories", raising=False)  # as before 3.1
    backend = make_backend("binary")
    data = backend.make_data(FEATURES["pandas categorical"]())
    with pytest.raises(ValueError, match=r"^X: 0 categorical columns; allowed: 1, as in training$"):
        backend.make_data(FEATURES["pandas"](), reference=data)


def test_another_mark_for_missing_values():
    X = np.nan_to_num(FEATURES["numpy"](), nan=-7.0)
    backend = make_backend("binary", missing=-7.0)
    fitted = rebuilt(backend, X, "binary")
    expected = rebuilt(make_backend("binary"), FEATURES["numpy"](), "binary")
    scores = backend.raw_scores(fitted, X)
    np.testing.assert_array_equal(
        scores, make_backend("binary").raw_scores(expected, FEATURES["numpy"]())
    )


def test_the_library_is_the_one_that_is_loaded():
    with open("/proc/self/maps") as maps:
        assert os.path.realpath(make_backend("binary").library()) in maps.read()


def test_parameters_have_the_names_of_the_library():
    backend = make_backend("binary", reg_alpha=0.5, random_state=3, eval_metric=["auc"], alpha=1)
    assert backend.parameters() == {
        "num_boost_round": "8",
        "max_depth": "3",
        "nthread": "1",
        "reg_alpha": "0.5",
        "seed": "3",
        "alpha": "1",
    }
    by_default = backend_for(xgboost.XGBClassifier(), "classification").parameters()
    assert by_default == {"num_boost_round": "100"}


@pytest.mark.parametrize(
    ("settings", "name", "text"),
    [
        ({"early_stopping_rounds": 3}, "early_stopping_rounds", "3"),
        ({"monotone_constraints": (1, 0, -1)}, "monotone_constraints", "(1,0,-1)"),
        ({"monotone_constraints": "(1,0)"}, "monotone_constraints", "(1,0)"),
        ({"monotone_constraints": {"b": -1}}, "monotone_constraints", "(0,-1,0,0)"),
        (
            {"interaction_constraints": [["a", "c"], ["b"]]},
            "interaction_constraints",
            "[[0,2],[1]]",
        ),
        ({"interaction_constraints": [[0, 2], [1]]}, "interaction_constraints", "[[0,2],[1]]"),
        ({"interaction_constraints": "[[0,1]]"}, "interaction_constraints", "[[0,1]]"),
        ({"validate_parameters": False}, "validate_parameters", "false"),
        ({"learning_rate": np.float64(0.25)}, "learning_rate", "0.25"),
    ],
)
def test_parameters_as_text(settings, name, text):
    columns = Columns(4, ["a", "b", "c", "d"])
    assert make_backend("binary", **settings).parameters(columns)[name] == text


@pytest.mark.parametrize(
    "settings",
    [
        {"monotone_constraints": {"a": 1, "b": -1}},
        {"interaction_constraints": [["a", "b"], ["c", "d"]]},
    ],
)
def test_constraints_on_named_features_are_those_of_fit(settings):
    X = FEATURES["pandas"]()
    fitted = rebuilt(make_backend("binary", **settings), X, "binary")
    stock = make_estimator("binary", **settings).fit(X, labels_of("binary"))
    np.testing.assert_array_equal(fitted.predict_proba(X), stock.predict_proba(X))
    free = make_estimator("binary").fit(X, labels_of("binary"))
    assert (fitted.predict_proba(X) != free.predict_proba(X)).any()


@pytest.mark.parametrize(
    ("settings", "columns", "message"),
    [
        (
            {"monotone_constraints": {"z": 1}},
            Columns(2, ["a", "b"]),
            "monotone_constraints: 'z'; allowed: 'a', 'b'",
        ),
        (
            {"interaction_constraints": [["z"]]},
            Columns(2),
            "interaction_constraints: 'z'; allowed: numbers, since the features have no names",
        ),
    ],
)
def test_constraints_on_features_that_do_not_exist(settings, columns, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make_backend("binary", **settings).parameters(columns)


@pytest.mark.parametrize("given", [{"depth": 3}, [3, None]])
def test_values_that_no_library_reads(given):
    message = (
        r"^max_leaves: (\{'depth': 3\} \(dict\)|None \(NoneType\)); allowed: text, numbers, and"
    )
    with pytest.raises(TypeError, match=message):
        make_backend("binary", max_leaves=given).parameters()


def test_a_generator_is_asked_for_one_seed():
    backend = make_backend("binary", random_state=np.random.default_rng(7))
    expected = np.random.default_rng(7).integers(np.iinfo(np.int32).max)
    assert backend.parameters()["seed"] == str(expected) == backend.parameters()["seed"]


class Callback(xgboost.callback.TrainingCallback):
    pass


@pytest.mark.parametrize(
    ("target", "settings", "message"),
    [
        ("binary", {"objective": lambda y, score: (y, score)}, "objective: "),
        ("binary", {"eval_metric": len}, "eval_metric: "),
        ("binary", {"callbacks": [Callback()]}, "callbacks: "),
        ("binary", {"objective": "binary:hinge"}, "objective: 'binary:hinge'; allowed for a "),
        ("regression", {"objective": "reg:gamma"}, "objective: 'reg:gamma'; allowed for a regr"),
        ("binary", {"booster": "dart"}, "booster: 'dart'; allowed: 'gbtree' (dart changes"),
        ("binary", {"booster": "gblinear"}, "booster: 'gblinear'; allowed: 'gbtree' ("),
        ("binary", {"multi_strategy": "multi_output_tree"}, "multi_strategy: 'multi_output_tree'"),
    ],
)
def test_parameters_that_cannot_be_honoured(target, settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_backend(target, **settings)


def test_losses():
    assert make_backend("binary").loss_options() == {"kind": "cross_entropy"}
    assert make_backend("regression").loss_options() == {"kind": "squared"}


@pytest.mark.parametrize("has_weights", [False, True])
def test_class_weights_are_those_of_fit(has_weights):
    X, y = FEATURES["numpy"](), labels_of("binary")
    row_weight = np.linspace(0.5, 2, NUM_ROWS) if has_weights else None
    # Bins follow the weights of rows, not of classes, unless each value has its own.
    common = {"base_score": 0.5, "tree_method": "exact", "enable_categorical": False}
    backend = make_backend("binary", scale_pos_weight=3, **common)
    weight = backend.sample_weight(encode_labels(y), row_weight)
    plain = make_estimator("binary", **common).fit(X, y, sample_weight=weight)
    stock = make_estimator("binary", scale_pos_weight=3, **common)
    stock.fit(X, y, sample_weight=row_weight)
    scores = stock.predict(X, output_margin=True)
    np.testing.assert_allclose(plain.predict(X, output_margin=True), scores, rtol=0, atol=1e-4)
    assert "scale_pos_weight" not in backend.parameters()


def test_without_class_weights_rows_keep_theirs():
    labels = encode_labels(TARGETS["binary"])
    weight = np.ones(NUM_ROWS)
    assert make_backend("binary").sample_weight(labels, None) is None
    assert make_backend("binary", scale_pos_weight=1).sample_weight(labels, weight) is weight


@pytest.mark.parametrize("target", ["classes", "regression"])
def test_class_weights_that_mean_nothing(target):
    labels = None if target == "regression" else encode_labels(TARGETS[target])
    with pytest.raises(ValueError, match=r"^scale_pos_weight: 2; allowed with two classes only"):
        make_backend(target, scale_pos_weight=2).sample_weight(labels, None)
