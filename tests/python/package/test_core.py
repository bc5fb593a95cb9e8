"""What the extension refuses, although the package asks it for nothing of the kind."""

import re

import numpy as np
import pytest
from bregboost import _core, as_constraints


@pytest.mark.parametrize(
    ("options", "field", "allowed"),
    [
        (_core.FitOptions, "loss", "cross_entropy, squared, huber"),
        (_core.FitOptions, "path", "by_constraints, calibration, constrained"),
        (_core.FitOptions, "validation", "by_cells, folds, hold_out, own_rows"),
        (_core.FitOptions, "deploy", "fold_mean, refit"),
        (_core.PaperOptions, "solver", "abpp, cbpr"),
        (_core.PaperOptions, "form", "proximal, linearized"),
        (_core.PaperOptions, "surrogate", "cross_entropy, logistic_base2, hinge_squared, "),
        (_core.PaperOptions, "bound_rule", "same, uniform_then_current, negative_log"),
    ],
)
def test_choices_by_name(options: type, field: str, allowed: str) -> None:
    with pytest.raises(ValueError, match=f"^{field}: 'other'; allowed: {allowed}"):
        setattr(options(), field, "other")


def test_objectives_of_models() -> None:
    message = "objective: 'other'; allowed: binary, multiclass, regression"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        _core.adjust_lightgbm(b"", "other", 1, 1.0, [])


def test_sums_of_workers_have_as_many_values() -> None:
    workers = _core.Workers.from_functions(
        rank=0, size=1, sum=lambda values: values[:0], maximum=lambda values: values[:0],
        gather=lambda mine: [mine],
    )  # fmt: skip
    rows = _core.RowData(codes=np.array([0, 1], np.int32), classes=["0", "1"], workers=workers)
    message = r"^workers: 0 values came back; allowed: as many as were given, [1-9]\d*$"
    with pytest.raises(RuntimeError, match=message):
        _core.limit_counts(as_constraints("fnr <= 5%"), rows)
