"""LightGBM's estimators: data, parameters and weights against its own `fit`, plain models back."""

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

lightgbm = pytest.importorskip("lightgbm")
# LightGBM 4.0's own.
pytestmark = pytest.mark.filterwarnings("ignore:np.find_common_type:DeprecationWarning")

SETTINGS = {"n_estimators": 8, "num_leaves": 6, "n_jobs": 1, "verbosity": -1}


def make_estimator(target: str, **settings: Any) -> Any:
    kind = lightgbm.LGBMRegressor if target == "regression" else lightgbm.LGBMClassifier
    return kind(**(SETTINGS | settings))


def make_backend(target: str, **settings: Any) -> TreeBackend:
    return backend_for(make_estimator(target, **settings), task_of(target))


def train(backend: TreeBackend, data: Data, target: str, weight: Any = None) -> bytes:
    """What the core would return: LightGBM's text, which knows nothing of pandas."""
    y = TARGETS[target]
    objective = {"objective": "regression"}
    if target != "regression":
        y = encode_labels(y).codes
        objective = {"objective": "binary"}
    if target == "classes":
        objective = {"objective": "multiclass", "num_class": 3}
    parameters = backend.parameters(data.columns) | objective
    rounds = int(parameters.pop("num_iterations"))
    data.keep.set_label(y).set_weight(weight)
    booster = lightgbm.Booster(parameters, data.keep)
    for _ in range(rounds):
        booster.update()
    return booster.model_to_string().partition("\npandas_categorical:")[0].encode()


def classes_of(target: str) -> np.ndarray | None:
    return None if target == "regression" else encode_labels(TARGETS[target]).classes


def rebuilt(backend: TreeBackend, X: Any, target: str) -> Any:
    data = backend.make_data(X)
    columns = pickle.loads(pickle.dumps(data.columns))
    return backend.rebuild(train(backend, data, target), columns, classes_of(target))


def stock_container(container: str) -> str:
    """The container itself or, where the backend converts it, one that LightGBM takes."""
    converted = {
        "pandas arrow": "pandas",
        "polars categorical": "pandas categorical",
        "coo array": "csr",
    }
    if not hasattr(lightgbm.basic, "nw"):
        converted |= {"polars": "pandas", "pyarrow": "pandas"}
    return converted.get(container, container)


@every_container
@every_target
def test_the_model_is_that_of_fit(container, target):
    X = FEATURES[container]()
    backend = make_backend(target)
    fitted = rebuilt(backend, X, target)
    scores = backend.raw_scores(fitted, X)
    assert scores.shape == ((NUM_ROWS, 3) if target == "classes" else (NUM_ROWS,))
    assert scores.std() > 0.1
    X = FEATURES[stock_container(container)]()
    stock = make_estimator(target).fit(X, TARGETS[target])
    np.testing.assert_array_equal(scores, stock.predict(X, raw_score=True))
    np.testing.assert_array_equal(fitted.predict(X), stock.predict(X))
    if target != "regression":
        np.testing.assert_array_equal(fitted.predict_proba(X), stock.predict_proba(X))


@pytest.mark.parametrize("container", ["numpy", "pandas", "pandas categorical"])
@every_target
def test_attributes_are_those_after_fit(container, target):
    X = FEATURES[container]()
    fitted = rebuilt(make_backend(target), X, target)
    stock = make_estimator(target).fit(X, TARGETS[target])
    check_is_fitted(fitted)
    assert type(fitted) is type(stock)
    assert fitted.get_params() == stock.get_params()
    names = ["n_features_", "n_features_in_", "feature_name_", "objective_", "best_iteration_"]
    names += ["best_score_", "evals_result_", "n_estimators_", "n_iter_"]
    if target != "regression":
        names.append("n_classes_")
        np.testing.assert_array_equal(fitted.classes_, stock.classes_)
        assert fitted.classes_.dtype == stock.classes_.dtype
    for name in names:
        assert getattr(fitted, name) == getattr(stock, name), name
    np.testing.assert_array_equal(fitted.feature_importances_, stock.feature_importances_)
    assert hasattr(fitted, "feature_names_in_") == hasattr(stock, "feature_names_in_")
    assert fitted.booster_.pandas_categorical == stock.booster_.pandas_categorical
    assert fitted.score(X, TARGETS[target]) == stock.score(X, TARGETS[target])


@every_target
def test_plain_estimators_survive_pickling_and_cloning(target, tmp_path):
    X = FEATURES["pandas categorical"]()
    estimator = make_estimator(target, random_state=np.random.RandomState(1))
    backend = backend_for(estimator, task_of(target))
    fitted = rebuilt(backend, X, target)
    expected = fitted.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), expected)
    assert not clone(fitted).__sklearn_is_fitted__()
    assert not estimator.__sklearn_is_fitted__()
    fitted.booster_.save_model(tmp_path / "model.txt")
    loaded = lightgbm.Booster(model_file=tmp_path / "model.txt")
    raw = fitted.predict(X, raw_score=True)
    np.testing.assert_array_equal(loaded.predict(X, raw_score=True), raw)
    refitted = fitted.fit(X, TARGETS[target])
    assert refitted.n_estimators_ == SETTINGS["n_estimators"]


@every_target
def test_plain_estimators_can_be_explained(target):
    shap = pytest.importorskip("shap")
    X = FEATURES["numpy"]()
    fitted = rebuilt(make_backend(target), X, target)
    explained = shap.TreeExplainer(fitted)(X[:20])
    total = explained.values.sum(axis=1) + explained.base_values
    scores = fitted.predict(X[:20], raw_score=True)
    if target == "binary" and total.ndim == 2:
        total = total[:, 1]
    np.testing.assert_allclose(total, scores, atol=1e-6)


def test_nothing_is_printed(capfd):
    backend = backend_for(lightgbm.LGBMClassifier(n_jobs=1), "classification")
    data = backend.make_data(FEATURES["numpy"]())
    held_out = backend.make_data(FEATURES["numpy"]()[:50], reference=data)
    assert held_out.n_rows == 50
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("container", ["numpy", "csr", "pandas categorical", "polars categorical"])
def test_held_out_rows_share_bins_and_categories(container):
    X = FEATURES[container]()
    backend = make_backend("binary")
    data = backend.make_data(X)
    rows = np.arange(50, 150)
    other = take_rows(X, rows)
    if "categorical" in container:
        other = with_other_codes(other)
    held_out = backend.make_data(other, reference=data)
    assert (held_out.n_rows, held_out.n_features) == (100, data.n_features)
    assert held_out.handle == held_out.keep._handle.value
    codes = encode_labels(TARGETS["binary"]).codes
    data.keep.set_label(codes)
    held_out.keep.set_label(codes[rows])
    record: dict = {}
    booster = lightgbm.train(
        {"objective": "binary", "verbosity": -1, "num_threads": 1},
        data.keep,
        valid_sets=[held_out.keep],
        callbacks=[lightgbm.record_evaluation(record)],
    )
    chance = booster.predict(take_rows(FEATURES[stock_container(container)](), rows))
    loss = -np.log(np.where(codes[rows] == 1, chance, 1 - chance)).mean()
    assert record["valid_0"]["binary_logloss"][-1] == pytest.approx(loss, rel=1e-6)


def test_categorical_features_by_keyword():
    X = np.nan_to_num(FEATURES["numpy"]())
    data = make_backend("binary", categorical_feature=[3]).make_data(X)
    assert "categorical_feature" not in make_backend("binary", cat_feature=[3]).parameters()
    stock = make_estimator("binary").fit(X, TARGETS["binary"], categorical_feature=[3])
    backend = make_backend("binary")
    fitted = backend.rebuild(train(backend, data, "binary"), data.columns, classes_of("binary"))
    np.testing.assert_array_equal(fitted.predict_proba(X), stock.predict_proba(X))


def test_the_library_is_the_one_that_is_loaded():
    with open("/proc/self/maps") as maps:
        assert make_backend("binary").library() in maps.read()


def test_parameters_have_the_names_of_the_library():
    parameters = make_backend(
        "binary", reg_alpha=0.5, random_state=3, subsample_freq=2
    ).parameters()
    assert parameters == {
        "boosting": "gbdt",
        "num_leaves": "6",
        "max_depth": "-1",
        "learning_rate": "0.1",
        "num_iterations": "8",
        "bin_construct_sample_cnt": "200000",
        "min_gain_to_split": "0.0",
        "min_sum_hessian_in_leaf": "0.001",
        "min_data_in_leaf": "20",
        "bagging_fraction": "1.0",
        "bagging_freq": "2",
        "feature_fraction": "1.0",
        "lambda_l1": "0.5",
        "lambda_l2": "0.0",
        "seed": "3",
        "num_threads": "1",
        "verbosity": "-1",
    }


@pytest.mark.parametrize(
    ("settings", "name", "text"),
    [
        ({"num_boost_round": 5}, "num_iterations", "5"),
        ({"lambda_l1": 2}, "lambda_l1", "2"),
        ({"sub_row": 0.5}, "bagging_fraction", "0.5"),
        ({"early_stopping_round": 3}, "early_stopping_round", "3"),
        ({"monotone_constraints": [1, 0, -1]}, "monotone_constraints", "1,0,-1"),
        ({"monotone_constraints": np.array([1, 0])}, "monotone_constraints", "1,0"),
        ({"interaction_constraints": [[0, 1], [2]]}, "interaction_constraints", "[0,1],[2]"),
        ({"extra_trees": True}, "extra_trees", "true"),
        ({"learning_rate": np.float64(0.25)}, "learning_rate", "0.25"),
        ({"metric": ["auc", "binary_logloss"]}, "metric", "auc,binary_logloss"),
    ],
)
def test_parameters_as_text(settings, name, text):
    assert make_backend("binary", **settings).parameters()[name] == text


def test_threads_follow_the_convention_of_joblib():
    assert make_backend("binary", n_jobs=3).parameters()["num_threads"] == "3"
    everything = make_backend("binary", n_jobs=-1).parameters()["num_threads"]
    assert int(everything) >= 1
    assert int(make_backend("binary", n_jobs=None).parameters()["num_threads"]) >= 1


def test_a_generator_is_asked_for_one_seed():
    backend = make_backend("binary", random_state=np.random.RandomState(7))
    expected = np.random.RandomState(7).randint(np.iinfo(np.int32).max)
    assert backend.parameters()["seed"] == str(expected) == backend.parameters()["seed"]


@pytest.mark.parametrize(
    ("target", "settings", "message"),
    [
        ("binary", {"objective": lambda y, score: (y, score)}, "objective: "),
        ("binary", {"metric": [len]}, "metric: "),
        ("binary", {"objective": "multiclassova"}, "objective: 'multiclassova'; allowed for a "),
        (
            "regression",
            {"objective": "poisson"},
            "objective: 'poisson'; allowed for a regression: ",
        ),
        ("binary", {"boosting_type": "dart"}, "boosting: 'dart'; allowed: 'gbdt', 'goss' (dart"),
        ("binary", {"boosting": "rf"}, "boosting: 'rf'; allowed: 'gbdt', 'goss' (a forest"),
        ("binary", {"linear_tree": True}, "linear_tree: True; allowed: False"),
        (
            "binary",
            {"sub_row": 0.5, "bagging": 0.6},
            "; allowed: one name of bagging_fraction, not two",
        ),
    ],
)
def test_parameters_that_cannot_be_honoured(target, settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_backend(target, **settings)


def test_losses():
    assert make_backend("binary").loss_options() == {"kind": "cross_entropy"}
    assert make_backend("regression").loss_options() == {"kind": "squared"}
    assert make_backend("regression", objective="huber", alpha=2).loss_options() == {
        "kind": "huber",
        "huber_delta": 2.0,
    }
    huber = make_backend("regression", objective="huber").loss_options()
    assert huber == {"kind": "huber", "huber_delta": 0.9}


@pytest.mark.parametrize(
    "settings",
    [
        {"scale_pos_weight": 3.0},
        {"is_unbalance": True},
        {"class_weight": "balanced"},
        {"class_weight": {"yes": 4.0}},
        {"class_weight": {"yes": 4.0, "no": 0.5}, "scale_pos_weight": 2.0},
    ],
)
@pytest.mark.parametrize("has_weights", [False, True])
def test_class_weights_are_those_of_fit(settings, has_weights):
    X, y = FEATURES["numpy"](), np.where(np.arange(NUM_ROWS) % 5 == 0, "no", TARGETS["binary"])
    row_weight = np.linspace(0.5, 2, NUM_ROWS) if has_weights else None
    # LightGBM's average score leaves `scale_pos_weight` and `is_unbalance` out.
    common = {"boost_from_average": False}
    backend = make_backend("binary", **settings, **common)
    weight = backend.sample_weight(encode_labels(y), row_weight)
    plain = make_estimator("binary", **common).fit(X, y, sample_weight=weight)
    stock = make_estimator("binary", **settings, **common).fit(X, y, sample_weight=row_weight)
    np.testing.assert_allclose(
        plain.predict(X, raw_score=True), stock.predict(X, raw_score=True), rtol=0, atol=1e-6
    )
    assert not {"scale_pos_weight", "is_unbalance", "class_weight"} & set(backend.parameters())


def test_without_class_weights_rows_keep_theirs():
    labels = encode_labels(TARGETS["binary"])
    assert make_backend("binary").sample_weight(labels, None) is None
    weight = np.ones(NUM_ROWS)
    assert make_backend("binary").sample_weight(labels, weight) is weight
    assert make_backend("regression").sample_weight(None, weight) is weight


@pytest.mark.parametrize(
    ("target", "settings", "message"),
    [
        ("classes", {"scale_pos_weight": 2}, "scale_pos_weight: 2; allowed with two classes only"),
        ("classes", {"is_unbalance": True}, "is_unbalance: True; allowed with two classes only"),
        ("regression", {"scale_pos_weight": 2}, "scale_pos_weight: 2; allowed with two"),
        ("regression", {"class_weight": "balanced"}, "class_weight: 'balanced'; allowed with"),
        ("binary", {"class_weight": {"maybe": 1}}, "class_weight: class 'maybe'; allowed: 'no', "),
        ("binary", {"class_weight": "even"}, "class_weight: 'even'; allowed: None, 'balanced'"),
        ("binary", {"is_unbalance": True, "scale_pos_weight": 2}, "allowed with is_unbalance: 1"),
    ],
)
def test_class_weights_that_mean_nothing(target, settings, message):
    labels = None if target == "regression" else encode_labels(TARGETS[target])
    with pytest.raises(ValueError, match=re.escape(message)):
        make_backend(target, **settings).sample_weight(labels, None)


def test_columns_say_what_the_features_are():
    assert make_backend("binary").make_data(FEATURES["numpy"]()).columns == Columns(4)
    columns = make_backend("binary").make_data(FEATURES["pandas categorical"]()).columns
    assert columns == Columns(
        5, ["a", "b", "c", "d", "city"], None, [["Bonn", "Oslo", "Rome", "Wien"]]
    )
