"""The rows of a training as a table."""

import math
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

VALUE_COLUMN, MULTIPLIER_COLUMN = "value: ", "multiplier: "

_COUNTS = ("k", "outer")
_WORDS = ("phase",)
_NUMBERS = (
    "objective",
    "surrogate_violation",
    "exact_violation",
    "max_multiplier",
    "multiplier_sum",
    "tau",
    "sigma",
    "seconds",
)


def import_pandas(field: str) -> ModuleType:
    """pandas, or an ImportError that says what `field` needs it for."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            f"{field}: a table needs pandas, which is not installed; "
            "allowed after: pip install bregboost[pandas]"
        ) from error
    return pandas


def history_frame(
    history: Sequence[Mapping[str, Any]], constraints: Sequence[str] = ()
) -> "pandas.DataFrame":
    """One row per iteration, and two columns per constraint.

    Parameters
    ----------
    history : sequence of mappings
        The rows of a training, as in ``Report.to_dict()["history"]``.
    constraints : sequence of str
        The constraints' texts, in the order of the rows' `values` and `multipliers`.

    Returns
    -------
    pandas.DataFrame
        The columns of the rows, then ``value: <text>`` for every constraint and
        ``multiplier: <text>`` for every constraint; NaN where undefined.

    Examples
    --------
    >>> row = {"k": 0, "objective": 0.4, "values": [0.07], "multipliers": [None]}
    >>> frame = history_frame([row], ["fnr <= 5%"])
    >>> frame[["k", "objective", "value: fnr <= 5%", "multiplier: fnr <= 5%"]]
       k  objective  value: fnr <= 5%  multiplier: fnr <= 5%
    0  0        0.4              0.07                    NaN
    """
    pandas = import_pandas("history")
    columns: dict[str, object] = {}
    for name in _COUNTS:
        columns[name] = pandas.Series([row.get(name, 0) for row in history], dtype="int64")
    for name in _WORDS:
        columns[name] = pandas.Series([row.get(name) for row in history], dtype="object")
    for name in _NUMBERS:
        columns[name] = [_number(row.get(name)) for row in history]
    for title, name in ((VALUE_COLUMN, "values"), (MULTIPLIER_COLUMN, "multipliers")):
        table = [_per_constraint(row, name, i, constraints) for i, row in enumerate(history)]
        for j, text in enumerate(constraints):
            columns[title + text] = [row[j] for row in table]
    return pandas.DataFrame(columns).astype(
        {name: "float64" for name in columns if name not in (*_COUNTS, *_WORDS)}
    )


def _per_constraint(
    row: Mapping[str, Any], name: str, place: int, constraints: Sequence[str]
) -> list[float]:
    numbers = row.get(name) or [None] * len(constraints)
    if len(numbers) != len(constraints):
        raise ValueError(
            f"history[{place}][{name!r}]: {len(numbers)} numbers; allowed: {len(constraints)}, "
            "one per constraint"
        )
    return [_number(number) for number in numbers]


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
