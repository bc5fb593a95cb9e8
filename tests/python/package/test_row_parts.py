"""Tables in parts count as the tables that they make together."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bregboost import ConstrainedClassifier
from bregboost._preparation import named_arguments
from bregboost._row_parts import RowParts, parts_of, whole
from bregboost._rows import encode_groups
from scipy import sparse

pytestmark = pytest.mark.filterwarnings("ignore:np.find_common_type:DeprecationWarning")

ROWS = 900


def rows() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, 3)).round(2)
    X[::7, 1] = np.nan
    return X, (X[:, 0] + random.logistic(size=ROWS) > 0).astype(int)


def frame(X: np.ndarray) -> Any:
    return pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])


def with_categories(X: np.ndarray) -> Any:
    table = frame(X)
    return table.assign(a=table["a"].round().astype(int).astype("category"))


def cut(table: Any) -> RowParts:
    """Uneven, one of them empty."""
    take = table.iloc if hasattr(table, "iloc") else table
    return RowParts([take[:100], take[100:100], take[100:700], take[700:]])


@pytest.mark.parametrize(
    "make", [np.asarray, frame, sparse.csr_matrix], ids=lambda make: make.__name__
)
def test_whole_is_what_was_cut(make: Callable[[np.ndarray], Any]) -> None:
    table = make(np.nan_to_num(rows()[0]))
    parts = cut(table)
    assert [part.shape[0] for part in parts_of(parts)] == [100, 600, 200]
    assert type(whole(parts)) is type(table)
    difference = whole(parts) != table
    assert not (difference.nnz if sparse.issparse(difference) else np.asarray(difference).any())
    assert parts_of(table) == [table] if sparse.issparse(table) else parts_of(table)[0] is table


def test_without_any_rows_one_part_stays() -> None:
    assert whole(RowParts([np.empty((0, 2)), np.empty((0, 2))])).shape == (0, 2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "make", [np.asarray, frame, sparse.csr_matrix, with_categories], ids=lambda make: make.__name__
)
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_the_same_model(library: str, make: Callable[[np.ndarray], Any], weighted: bool) -> None:
    module = pytest.importorskip(library)
    settings = {"n_estimators": 5, "n_jobs": 1}
    if library == "lightgbm":
        estimator = module.LGBMClassifier(verbose=-1, **settings)
    else:
        estimator = module.XGBClassifier(max_bin=16, enable_categorical=True, **settings)
    X, y = rows()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, ROWS) if weighted else None
    sets = named_arguments({"sample_weight": weight})
    models = [
        ConstrainedClassifier(estimator, "fnr <= 20%", solver="abpp")._fit(table, y, sets)
        for table in (make(X), cut(make(X)))
    ]
    table = make(X)
    np.testing.assert_array_equal(models[0].predict_proba(table), models[1].predict_proba(table))


def test_xgboost_does_not_join_numbers() -> None:
    pytest.importorskip("xgboost")
    from bregboost._backends import backend_for
    from xgboost import XGBClassifier

    parts = cut(rows()[0])
    backend_for(XGBClassifier(), "classification").make_data(parts)
    assert "whole" not in vars(parts)


def test_groups_among_the_features() -> None:
    X = frame(rows()[0]).assign(c=np.arange(ROWS) % 3)
    (column,) = encode_groups(["c"], None, cut(X), ROWS)
    np.testing.assert_array_equal(column.codes, np.arange(ROWS) % 3)


def test_rows_in_another_order_are_warned_of() -> None:
    pytest.importorskip("xgboost")
    from xgboost import XGBClassifier

    pandas = pytest.importorskip("pandas")
    X, y = rows()
    sets = named_arguments({})
    model = ConstrainedClassifier(XGBClassifier(n_estimators=2), "fnr <= 20%", solver="abpp")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model._fit(cut(frame(X)), pandas.Series(y), sets)
    with pytest.warns(UserWarning, match="X and y have different indices"):
        model._fit(cut(frame(X)), pandas.Series(y, index=range(ROWS)[::-1]), sets)
