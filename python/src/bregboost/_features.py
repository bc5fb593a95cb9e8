"""Features as users pass them: what they may be, and what their columns are called.

Libraries answer a bad table in words of their own, and some end the process; here it is refused
first.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import narwhals.dependencies as nwd
import numpy as np
from scipy import sparse

from bregboost._values import type_names

_TABLES = (
    "a NumPy array, a DataFrame of pandas or polars, a pyarrow Table, a SciPy sparse matrix, or a "
    "list of rows"
)
# Types of columns in the words of messages.
_KINDS: dict[type[Any], str] = {
    nw.Categorical: "categories",
    nw.Enum: "categories",
    nw.String: "text",
    nw.Object: "objects",
    nw.Date: "dates",
    nw.Datetime: "dates",
    nw.Duration: "durations",
    nw.Time: "times",
}


def check_table(X: object, field: str = "X") -> None:
    """Refuse what has no rows and columns.

    Examples
    --------
    >>> check_table([[1.0, 2.0]])
    >>> check_table(None)
    Traceback (most recent call last):
    TypeError: X: None; allowed: a NumPy array, a DataFrame of pandas or polars, a pyarrow Table, \
a SciPy sparse matrix, or a list of rows
    """
    if nwd.is_into_dataframe(X) or sparse.issparse(X) or hasattr(X, "__array__"):
        return
    if isinstance(X, Sequence) and not isinstance(X, (str, bytes)):
        return
    given, hint = type(X).__name__, ""
    if X is None:
        given = "None"
    elif isinstance(X, Mapping):
        hint = " (pandas.DataFrame makes one of it)"
    elif hasattr(X, "collect"):
        hint = " (its collect() makes one)"
    raise TypeError(f"{field}: {given}; allowed: {_TABLES}{hint}")


def check_features(
    X: object,
    field: str,
    estimator: str,
    *,
    takes_categories: bool,
    reads_text: bool = False,
    hint: str = "",
) -> None:
    """Refuse what `estimator` cannot train on.

    Parameters
    ----------
    X : features
    field : str
        The argument that messages name.
    estimator : str
        Its class.
    takes_categories : bool
    reads_text : bool
        Whether texts, objects and categories are numbers to it where they read as such.
    hint : str
        What else would be allowed, and how.
    """
    check_table(X, field)
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError(f"{field}: values of the type {X.dtype}; allowed: numbers")
    if not nwd.is_into_dataframe(X):
        return
    _check_distinct_names(X, field)
    frame = nw.from_native(X, eager_only=True)
    for position, dtype in enumerate(frame.schema.dtypes()):
        if dtype.is_numeric() or dtype in (nw.Boolean, nw.Unknown):
            continue
        kind = _KINDS.get(type(dtype), f"the type {dtype}")
        if kind == "categories" and takes_categories:
            continue
        may_be_read = reads_text and kind in ("categories", "text", "objects")
        if may_be_read and _reads_as_numbers(frame[:, position]):
            continue
        allowed = f"numbers, truth values{', categories' if takes_categories else ''}{hint}"
        raise ValueError(
            f"{field}: column {frame.columns[position]!r} of {kind}; allowed for {estimator}: "
            f"{allowed}"
        )


@contextmanager
def naming_what_is_no_number(X: object) -> Iterator[None]:
    """Errors of a conversion to numbers then say where in `X` the value is that has none."""
    try:
        yield
    except (TypeError, ValueError) as error:
        place = _place_without_number(X)
        if place is None:
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"X: {place}; allowed: numbers. {error}") from None


def n_rows(X: Any) -> int:
    """Rows of an array, a sparse matrix, a DataFrame, a Table or a list."""
    check_table(X)
    shape = getattr(X, "shape", None)
    return int(shape[0]) if isinstance(shape, tuple) and shape else len(X)


def feature_names(X: object) -> list[str] | None:
    """Names of the columns; None where they have none, or none that is text, as in scikit-learn."""
    if nwd.is_pandas_dataframe(X):
        names = list(X.columns)
    elif nwd.is_into_dataframe(X):
        names = nw.from_native(X, eager_only=True).columns
    else:
        return None
    are_text = {isinstance(name, str) for name in names}
    if are_text == {True, False}:
        raise TypeError(
            f"X: column names of the types {type_names(names)}; allowed: text alone (X.columns = "
            "X.columns.astype(str))"
        )
    return [str(name) for name in names] if are_text == {True} else None


def _check_distinct_names(X: Any, field: str) -> None:
    names = X.column_names if nwd.is_pyarrow_table(X) else list(X.columns)
    seen = set()
    for name in names:
        if name in seen:
            raise ValueError(
                f"{field}: {names.count(name)} columns {name!r}; allowed: distinct names"
            )
        seen.add(name)


def _reads_as_numbers(column: nw.Series[Any]) -> bool:
    try:
        np.asarray(column.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _place_without_number(X: object) -> str | None:
    try:
        values = np.asarray(X, dtype=object)
    except ValueError:  # rows of different lengths
        return None
    if values.ndim != 2:
        return None
    for (row, column), value in np.ndenumerate(values):
        try:
            float(np.nan if value is None else value)
        except (TypeError, ValueError):
            return f"{value!r} in row {row}, column {column}"
    return None
