"""Rates, bounds, differences and counts as people read them."""

import re
from collections.abc import Sequence
from math import floor, log10

UNDEFINED = "undefined"
NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"

_BOUND = re.compile(r"\s*(<=|>=)\s*([-+.\deE]+)(%?)$")


def in_percent(constraint: str) -> bool:
    """Whether a constraint is about shares; the core writes bounds of losses without a % sign."""
    return constraint.endswith("%")


def groups_in_percent(constraint: str) -> bool:
    """Whether the groups' own rates are shares; a ratio is one, even of losses.

    Examples
    --------
    >>> groups_in_percent("ratio(loss, by=sex) >= 80%"), groups_in_percent("gap(fnr, by=sex) <= 5%")
    (False, True)
    """
    compared, _, _ = constraint.rpartition(", by=")
    return in_percent(constraint) and not re.match(r"ratio\(.*\bloss\b", compared)


def relation(constraint: str) -> str:
    """The sign before the bound, "<=" or ">=".

    Examples
    --------
    >>> relation("precision >= 60%")
    '>='
    """
    match = _BOUND.search(constraint)
    return match.group(1) if match else "<="


def left_side(constraint: str) -> str:
    """A constraint without its bound.

    Examples
    --------
    >>> left_side("gap(error, by=sex) <= 2%")
    'gap(error, by=sex)'
    """
    return _BOUND.sub("", constraint)


def with_unbroken_bound(text: str) -> str:
    """A text that wraps before its bound, not within: NO_BREAK_SPACE takes the place of a space.

    Examples
    --------
    >>> with_unbroken_bound("fnr <= 5%")
    'fnr <=\\xa05%'
    """
    return _BOUND.sub(rf" \1{NO_BREAK_SPACE}\2\3", text)


def stated_bound(constraint: str) -> float | None:
    """The bound that a constraint's text ends with.

    Examples
    --------
    >>> stated_bound("gap(error, by=sex) <= 2%"), stated_bound("max(loss, by=sex) <= 0.5")
    (0.02, 0.5)
    """
    match = _BOUND.search(constraint)
    if match is None:
        return None
    return float(match.group(2)) / (100 if match.group(3) else 1)


def value_text(value: float | None, percent: bool, beside: float | None = None) -> str:
    """A measured value, with digits enough to tell it from the bound `beside` it.

    Examples
    --------
    >>> value_text(0.0487, percent=True), value_text(0.05002, percent=True, beside=0.05)
    ('4.87%', '5.002%')
    >>> value_text(None, percent=True)
    'undefined'
    """
    if value is None:
        return UNDEFINED
    for more_digits in range(7):
        text = _value_text(value, percent, more_digits)
        if beside is None or value == beside or text != _value_text(beside, percent, more_digits):
            break
    return text


def interval_text(interval: Sequence[float] | None, percent: bool) -> str:
    """Both ends, with digits enough to tell them apart; empty without an interval.

    Examples
    --------
    >>> interval_text([0.0287, 0.0561], percent=True), interval_text([0.0, 0.0004], percent=True)
    ('2.9-5.6%', '0.000-0.040%')
    >>> interval_text(None, percent=True)
    ''
    """
    if interval is None or None in interval:
        return ""
    low, high = (100 * end if percent else end for end in interval)
    digits = max(1, 1 - floor(log10(max(high - low, 1e-6))))  # two that count in the width
    return f"{low:.{digits}f}-{high:.{digits}f}{'%' if percent else ''}"


def bound_text(value: float | None, percent: bool) -> str:
    """A bound or another number that somebody chose, as short as it was written.

    Examples
    --------
    >>> bound_text(0.07, percent=True), bound_text(0.5, percent=False)
    ('7%', '0.5')
    """
    if value is None:
        return UNDEFINED
    return f"{100 * value:.10g}%" if percent else f"{value:.10g}"


def difference_text(value: float | None, percent: bool) -> str:
    """A difference of two values: points for shares.

    Examples
    --------
    >>> difference_text(0.0031, percent=True), difference_text(0.0031, percent=False)
    ('0.31 points', '0.0031')
    """
    if value is None:
        return UNDEFINED
    if not percent:
        return f"{value:.4g}"
    points = 100 * value
    return f"{points:.2f} points" if points == 0 or abs(points) >= 0.1 else f"{points:.2g} points"


def count_text(count: int | None) -> str:
    """A number of rows.

    Examples
    --------
    >>> count_text(12345)
    '12,345'
    """
    return UNDEFINED if count is None else f"{count:,}"


def _value_text(value: float, percent: bool, more_digits: int) -> str:
    if not percent:
        return f"{value:.{4 + more_digits}g}"
    text = f"{100 * value:.{2 + more_digits}f}%"
    return text.removeprefix("-") if float(text[:-1]) == 0 else text
