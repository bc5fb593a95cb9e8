"""Rows in every container, for the tests of the backends."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

NUM_ROWS = 400
CITIES = np.array(["Bonn", "Oslo", "Rome", "Wien"])

_generator = np.random.default_rng(5)
NUMBERS = _generator.normal(size=(NUM_ROWS, 4))
NUMBERS[:, 3] = _generator.integers(0, 6, NUM_ROWS)
CITY = _generator.integers(0, len(CITIES), NUM_ROWS)
SCORE = NUMBERS[:, 0] + (CITY % 2) + 0.3 * NUMBERS[:, 3] + _generator.normal(size=NUM_ROWS)
NUMBERS[_generator.random((NUM_ROWS, 4)) < 0.05] = np.nan

TARGETS = {
    "binary": np.where(SCORE > 1.2, "yes", "no"),
    "classes": np.array(["high", "low", "mid"])[np.digitize(SCORE, [0.8, 1.8])],
    "regression": SCORE,
}


def task_of(target: str) -> str:
    return "regression" if target == "regression" else "classification"


def _columns() -> dict[str, np.ndarray]:
    return {name: NUMBERS[:, i] for i, name in enumerate("abcd")}


def _pandas() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(_columns())


def _pandas_categorical() -> Any:
    pandas = pytest.importorskip("pandas")
    return _pandas().assign(city=pandas.Categorical(CITIES[CITY]))


def _pandas_nullable() -> Any:
    pandas = pytest.importorskip("pandas")
    is_missing = np.isnan(NUMBERS[:, 3])
    whole = pandas.array(np.where(is_missing, 0, NUMBERS[:, 3]).astype(np.int64), dtype="Int64")
    whole[is_missing] = pandas.NA
    return _pandas().assign(d=whole, b=pandas.array(NUMBERS[:, 1], dtype="Float64"), e=CITY > 1)


def _pandas_arrow() -> Any:
    pytest.importorskip("pyarrow")
    return _pandas().astype("double[pyarrow]")


def _polars() -> Any:
    return pytest.importorskip("polars").DataFrame(_columns())


def _polars_categorical() -> Any:
    polars = pytest.importorskip("polars")
    return _polars().with_columns(polars.Series("city", CITIES[CITY].tolist(), polars.Categorical))


def _pyarrow() -> Any:
    return pytest.importorskip("pyarrow").table(_columns())


def _sparse(kind: type) -> Callable[[], Any]:
    return lambda: kind(np.where(np.abs(NUMBERS) < 0.5, 0.0, NUMBERS))


FEATURES = {
    "numpy": lambda: NUMBERS,
    "float32": lambda: NUMBERS.astype(np.float32, order="F"),
    "list": lambda: NUMBERS.tolist(),
    "pandas": _pandas,
    "pandas categorical": _pandas_categorical,
    "pandas nullable": _pandas_nullable,
    "pandas arrow": _pandas_arrow,
    "polars": _polars,
    "polars categorical": _polars_categorical,
    "pyarrow": _pyarrow,
    "csr": _sparse(sparse.csr_matrix),
    "csc": _sparse(sparse.csc_matrix),
    "coo array": _sparse(sparse.coo_array),
}


def with_other_codes(X: Any) -> Any:
    """The same frame, whose cities have other codes."""
    reversed_cities = CITIES[::-1].tolist()
    if hasattr(X, "iloc"):
        return X.assign(city=X["city"].cat.set_categories(reversed_cities))
    polars = pytest.importorskip("polars")
    return X.with_columns(polars.col("city").cast(polars.String).cast(polars.Enum(reversed_cities)))


def every_container(test: Callable) -> Callable:
    return pytest.mark.parametrize("container", FEATURES)(test)


def every_target(test: Callable) -> Callable:
    return pytest.mark.parametrize("target", TARGETS)(test)
