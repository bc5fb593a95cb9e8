"""From what users write to constraints."""

from collections.abc import Sequence

from bregboost._core import Constraint
from bregboost._expression import RateAggregate, RateExpression


def parse(text: str) -> Constraint:
    """Read a constraint.

    Parameters
    ----------
    text : str
        A comparison of rates with numbers or with each other.

    Returns
    -------
    Constraint

    Raises
    ------
    ConstraintError
        If the text cannot be read; it tells the position and the nearest known words.

    Examples
    --------
    >>> import bregboost
    >>> bregboost.parse("fnr <= 0.05")
    fnr <= 5%
    >>> bregboost.parse("gap(error, by=(sex, race)) <= 2%").group_columns
    ['sex', 'race']
    """
    if not isinstance(text, str):
        raise TypeError(f"text: {text!r} ({type(text).__name__}); allowed: str")
    return Constraint(text)


def as_constraints(
    constraints: str | Constraint | Sequence[str | Constraint],
) -> list[Constraint]:
    """Whatever users give as constraints, as a list.

    Parameters
    ----------
    constraints : str, Constraint or sequence of both
        Texts in the grammar of constraints, and comparisons of :mod:`bregboost.rate`.

    Returns
    -------
    list of Constraint

    Examples
    --------
    >>> from bregboost import as_constraints, rate
    >>> as_constraints(["fnr <= 5%", rate.error(by="sex").gap() <= 0.02])
    [fnr <= 5%, gap(error, by=sex) <= 2%]
    """
    if isinstance(constraints, (str, bytes, bytearray)) or not isinstance(constraints, Sequence):
        return [_as_constraint(constraints, "constraints")]
    return [_as_constraint(item, f"constraints[{i}]") for i, item in enumerate(constraints)]


def _as_constraint(item: object, place: str) -> Constraint:
    if isinstance(item, Constraint):
        return item
    if isinstance(item, str):
        return Constraint(item)
    hint = ""
    if isinstance(item, (RateExpression, RateAggregate)):
        hint = "; it lacks a bound, as in rate.fnr() <= 0.05"
    elif isinstance(item, bool):
        hint = "; rates are compared by <= and >= alone, since == gives True or False"
    raise TypeError(
        f"{place}: {item!r} ({type(item).__name__}); allowed: text such as 'fnr <= 5%', "
        f"a Constraint, or a list of them{hint}"
    )
