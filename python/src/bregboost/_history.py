"""The rows of a training as a table."""

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
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
    history: Sequence[Mapping[str, Any]],
    constraints: Sequence[str] = (),
    limits: Sequence[int] | None = None,
) -> "pandas.DataFrame":
    """One row per iteration, and two columns per constraint.

    Parameters
    ----------
    history : sequence of mappings
        The rows of a training, as in ``Report.to_dict()["history"]``.
    constraints : sequence of str
        The constraints' texts, in the order of the rows' `values` and `multipliers`.
    limits : sequence of int or None
        How many multipliers each constraint has, a gap one for each pair of groups; None: one.

    Returns
    -------
    pandas.DataFrame
        The columns of the rows, then ``value: <text>`` for every constraint and
        ``multiplier: <text>``, the sum of its multipliers, for every constraint; NaN where
        undefined.

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
        counts = limits if name == "multipliers" and limits else [1] * len(constraints)
        table = [_per_constraint(row, name, i, counts) for i, row in enumerate(history)]
        for j, text in enumerate(constraints):
            columns[title + text] = [row[j] for row in table]
    return pandas.DataFrame(columns).astype(
        {name: "float64" for name in columns if name not in (*_COUNTS, *_WORDS)}
    )


def sums_by_constraint(numbers: Sequence[float | None], counts: Sequence[int]) -> list[float]:
    """The sum of each constraint's numbers, which follow each other; NaN if one is undefined.

    Examples
    --------
    >>> sums_by_constraint([0.5, 1.0, 2.0], [1, 2])
    [0.5, 3.0]
    """
    ends = list(accumulate(counts))
    return [
        sum(_number(number) for number in numbers[end - count : end])
        for count, end in zip(counts, ends, strict=True)
    ]


def _per_constraint(
    row: Mapping[str, Any], name: str, place: int, counts: Sequence[int]
) -> list[float]:
    numbers = row.get(name) or [None] * sum(counts)
    if len(numbers) != sum(counts):
        raise ValueError(
            f"history[{place}][{name!r}]: {len(numbers)} numbers; allowed: {sum(counts)}, "
            f"{'one' if set(counts) <= {1} else list(counts)} per constraint"
        )
    return sums_by_constraint(numbers, counts)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
