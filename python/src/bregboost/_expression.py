"""Arithmetic on rates. Every result is written as text and read by the parser of the C++ core."""

import math
from collections.abc import Sequence
from numbers import Real

from bregboost._core import Constraint, column_text, expression_text

LABEL = "class_"


class RateExpression:
    """A linear expression of rates; compared with a number or another one it is a constraint.

    The functions of :mod:`bregboost.rate` make the simplest ones.

    Parameters
    ----------
    text : str
        The expression in the grammar of constraints, such as ``"fnr + 2 * fpr"``.
    by : str or sequence of str, optional
        Columns whose groups :meth:`gap`, :meth:`ratio`, :meth:`max` and :meth:`min` compare.
        ``"class_"`` is the label.

    Notes
    -----
    ``str`` and ``repr`` are the text in canonical form, with `by` behind it as it will stand inside
    an aggregate.

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.fpr(sex="F") - rate.fpr(sex="M") <= 0.01
    fpr(sex=F) - fpr(sex=M) <= 1%
    >>> (rate.fnr() + rate.fpr()) / 2
    0.5 * fnr + 0.5 * fpr
    >>> rate.error(by=("sex", "race"))
    error, by=(sex, race)
    """

    __slots__ = ("_by", "_text")
    __array_ufunc__ = None  # NumPy numbers leave the operators to this class

    def __init__(self, text: str, *, by: str | Sequence[str] | None = None) -> None:
        if not isinstance(text, str):
            raise TypeError(f"text: {_shown(text)}; allowed: str")
        self._text = expression_text(text)
        self._by = _columns(by)

    @property
    def text(self) -> str:
        """The canonical text, without `by`."""
        return self._text

    @property
    def by(self) -> tuple[str, ...]:
        """The columns whose groups are compared."""
        return self._by

    def gap(self, *, by: str | Sequence[str] | None = None) -> "RateAggregate":
        """The largest value over the groups minus the smallest.

        Examples
        --------
        >>> from bregboost import rate
        >>> rate.error(by="sex").gap() <= 0.02
        gap(error, by=sex) <= 2%
        """
        return RateAggregate("gap", self, by=by)

    def ratio(self, *, by: str | Sequence[str] | None = None) -> "RateAggregate":
        """The smallest value over the groups divided by the largest.

        Examples
        --------
        >>> from bregboost import rate
        >>> rate.selection_rate().ratio(by="race") >= 0.8
        ratio(selection_rate, by=race) >= 80%
        """
        return RateAggregate("ratio", self, by=by)

    def max(self, *, by: str | Sequence[str] | None = None) -> "RateAggregate":
        """The largest value over the groups.

        Examples
        --------
        >>> from bregboost import rate
        >>> rate.loss(by="region").max() <= 0.5
        max(loss, by=region) <= 0.5
        """
        return RateAggregate("max", self, by=by)

    def min(self, *, by: str | Sequence[str] | None = None) -> "RateAggregate":
        """The smallest value over the groups.

        Examples
        --------
        >>> from bregboost import rate
        >>> rate.recall(by="class_").min() >= 0.9
        min(recall, by=class) >= 90%
        """
        return RateAggregate("min", self, by=by)

    def __add__(self, other: object) -> "RateExpression":
        return self._combined("({left}) + ({right})", other)

    def __radd__(self, other: object) -> "RateExpression":
        return self._combined("({right}) + ({left})", other)

    def __sub__(self, other: object) -> "RateExpression":
        return self._combined("({left}) - ({right})", other)

    def __rsub__(self, other: object) -> "RateExpression":
        return self._combined("({right}) - ({left})", other)

    def __mul__(self, other: object) -> "RateExpression":
        return self._combined("({left}) * ({right})", other)

    def __rmul__(self, other: object) -> "RateExpression":
        return self._combined("({right}) * ({left})", other)

    def __truediv__(self, other: object) -> "RateExpression":
        # The grammar divides by numbers without a sign.
        if isinstance(other, Real) and other < 0:
            return -self / -other
        return self._combined("({left}) / {right}", other)

    def __rtruediv__(self, other: object) -> "RateExpression":
        return self._combined("({right}) / ({left})", other)

    def __neg__(self) -> "RateExpression":
        return RateExpression(f"-({self._text})", by=self._by)

    def __le__(self, other: object) -> Constraint:
        return self._compared("<=", other)

    def __ge__(self, other: object) -> Constraint:
        return self._compared(">=", other)

    # Refused by the parser, which says what to write instead.
    def __lt__(self, other: object) -> Constraint:
        return self._compared("<", other)

    def __gt__(self, other: object) -> Constraint:
        return self._compared(">", other)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RateExpression):
            return NotImplemented
        return (self._text, self._by) == (other._text, other._by)

    def __hash__(self) -> int:
        return hash((self._text, self._by))

    def __repr__(self) -> str:
        return f"{self._text}, by={_columns_text(self._by)}" if self._by else self._text

    def _combined(self, form: str, other: object) -> "RateExpression":
        by = self._by
        if isinstance(other, RateExpression):
            if self._by and other._by and self._by != other._by:
                raise ValueError(
                    f"by: {_columns_text(self._by)} and {_columns_text(other._by)} in one "
                    "expression; allowed: the same columns"
                )
            by = self._by or other._by
        return RateExpression(form.format(left=self._text, right=_operand_text(other)), by=by)

    def _compared(self, sign: str, other: object) -> Constraint:
        for side in (self, other):
            if isinstance(side, RateExpression) and side._by:
                raise TypeError(
                    f"by: {_columns_text(side._by)} in a comparison of '{side._text}'; allowed: "
                    ".gap(), .ratio(), .max() or .min() first, as in "
                    "rate.error(by='sex').max() <= 0.1"
                )
        return Constraint(f"{self._text} {sign} {_operand_text(other, 'bound')}")


class RateAggregate:
    """One number from the groups of a rate expression; compared with a bound it is a constraint.

    Made by :meth:`RateExpression.gap`, ``ratio``, ``max`` and ``min``. ``str`` and ``repr`` are its
    text.

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.fnr(by="sex").gap()
    gap(fnr, by=sex)
    """

    __slots__ = ("_text",)
    __array_ufunc__ = None

    def __init__(
        self, word: str, expression: RateExpression, *, by: str | Sequence[str] | None = None
    ) -> None:
        given = _columns(by)
        if given and expression.by:
            raise TypeError(
                f"by: {_columns_text(given)} in {word}(); allowed: none, since the expression has "
                f"by={_columns_text(expression.by)}"
            )
        columns = given or expression.by
        if not columns:
            raise TypeError(f"by: missing in {word}(); allowed: {word}(by='column')")
        self._text = f"{word}({expression.text}, by={_columns_text(columns)})"

    @property
    def text(self) -> str:
        """The text in the grammar of constraints."""
        return self._text

    def __le__(self, other: object) -> Constraint:
        return self._compared("<=", other)

    def __ge__(self, other: object) -> Constraint:
        return self._compared(">=", other)

    # Refused by the parser, which says what to write instead.
    def __lt__(self, other: object) -> Constraint:
        return self._compared("<", other)

    def __gt__(self, other: object) -> Constraint:
        return self._compared(">", other)

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, RateAggregate) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return self._text

    def _compared(self, sign: str, other: object) -> Constraint:
        return Constraint(f"{self._text} {sign} {_operand_text(other, 'bound')}")


def _columns(by: str | Sequence[str] | None) -> tuple[str, ...]:
    names = () if by is None else (by,) if isinstance(by, str) else by
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"by: {_shown(by)}; allowed: a column's name or a sequence of names")
    return tuple(names)


def _columns_text(names: tuple[str, ...]) -> str:
    texts = [column_text(None if name == LABEL else name) for name in names]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _operand_text(value: object, field: str = "number") -> str:
    if isinstance(value, (RateExpression, RateAggregate)):
        return value.text
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{field}: {_shown(value)}; allowed: a number or an expression of rates")
    try:
        number = float(value)
    except OverflowError:  # an integer beyond every double
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{field}: {number}; allowed: finite numbers")
    return repr(number)


def _shown(value: object) -> str:
    return f"{value!r} ({type(value).__name__})"
