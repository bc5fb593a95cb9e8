"""Scikit-learn's linear estimators: the same problem, plain models back."""

import pickle
import re
from typing import Any

import numpy as np
import pytest
from backend_cases import FEATURES, NUM_ROWS, NUMBERS, TARGETS, every_target, task_of
from bregboost._backends import Columns, LinearModel, backend_for
from bregboost._backends._linear import LinearBackend, _core_csr
from bregboost._rows import encode_labels, take_rows
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, Ridge
from sklearn.utils.validation import check_is_fitted

X = np.nan_to_num(NUMBERS)


def make_estimator(target: str, **settings: Any) -> Any:
    if target == "regression":
        return Ridge(**settings)
    return LogisticRegression(**({"tol": 1e-8, "max_iter": 2000} | settings))


def make_backend(target: str, **settings: Any) -> LinearBackend:
    return backend_for(make_estimator(target, **settings), task_of(target))


def solve(backend: LinearBackend, target: str, row_weight: np.ndarray | None) -> LinearModel:
    """Minimises the core's problem, as its headers state it."""
    labels = None if target == "regression" else encode_labels(TARGETS[target])
    weight = backend.sample_weight(labels, row_weight)
    weight = np.ones(NUM_ROWS) if weight is None else weight
    options = backend.linear_options(weight.sum())
    num_scores = 3 if target == "classes" else 1
    shape = (X.shape[1] + 1, num_scores)

    def objective(flat: np.ndarray) -> float:
        model = flat.reshape(shape)
        scores = X @ model[:-1] + options["fit_intercept"] * model[-1]
        if labels is None:
            loss = (scores[:, 0] - TARGETS[target]) ** 2
        else:
            scores = np.column_stack([np.zeros(NUM_ROWS), scores]) if num_scores == 1 else scores
            loss = -log_softmax(scores, axis=1)[np.arange(NUM_ROWS), labels.codes]
        return np.average(loss, weights=weight) + options["l2"] / 2 * (model[:-1] ** 2).sum()

    found = minimize(objective, np.zeros(shape).ravel(), method="BFGS", options={"gtol": 1e-8})
    model = found.x.reshape(shape)
    return LinearModel(model[:-1], model[-1] * options["fit_intercept"], found.nit)


@pytest.mark.parametrize(
    ("target", "settings"),
    [
        ("binary", {"C": 0.05}),
        ("binary", {"C": np.inf}),
        ("binary", {"C": 0.1, "fit_intercept": False}),
        ("binary", {"C": 0.1, "class_weight": "balanced"}),
        ("binary", {"C": 0.1, "class_weight": {"yes": 5.0}}),
        ("classes", {"C": 0.05}),
        ("classes", {"C": 0.05, "class_weight": "balanced"}),
        ("regression", {"alpha": 30.0}),
        ("regression", {"alpha": 0.0}),
        ("regression", {"alpha": 10.0, "fit_intercept": False}),
    ],
)
@pytest.mark.parametrize("has_weights", [False, True])
def test_the_problem_is_that_of_scikit_learn(target, settings, has_weights):
    weight = np.where(np.arange(NUM_ROWS) % 3 == 0, 4.0, 0.5) if has_weights else None
    backend = make_backend(target, **settings)
    model = solve(backend, target, weight)
    classes = None if target == "regression" else encode_labels(TARGETS[target]).classes
    fitted = backend.rebuild(model, Columns(X.shape[1]), classes)
    stock = make_estimator(target, **settings).fit(X, TARGETS[target], sample_weight=weight)
    np.testing.assert_allclose(fitted.coef_, stock.coef_, atol=2e-4)
    assert np.shape(fitted.coef_) == np.shape(stock.coef_)
    assert np.shape(fitted.intercept_) == np.shape(stock.intercept_)
    chosen = "predict" if target == "regression" else "predict_proba"
    np.testing.assert_allclose(getattr(fitted, chosen)(X), getattr(stock, chosen)(X), atol=1e-4)


def some_model(target: str) -> LinearModel:
    num_scores = 3 if target == "classes" else 1
    coefficients = np.arange(4.0 * num_scores).reshape(4, num_scores) / 10 - 0.3
    return LinearModel(coefficients, np.arange(num_scores) / 5, 17)


@pytest.mark.parametrize("names", [None, ["a", "b", "c", "d"]])
@every_target
def test_plain_estimators(target, names):
    backend = make_backend(target)
    classes = None if target == "regression" else encode_labels(TARGETS[target]).classes
    model = some_model(target)
    fitted = backend.rebuild(model, Columns(4, names), classes)
    check_is_fitted(fitted)
    assert fitted.get_params() == backend.estimator.get_params()
    assert fitted.n_features_in_ == 4
    assert hasattr(fitted, "feature_names_in_") == (names is not None)
    rows = X
    if names is not None:
        rows = pytest.importorskip("pandas").DataFrame(X, columns=names)
    scores = backend.raw_scores(fitted, rows)
    expected = X @ model.coefficients + model.intercept
    np.testing.assert_allclose(scores, expected if target == "classes" else expected[:, 0])
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(rows), fitted.predict(rows))
    assert not hasattr(clone(fitted), "coef_")
    if target == "regression":
        assert fitted.n_iter_ is None
        return
    assert fitted.n_iter_.tolist() == [17]
    top = expected.argmax(axis=1) if target == "classes" else (expected[:, 0] > 0).astype(int)
    np.testing.assert_array_equal(fitted.predict(rows), classes[top])


@pytest.mark.parametrize("container", ["numpy", "float32", "list", "pandas", "polars", "pyarrow"])
def test_dense_features(container):
    given = FEATURES[container]()
    if container in ("numpy", "float32"):
        given = np.nan_to_num(given)
    elif container == "list":
        given = X.tolist()
    elif container == "pandas":
        given = given.fillna(0.0)
    elif container == "polars":
        given = given.fill_nan(0.0)
    else:
        given = given.from_arrays(list(X.T), names=given.column_names)
    data = make_backend("binary").make_data(given)
    assert (data.handle, data.n_rows, data.n_features) == (0, NUM_ROWS, 4)
    assert data.columns.names == (["a", "b", "c", "d"] if container[0] == "p" else None)
    assert data.keep.dtype == np.float64
    assert data.keep.flags.c_contiguous or data.keep.flags.f_contiguous
    np.testing.assert_allclose(data.keep, X, rtol=1e-6)


def test_a_view_becomes_contiguous():
    data = make_backend("binary").make_data(np.repeat(X, 2, axis=1)[::2, ::2])
    assert data.keep.flags.c_contiguous
    np.testing.assert_array_equal(data.keep, X[::2])


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_sparse_features(kind):
    data = make_backend("binary").make_data(kind(X))
    assert isinstance(data.keep, sparse.csr_matrix)
    assert data.keep.indices.dtype == data.keep.indptr.dtype == np.int32
    assert data.keep.has_sorted_indices
    np.testing.assert_array_equal(data.keep.toarray(), X)


def test_sparse_features_stay_as_they_were():
    given = sparse.csr_matrix(
        (np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2], np.int64), np.array([0, 3], np.int64)),
        shape=(1, 4),
    )
    data = make_backend("binary").make_data(given)
    assert data.keep.toarray().tolist() == [[2.0, 0.0, 4.0, 0.0]]
    assert data.keep.nnz == 2
    assert given.data.tolist() == [1.0, 2.0, 3.0]
    assert given.indices.tolist() == [2, 0, 2]


def test_more_entries_than_the_core_can_count():
    given = sparse.csr_matrix((1, 1))
    many = 2**31
    given.data, given.indices = np.broadcast_to(1.0, many), np.broadcast_to(0, many)  # no memory
    given.indptr = np.array([0, many])
    with pytest.raises(ValueError, match=r"^X: 2147483648 entries; allowed: at most 2147483647$"):
        _core_csr(given)


def test_held_out_rows_have_the_same_features():
    backend = make_backend("binary")
    data = backend.make_data(X)
    assert backend.make_data(take_rows(X, np.arange(5)), reference=data).n_rows == 5
    with pytest.raises(ValueError, match=r"^X: 3 features; allowed: 4, as in training$"):
        backend.make_data(X[:, :3], reference=data)


def test_missing_features_are_refused_as_in_fit():
    with pytest.raises(ValueError, match=r"Input X contains NaN\.\nLogisticRegression does not"):
        make_backend("binary").make_data(FEATURES["numpy"]())


def test_options_of_the_core():
    assert make_backend("binary", C=0.5).linear_options(100.0) == {
        "l2": 0.02,
        "fit_intercept": True,
    }
    options = make_backend("regression", alpha=3.0, fit_intercept=False).linear_options(100.0)
    assert options == {"l2": 0.06, "fit_intercept": False}
    assert make_backend("binary", penalty=None).linear_options(100.0)["l2"] == 0.0
    assert make_backend("binary").library() == ""
    assert make_backend("classes").loss_options() == {"kind": "cross_entropy"}
    assert make_backend("regression").loss_options() == {"kind": "squared"}


@pytest.mark.parametrize(
    ("target", "settings", "message"),
    [
        ("binary", {"penalty": "l1"}, "penalty: 'l1'; allowed: 'l2', None (the solver is for L2)"),
        ("binary", {"penalty": "elasticnet"}, "penalty: 'elasticnet'; allowed: 'l2', None"),
        ("binary", {"C": 0}, "C: 0; allowed: positive numbers"),
        ("binary", {"C": np.nan}, "C: nan; allowed: positive numbers"),
        ("binary", {"solver": "liblinear"}, "solver: 'liblinear'; allowed: the others"),
        ("regression", {"alpha": [1.0, 2.0]}, "alpha: [1.0, 2.0]; allowed: one number of at least"),
        ("regression", {"alpha": -1.0}, "alpha: -1.0; allowed: one number of at least 0"),
        ("regression", {"positive": True}, "positive: True; allowed: False"),
    ],
)
def test_parameters_that_cannot_be_honoured(target, settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_backend(target, **settings)


def test_mixed_penalties_are_refused():
    by_penalty = "multi_class" in LogisticRegression().get_params()  # before scikit-learn 1.8
    settings = {"penalty": "elasticnet"} if by_penalty else {}
    with pytest.raises(ValueError, match=r"(penalty|l1_ratio): .*the solver is for L2"):
        make_backend("binary", l1_ratio=0.5, **settings)


def test_one_against_the_rest_is_refused():
    estimator = make_estimator("classes")
    # A parameter until scikit-learn 1.7; later versions find it in pickles of earlier ones.
    estimator.__dict__["multi_class"] = "ovr"
    with pytest.raises(ValueError, match=r"^multi_class: 'ovr'; allowed: 'auto'"):
        backend_for(pickle.loads(pickle.dumps(estimator)), "classification")


def test_an_estimator_that_searches_is_refused():
    with pytest.raises(TypeError, match=r"^estimator: LogisticRegressionCV; allowed: .*choose C"):
        backend_for(LogisticRegressionCV(), "classification")
