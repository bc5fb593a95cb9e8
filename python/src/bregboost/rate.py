"""Rates, to be added, scaled, compared between groups and bounded.

Every function takes conditions on the rows: ``column=value`` for a group column, ``class_=value``
for the label, ``where={"any name": value}`` for columns whose name is no keyword. Values are
compared as text, so ``class_=2`` matches the label 2; None is a missing value. ``by="column"`` or
``by=("sex", "race")`` names the groups that ``.gap()``, ``.ratio()``, ``.max()`` and ``.min()``
compare; there ``"class_"`` is the label.

Examples
--------
>>> from bregboost import rate
>>> rate.error(class_="SEKER") <= 0.01
error(class=SEKER) <= 1%
>>> rate.error(by="sex").gap() <= 0.02
gap(error, by=sex) <= 2%
>>> rate.fpr(where={"marital status": "single"}) - rate.fpr() <= 0.01
fpr("marital status"=single) - fpr <= 1%
"""

from collections.abc import Mapping, Sequence

from bregboost._core import rate_text
from bregboost._expression import LABEL, RateExpression
from bregboost._values import value_text

__all__ = [
    "accuracy",
    "balanced_error",
    "disagreement",
    "error",
    "fnr",
    "fpr",
    "loss",
    "precision",
    "recall",
    "selection_rate",
    "tnr",
    "tpr",
]

_PREDICTED = "predicted"

Columns = str | Sequence[str] | None
Conditions = Mapping[str, object] | None


def _rate(
    name: str, by: Columns, where: Conditions, keywords: Mapping[str, object]
) -> RateExpression:
    """Arguments that a rate does not take are refused by the parser, as in a text."""
    conditions: list[tuple[str | None, str]] = []
    predicted = None
    for word, value in keywords.items():
        if word == LABEL:
            if value is not None:
                conditions.append((None, value_text(value, LABEL)))
        elif word == _PREDICTED:
            if value is not None:
                predicted = value_text(value, _PREDICTED)
        else:
            conditions.append((word, value_text(value, word)))
    if where is not None:
        if not isinstance(where, Mapping):
            raise TypeError(
                f"where: {where!r} ({type(where).__name__}); allowed: a dict of column names and "
                "values"
            )
        for column, value in where.items():
            if not isinstance(column, str):
                raise TypeError(
                    f"where: column {column!r} ({type(column).__name__}); allowed: names (str)"
                )
            conditions.append((column, value_text(value, f"where[{column!r}]")))
    return RateExpression(rate_text(name, conditions, predicted), by=by)


def error(
    *, class_: object = None, by: Columns = None, where: Conditions = None, **columns: object
) -> RateExpression:
    """Share of rows whose predicted class is not their label.

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.error(class_="SEKER", region="north") <= 0.01
    error(region=north, class=SEKER) <= 1%
    """
    return _rate("error", by, where, {LABEL: class_, **columns})


def accuracy(
    *, class_: object = None, by: Columns = None, where: Conditions = None, **columns: object
) -> RateExpression:
    """Share of rows whose predicted class is their label.

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.accuracy(by="site").min() >= 0.9
    min(accuracy, by=site) >= 90%
    """
    return _rate("accuracy", by, where, {LABEL: class_, **columns})


def balanced_error(
    *, by: Columns = None, where: Conditions = None, **columns: object
) -> RateExpression:
    """Mean over the classes of the class's error.

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.balanced_error() <= 0.1
    balanced_error <= 10%
    """
    return _rate("balanced_error", by, where, columns)


def loss(
    *, class_: object = None, by: Columns = None, where: Conditions = None, **columns: object
) -> RateExpression:
    """Mean loss, in its own unit; the only rate of a regression target.

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.loss(by="region").max() <= 0.5
    max(loss, by=region) <= 0.5
    """
    return _rate("loss", by, where, {LABEL: class_, **columns})


def disagreement(
    *, class_: object = None, by: Columns = None, where: Conditions = None, **columns: object
) -> RateExpression:
    """Share of rows whose predicted class differs from the baseline model's (churn).

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.disagreement() <= 0.03
    disagreement <= 3%
    """
    return _rate("disagreement", by, where, {LABEL: class_, **columns})


def selection_rate(
    *,
    predicted: object = None,
    class_: object = None,
    by: Columns = None,
    where: Conditions = None,
    **columns: object,
) -> RateExpression:
    """Share of rows that are predicted `predicted`, the positive class by default.

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.selection_rate(by="race").ratio() >= 0.8
    ratio(selection_rate, by=race) >= 80%
    >>> rate.selection_rate(predicted="urgent") <= 0.02
    selection_rate(predicted=urgent) <= 2%
    """
    return _rate("selection_rate", by, where, {_PREDICTED: predicted, LABEL: class_, **columns})


def recall(
    *, class_: object = None, by: Columns = None, where: Conditions = None, **columns: object
) -> RateExpression:
    """Share of a class's rows that are predicted so, of the positive class by default.

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.recall(class_="urgent") >= 0.95
    recall(class=urgent) >= 95%
    """
    return _rate("recall", by, where, {LABEL: class_, **columns})


def precision(
    *, predicted: object = None, by: Columns = None, where: Conditions = None, **columns: object
) -> RateExpression:
    """Share of rows with label `predicted` among those predicted so, the positive class by default.

    A quotient: it stands alone, bounded from below.

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.precision() >= 0.6
    precision >= 60%
    """
    return _rate("precision", by, where, {_PREDICTED: predicted, **columns})


def fnr(*, by: Columns = None, where: Conditions = None, **columns: object) -> RateExpression:
    """Share of the positive class's rows that are missed; two classes.

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.fnr() <= 0.05
    fnr <= 5%
    """
    return _rate("fnr", by, where, columns)


def fpr(*, by: Columns = None, where: Conditions = None, **columns: object) -> RateExpression:
    """Share of the negative class's rows that are predicted positive; two classes.

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.fpr(sex="F") - rate.fpr(sex="M") <= 0.01
    fpr(sex=F) - fpr(sex=M) <= 1%
    """
    return _rate("fpr", by, where, columns)


def tpr(*, by: Columns = None, where: Conditions = None, **columns: object) -> RateExpression:
    """1 - fnr.

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.tpr(by="sex").gap() <= 0.05
    gap(tpr, by=sex) <= 5%
    """
    return _rate("tpr", by, where, columns)


def tnr(*, by: Columns = None, where: Conditions = None, **columns: object) -> RateExpression:
    """1 - fpr.

    Examples
    --------
    >>> from bregboost import rate
    >>> rate.tnr() >= 0.99
    tnr >= 99%
    """
    return _rate("tnr", by, where, columns)
