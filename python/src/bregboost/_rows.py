"""From what users pass as labels, groups and weights to the codes and numbers that the core takes.

Rows of all of them match by position.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Number
from typing import Any

import narwhals as nw
import narwhals.dependencies as nwd
import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from bregboost._row_parts import whole
from bregboost._values import MISSING, type_names, value_text

_MOST_NAMES_SHOWN = 20
_LARGEST_COUNTED = 1000


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of a classification: ``classes[codes]`` are the labels as they were given."""

    classes: npt.NDArray[Any]  # sorted, in the dtype of the labels
    codes: npt.NDArray[np.int32]
    texts: list[str]  # of the classes, as constraints name them


@dataclass(frozen=True, eq=False)
class GroupColumn:
    """A group column: the text of row ``i`` is ``levels[codes[i]]``."""

    name: str
    levels: list[str]  # numbers by size, other values by text, missing values last
    codes: npt.NDArray[np.int32]


def encode_labels(y: object, field: str = "y") -> Labels:
    """Labels of two or more classes, as scikit-learn's classifiers take them.

    Examples
    --------
    >>> labels = encode_labels([2.0, 0.0, 2.0])
    >>> labels.classes, labels.codes, labels.texts
    (array([0., 2.]), array([1, 0, 1], dtype=int32), ['0', '2'])
    """
    classes, codes = _distinct_labels(y, field)
    texts = [value_text(value, field) for value in classes]
    if len(classes) < 2:
        found = f"one class, {texts[0]!r}" if texts else "no rows"
        raise ValueError(f"{field}: {found}; allowed: labels of two or more classes")
    return Labels(classes, codes, texts)


def recode_labels(y: object, labels: Labels, field: str) -> npt.NDArray[np.int32]:
    """Codes of other rows' labels, or of a model's predictions, among the classes of `labels`.

    Examples
    --------
    >>> recode_labels(["b", "b"], encode_labels(["a", "b"]), "baseline")
    array([1, 1], dtype=int32)
    """
    found, codes = _distinct_labels(y, field)
    code_of = {text: code for code, text in enumerate(labels.texts)}
    new_codes = []
    for value in found:
        text = value_text(value, field)
        if text not in code_of:
            raise ValueError(f"{field}: class {text!r}; allowed: {_listed(labels.texts)}")
        new_codes.append(code_of[text])
    return np.array(new_codes, dtype=np.int32)[codes]


def positive_code(labels: Labels, pos_label: object) -> int:
    """The code of the positive class, given by value or by text; None: the larger of two classes.

    More than two classes have no positive one; their answer to None is 1 and means nothing.

    Examples
    --------
    >>> labels = encode_labels(["no", "yes", "no"])
    >>> positive_code(labels, None), positive_code(labels, "no")
    (1, 0)
    """
    if pos_label is None:
        return 1
    allowed = _listed(labels.texts)
    if len(labels.classes) > 2:
        raise ValueError(f"pos_label: {pos_label!r}; allowed: None, with the classes {allowed}")
    text = value_text(pos_label, "pos_label")
    is_number = isinstance(pos_label, (Number, np.bool_))  # then True is 1, whatever its text
    for code, value in enumerate(labels.classes.tolist()):
        if labels.texts[code] == text or (is_number and value == pos_label):
            return code
    raise ValueError(f"pos_label: {pos_label!r}; allowed: {allowed}")


def encode_groups(
    names: Sequence[str],
    sensitive_features: object,
    X: object,
    n_rows: int,
    field: str = "sensitive_features",
) -> list[GroupColumn]:
    """The group columns that constraints name, in that order.

    Parameters
    ----------
    names : sequence of str
    sensitive_features : DataFrame, dict of columns, Series, array of one column, or None
        Looked at before `X`. What has no name (an array, a Series without one) is the column that
        the constraints name, which must be one alone: several columns without names could be
        mistaken for each other.
    X : features
        Columns of a DataFrame or Table are found by name.
    n_rows : int
    field : str
        The argument that messages name.

    Returns
    -------
    list of GroupColumn
        Missing values are the group ``<missing>``.

    Examples
    --------
    >>> encode_groups(["age"], {"age": [30, None, 7]}, None, 3)[0].levels
    ['7', '30', '<missing>']
    """
    named = _with_names(sensitive_features, names, field)
    return [
        _encode_group(name, _find_column(name, named, X, field), n_rows, field) for name in names
    ]


def check_index(tables: Mapping[str, object], stacklevel: int = 3) -> None:
    """Warn where pandas objects, by the names of the arguments, have different indices.

    Rows match by position, so an index that disagrees hints at rows in another order.
    """
    indices = {}
    for name, table in tables.items():
        columns = table.items() if isinstance(table, Mapping) else [(None, table)]
        for key, column in columns:
            if nwd.is_pandas_dataframe(column) or nwd.is_pandas_series(column):
                indices[name if key is None else f"{name}[{key!r}]"] = column.index
    if not indices:
        return
    (first, expected), *others = indices.items()
    for name, index in others:
        if len(index) == len(expected) and not index.equals(expected):
            warnings.warn(
                f"{first} and {name} have different indices; rows are matched by position",
                UserWarning,
                stacklevel=stacklevel,
            )
            return


def check_weights(
    sample_weight: object, n_rows: int, field: str = "sample_weight"
) -> npt.NDArray[np.float64] | None:
    """Weights of the rows; a number stands for the same weight of each, None for no weights.

    Examples
    --------
    >>> check_weights(2, 3)
    array([2., 2., 2.])
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Number):
        weights = np.full(n_rows, sample_weight, dtype=np.float64)
    else:
        weights = as_floats(sample_weight, field)
    if weights.ndim != 1 or len(weights) != n_rows:
        raise ValueError(
            f"{field}: shape {weights.shape}; allowed: a number, or one weight for each of the "
            f"{n_rows} rows"
        )
    assert_all_finite(weights, input_name=field)
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise ValueError(f"{field}: {weights[row]} in row {row}; allowed: weights of at least 0")
    if not weights.any():
        raise ValueError(f"{field}: all zero; allowed: at least one positive weight")
    return np.ascontiguousarray(weights, dtype=np.float64)


def as_floats(values: Any, field: str) -> npt.NDArray[np.float64]:
    """Numbers of an array, a list or a Series; other values are refused, texts of digits too.

    Examples
    --------
    >>> as_floats([1, 2], "sample_weight")
    array([1., 2.])
    """
    if nwd.is_into_series(values):
        series = nw.from_native(values, series_only=True)
        if series.dtype.is_numeric() or series.dtype == nw.Boolean:
            return series.cast(nw.Float64).to_numpy()
        values = series.to_numpy()
    if isinstance(values, (Mapping, str, bytes)):
        raise TypeError(f"{field}: {values!r} ({type(values).__name__}); allowed: numbers")
    if not nwd.is_into_dataframe(values):
        found = _as_array(values)
        if found.dtype.kind in "mM":
            raise ValueError(f"{field}: values of the type {found.dtype}; allowed: numbers")
        if found.dtype.kind in "USO":
            for row, value in enumerate(found.flat):
                if isinstance(value, (str, bytes)):
                    text = str(value) if isinstance(value, str) else value  # not NumPy's repr
                    raise ValueError(f"{field}: {text!r} in row {row}; allowed: numbers")
    return check_array(values, ensure_2d=False, dtype=np.float64, order="C", input_name=field)


def take_rows(X: Any, rows: npt.NDArray[np.integer]) -> Any:
    """The rows with these numbers, in the same kind of container."""
    if nwd.is_pandas_dataframe(X) or nwd.is_pandas_series(X):
        return X.iloc[rows]
    if nwd.is_into_dataframe(X) or nwd.is_into_series(X):
        return nw.from_native(X, allow_series=True)[rows].to_native()
    if sparse.issparse(X):
        return X.tocsr()[rows]
    if isinstance(X, np.ndarray):
        return X[rows]
    return [X[row] for row in rows]


def distinct_values(
    values: npt.NDArray[Any],
) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """As `np.unique`, which sorts; small whole numbers, as most labels are, are counted.

    Examples
    --------
    >>> distinct_values(np.array([3.0, -1.0, 3.0]))
    (array([-1.,  3.]), array([1, 0, 1]))
    """
    if values.size and values.dtype.kind in "biuf":
        low, high = values.min(), values.max()
        if low >= -_LARGEST_COUNTED and high <= _LARGEST_COUNTED:  # not so with NaN
            whole = values.astype(np.intp)
            if values.dtype.kind != "f" or np.array_equal(whole, values):
                smallest = int(low)
                whole -= smallest
                counts = np.bincount(whole)
                distinct = (np.flatnonzero(counts) + smallest).astype(values.dtype)
                return distinct, (np.cumsum(counts > 0) - 1)[whole]
    return np.unique(values, return_inverse=True)


def _distinct_labels(y: object, field: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Sorted distinct labels, and the place of each row's label among them."""
    values = _label_values(y, field)
    if values.dtype == object:
        values, codes = _factorize(values, field)
        if not all(isinstance(value, str) for value in values):
            return _distinct_labels(_label_numbers(values, field)[codes], field)
    else:
        assert_all_finite(values, input_name=field)
        distinct, codes = distinct_values(values)
        if values.dtype.kind not in "biu" or 2 * len(distinct) > len(values):
            check_classification_targets(values)  # it sorts; a few integers are always classes
        values = distinct
    order = np.argsort(values)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return values[order], place[codes]


def _label_numbers(values: npt.NDArray[Any], field: str) -> npt.NDArray[Any]:
    if any(value_text(value, field) == MISSING for value in values):
        raise ValueError(f"Input {field} contains NaN.")
    numbers = np.array(values.tolist())
    if numbers.dtype.kind not in "biuf":
        raise TypeError(
            f"{field}: labels of the types {type_names(values)}; allowed: all text, or all numbers"
        )
    return numbers


def _label_values(y: object, field: str) -> npt.NDArray[Any]:
    if nwd.is_into_dataframe(y):
        frame = nw.from_native(y, eager_only=True)
        if frame.shape[1] == 1:
            y = _label_values(frame[:, 0].to_native(), field).reshape(-1, 1)
    elif nwd.is_into_series(y):
        y, is_present = _present_values(y)
        if not is_present.all():
            raise ValueError(f"Input {field} contains NaN.")
    values = np.asarray(y)
    if values.dtype.kind == "U" and isinstance(y, (list, tuple)):
        # A list with text has made everything else in it text, too.
        untouched = np.asarray(y, dtype=object)
        if not all(isinstance(value, str) for value in untouched.flat):
            values = untouched
    return column_or_1d(values, warn=True)


def _with_names(sensitive_features: Any, names: Sequence[str], field: str) -> Any:
    """A frame, or a dict of columns; what has no name gets the one of `names`."""
    if isinstance(sensitive_features, Mapping):
        return {str(name): column for name, column in sensitive_features.items()}
    if sensitive_features is None or not names or nwd.is_into_dataframe(sensitive_features):
        return sensitive_features
    column = sensitive_features
    if nwd.is_into_series(column):
        name = nw.from_native(column, series_only=True).name
        if name not in (None, ""):
            return {str(name): column}
    else:
        column = _as_array(column)
        if column.ndim == 2 and column.shape[1] == 1:
            column = column[:, 0]
        if column.ndim != 1:
            raise ValueError(
                f"{field}: an array of shape {column.shape}; allowed: a DataFrame or a dict, whose "
                "columns have names, or an array of one column"
            )
    if len(names) > 1:
        raise ValueError(
            f"{field}: one column without a name; allowed: a DataFrame or a dict with the columns "
            f"{_listed(names)}, which the constraints name"
        )
    return {names[0]: column}


def _find_column(name: str, sensitive_features: Any, X: Any, field: str) -> Any:
    places = {field: sensitive_features, "X": X}
    for place, given in places.items():
        source = whole(given)  # only where the columns before do not have it
        names = _column_names(source)
        if name not in names:
            continue
        if names.count(name) > 1:
            raise ValueError(f"{place}: two columns {name!r}; allowed: distinct names")
        if isinstance(source, Mapping):
            return source[name]
        if nwd.is_pandas_dataframe(source):
            return source.iloc[:, names.index(name)]
        return nw.from_native(source, eager_only=True).get_column(name).to_native()
    known = {place: _column_names(whole(source)) for place, source in places.items()}
    listed = [f"{_listed(names)} in {place}" for place, names in known.items() if names]
    near = get_close_matches(name, [*known[field], *known["X"]], n=3)
    hint = f"; near: {_listed(near)}" if near else ""
    raise ValueError(
        f"{field}: no column {name!r}, which a constraint names; allowed: "
        f"{', '.join(listed) or 'a DataFrame or a dict with this column'}{hint}"
    )


def _column_names(source: Any) -> list[str]:
    if isinstance(source, Mapping):
        return list(source)
    if nwd.is_pandas_dataframe(source):
        return [str(name) for name in source.columns]
    if nwd.is_into_dataframe(source):
        return nw.from_native(source, eager_only=True).columns
    return []


def _encode_group(name: str, column: object, n_rows: int, field: str) -> GroupColumn:
    place = f"{field}[{name!r}]"
    values, is_present = _present_values(column)
    if len(is_present) != n_rows:
        raise ValueError(f"{place}: {len(is_present)} rows; allowed: {n_rows}, as in X")
    distinct, codes = _factorize(values, place)
    texts = [value_text(value, place) for value in distinct]
    levels = _sorted_levels({*texts, MISSING} if not is_present.all() else set(texts))
    code_of = {text: code for code, text in enumerate(levels)}
    all_codes = np.full(n_rows, code_of.get(MISSING, 0), dtype=np.int32)
    if texts:
        all_codes[is_present] = np.array([code_of[text] for text in texts], dtype=np.int32)[codes]
    return GroupColumn(name, levels, all_codes)


def _sorted_levels(texts: set[str]) -> list[str]:
    levels = sorted(texts - {MISSING})
    numbers = [_as_number(text) for text in levels]
    if None not in numbers:
        levels = [text for _, text in sorted(zip(numbers, levels, strict=True))]
    return levels + [MISSING] * (MISSING in texts)


def _as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _present_values(column: object) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """The values that are not missing, and which rows have them."""
    if nwd.is_into_series(column):
        series = nw.from_native(column, series_only=True)
        return series.drop_nulls().to_numpy(), ~series.is_null().to_numpy().astype(bool)
    values = column_or_1d(_as_array(column))
    if values.dtype.kind in "mM":
        is_present = ~np.isnat(values)
    elif values.dtype.kind == "f":
        is_present = ~np.isnan(values)
    else:  # objects are looked at one by one, once their distinct values are known
        is_present = np.ones(len(values), dtype=bool)
    return values[is_present], is_present


def _as_array(values: Any) -> npt.NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        values = values.tolist()  # what is masked is None
    if isinstance(values, (list, tuple)):
        return np.array(values, dtype=object)  # text would turn everything beside it into text
    return np.asarray(values)


def _factorize(
    values: npt.NDArray[Any], field: str
) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Distinct values, and the place of each value among them."""
    if values.dtype != object:
        return distinct_values(values)
    code_of: dict[object, int] = {}
    try:
        codes = np.array([code_of.setdefault(v, len(code_of)) for v in values], dtype=np.intp)
    except TypeError:
        raise TypeError(f"{field}: values that have no hash; allowed: single values") from None
    distinct = np.empty(len(code_of), dtype=object)
    distinct[:] = list(code_of)
    return distinct, codes


def _listed(names: Iterable[str]) -> str:
    quoted = [repr(name) for name in names]
    hidden = len(quoted) - _MOST_NAMES_SHOWN
    return ", ".join(quoted[:_MOST_NAMES_SHOWN]) + (f" and {hidden} more" if hidden > 0 else "")
