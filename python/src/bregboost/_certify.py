"""Certificates for any model's predictions."""

import json
import warnings
from typing import Any

import numpy as np

from bregboost import _core
from bregboost._certificate import Certificate
from bregboost._constraints import as_constraints
from bregboost._report import Report
from bregboost._rows import (
    check_weights,
    encode_groups,
    encode_labels,
    positive_code,
    recode_labels,
)
from bregboost._training import make_rows


def certify(
    y_true: Any,
    y_pred: Any,
    constraints: Any,
    *,
    sensitive_features: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    baseline: Any = None,
    delta: float = 0.1,
    joint: bool = True,
    max_weight: float | None = None,
    losses: Any = None,
    loss_range: tuple[float, float] | None = None,
    random_state: int = 0,
) -> Certificate:
    """Whether limits hold where rows like these come from, whichever model predicted them.

    The rows must have had no part in the model: not in its training, nor in the choice of its
    rounds, parameters, threshold or offsets. They answer once: whoever changes the model after a
    look and looks again tests until something passes.

    Parameters
    ----------
    y_true, y_pred : arrays of labels
        What the rows are and what the model says.
    constraints : str, Constraint or list of both
    sensitive_features : DataFrame, dict, Series or array, optional
        Group columns that constraints name.
    sample_weight : array, optional
        Where weights differ within a class or group, `max_weight` must be known.
    pos_label : label, optional
        The positive class of two; None: the larger one.
    baseline : array of labels, optional
        Another model's predictions, for ``disagreement``.
    delta : float
        The risk of a false certificate.
    joint : bool
        True: all limits are claimed at once. False: each is a claim of its own, and `delta` is
        shared among them.
    max_weight : float, optional
        The largest weight that a row can have.
    losses : array, optional
        The loss of every row, for ``loss`` in constraints, with its range `loss_range`.
    loss_range : (float, float), optional
    random_state : int
        Of the order of rows in bounds by betting.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import numpy as np
    >>> from bregboost import certify
    >>> y_true = np.repeat([0, 1], 500)
    >>> y_pred = np.where(np.arange(1000) % 50 == 0, 1 - y_true, y_true)  # 2% errors
    >>> certify(y_true, y_pred, "fnr <= 5%")["fnr <= 5%"].verdict
    'certified'
    """
    wanted = as_constraints(constraints)
    labels = encode_labels(y_true, "y_true")
    rows = len(labels.codes)
    predicted = recode_labels(y_pred, labels, "y_pred")
    if len(predicted) != rows:
        raise ValueError(f"y_pred: {len(predicted)} values; allowed: one for each of {rows} rows")
    names = list(dict.fromkeys(name for limit in wanted for name in limit.group_columns))
    made = make_rows(
        labels,
        positive_code(labels, pos_label),
        None,
        encode_groups(names, sensitive_features, None, rows),
        check_weights(sample_weight, rows),
        None,
        None if baseline is None else recode_labels(baseline, labels, "baseline"),
    )
    found = json.loads(
        _core.certify(
            predicted,
            None if losses is None else np.ascontiguousarray(losses, dtype=np.float64),
            made,
            wanted,
            delta=delta,
            joint=joint,
            max_weight=max_weight,
            loss_range=loss_range,
            seed=random_state,
        )
    )
    for warning in found["warnings"]:
        warnings.warn(warning, UserWarning, stacklevel=2)
    return Report({"constraints": [], **found}).certificate
