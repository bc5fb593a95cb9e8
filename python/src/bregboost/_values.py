"""Values of labels and group columns as text, which is how constraints and data meet."""

import sys
from collections.abc import Collection, Iterable

import numpy as np

MISSING = "<missing>"


def value_text(value: object, field: str) -> str:
    """The text by which `value` is known, in a constraint and in the data alike.

    Whole numbers read the same whatever their type, since a column of integers becomes one of
    floats as soon as a value is missing; missing values are a group of their own.

    Examples
    --------
    >>> [value_text(value, "age") for value in ("F", 2, 2.0, 0.5, True, None)]
    ['F', '2', '2', '0.5', 'True', '<missing>']
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (Collection, np.ndarray)):
        raise TypeError(f"{field}: {value!r} ({type(value).__name__}); allowed: a single value")
    if _is_missing(value):
        return MISSING
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def type_names(values: Iterable[object]) -> str:
    """The types that occur among `values`.

    Examples
    --------
    >>> type_names(["a", 1, 2])
    'int, str'
    """
    return ", ".join(sorted({type(value).__name__ for value in values}))


def _is_missing(value: object) -> bool:
    if value is None:
        return True
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    pandas = sys.modules.get("pandas")  # NA and NaT exist only where pandas has been imported
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)
