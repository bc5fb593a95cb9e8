"""From what users give to `fit` to what the core trains on."""

import copy
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bregboost import _core
from bregboost._backends import Backend, Data, backend_for
from bregboost._constraints import as_constraints
from bregboost._digest import digest_of
from bregboost._parameters import settings_of
from bregboost._row_parts import RowParts, parts_of
from bregboost._rows import GroupColumn, Labels, check_index, check_weights, encode_groups
from bregboost._sklearn_versions import check_feature_names
from bregboost._training import RowSet, Trainer, make_rows

if TYPE_CHECKING:
    from bregboost._estimator import ConstrainedEstimator

# Of `fit`, beside X and y.
FIT_ARGUMENTS = (
    "sample_weight",
    "sensitive_features",
    "rate_weight",
    "eval_set",
    "eval_sample_weight",
    "eval_sensitive_features",
    "eval_rate_weight",
    "certify_set",
    "certify_sample_weight",
    "certify_sensitive_features",
    "certify_rate_weight",
)


class Prepared:
    """What a training needs, checked."""

    def __init__(
        self,
        trainer: Trainer,
        constraints: Sequence[_core.Constraint],
        training: RowSet,
        evaluation: RowSet | None,
        certification: RowSet | None,
        labels: Labels | None,
    ) -> None:
        self.trainer = trainer
        self.constraints = constraints
        self.training = training
        self.evaluation = evaluation
        self.certification = certification
        self.labels = labels


def named_arguments(fit_params: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `fit` by name, None where they are not given."""
    unknown = set(fit_params) - set(FIT_ARGUMENTS)
    if unknown:
        raise TypeError(f"{sorted(unknown)[0]}: unknown; allowed: {', '.join(FIT_ARGUMENTS)}")
    return {name: fit_params.get(name) for name in FIT_ARGUMENTS}


def prepare(
    owner: "ConstrainedEstimator",
    X: Any,
    y: Any,
    sets: dict[str, Any],
    initial_multipliers: Sequence[float] = (),
    workers: _core.Workers | None = None,
) -> Prepared:
    """Check everything that a fit or a frontier is given, and make the core's data of it.

    With `workers`, X and y are the rows of this one.
    """
    backend = backend_for(owner.estimator, owner._task)
    constraints = as_constraints(owner.constraints)
    settings = replace(settings_of(owner), initial_multipliers=initial_multipliers)
    if y is None:
        raise ValueError(
            f"y: None; {type(owner).__name__} requires y to be passed, but the target y is None"
        )
    _check_sets(owner, sets)
    check_index(
        {
            "X": X.row_names if isinstance(X, RowParts) else X,
            "y": y,
            "sensitive_features": sets["sensitive_features"],
            "sample_weight": sets["sample_weight"],
        },
        stacklevel=5,
    )
    if not constraints and (owner.certify or sets["certify_set"] is not None):
        warnings.warn(
            "certify: given without constraints, so there is nothing to certify, and no rows are "
            "set aside",
            UserWarning,
            stacklevel=4,
        )
    names = _group_columns(constraints)
    maker = _RowMaker(owner, backend, names, workers)
    training, labels, weight = maker.training(
        X, y, sets["sample_weight"], sets["rate_weight"], sets["sensitive_features"]
    )
    evaluation = maker.other(
        "eval", sets["eval_set"], training.data, labels, sets["eval_sample_weight"],
        sets["eval_rate_weight"], sets["eval_sensitive_features"],
    )  # fmt: skip
    certification = maker.other(
        "certify", sets["certify_set"], training.data, labels, sets["certify_sample_weight"],
        sets["certify_rate_weight"], sets["certify_sensitive_features"],
    )  # fmt: skip
    if constraints and workers is None and settings.num_folds > training.data.n_rows:
        raise ValueError(
            f"n_folds: {settings.num_folds}; allowed: at most {training.data.n_rows}, the "
            "number of rows"
        )
    if settings.checkpoint is not None:
        others = [
            None if sets[name] is None else _pair(name, sets[name])[0]
            for name in ("eval_set", "certify_set")
        ]
        digest = digest_of(X, *others)
        settings = replace(settings, checkpoint=replace(settings.checkpoint, data_digest=digest))
    weight_sum = float(training.data.n_rows if weight is None else weight.sum())
    return Prepared(
        Trainer(backend, settings, weight_sum, bool(constraints)), constraints, training,
        evaluation, certification, labels,
    )  # fmt: skip


def _check_sets(owner: "ConstrainedEstimator", sets: dict[str, Any]) -> None:
    for prefix in ("eval", "certify"):
        if sets[f"{prefix}_set"] is not None:
            continue
        for name, value in sets.items():
            if name.startswith(f"{prefix}_") and value is not None:
                raise ValueError(f"{name}: given; allowed without {prefix}_set: None")
    if sets["eval_set"] is not None and owner.validation != "auto":
        raise ValueError(
            f"validation: {owner.validation!r}; allowed with an eval_set, whose rows are those "
            "that count as unseen: 'auto'"
        )
    if sets["certify_set"] is not None and owner.solver != "auto":
        raise ValueError(f"certify_set: given; allowed with the solver {owner.solver!r}: None")
    if sets["certify_set"] is not None and owner.certify:
        raise ValueError(f"certify: {owner.certify!r}; allowed with a certify_set: None")


class _RowMaker:
    """Makes the core's rows of what users give."""

    def __init__(
        self,
        owner: "ConstrainedEstimator",
        backend: Backend,
        groups: list[str],
        workers: _core.Workers | None,
    ) -> None:
        self._owner = owner
        self._backend = backend
        self._groups = groups
        self._workers = workers
        self._names = copy.copy(owner)  # keeps the names of the training features

    def training(
        self, X: Any, y: Any, sample_weight: Any, rate_weight: Any, sensitive_features: Any
    ) -> tuple[RowSet, Labels | None, npt.NDArray[np.float64] | None]:
        labels, targets = self._owner._target(y)
        for part in parts_of(X):
            self._backend.check_features(part)
        check_feature_names(self._names, parts_of(X)[0], reset=True)
        rows = _target_length(labels, targets)
        weight = check_weights(sample_weight, rows)
        in_loss = self._backend.sample_weight(labels, weight)
        data = self._backend.make_data(X, weight=weight)
        _check_length("y", rows, data.n_rows)
        made = self._rows(
            X, labels, targets, weight, in_loss, rate_weight, sensitive_features, "", rows
        )
        return RowSet(data, made), labels, in_loss

    def other(
        self,
        prefix: str,
        pair: Any,
        reference: Data,
        labels: Labels | None,
        sample_weight: Any,
        rate_weight: Any,
        sensitive_features: Any,
    ) -> RowSet | None:
        """An evaluation or certification set, None if there is none."""
        if pair is None:
            return None
        X, y = _pair(f"{prefix}_set", pair)
        self._backend.check_features(X, f"{prefix}_set")
        _check_features(f"{prefix}_set", X, reference.n_features)
        self._check_names(f"{prefix}_set", X)
        own_labels, targets = self._owner._target(y, labels, f"{prefix}_set")
        rows = _target_length(own_labels, targets)
        weight = check_weights(sample_weight, rows, f"{prefix}_sample_weight")
        in_loss = self._backend.sample_weight(own_labels, weight)
        data = self._backend.make_data(X, weight=weight, reference=reference)
        _check_length(f"{prefix}_set", rows, data.n_rows)
        made = self._rows(
            X, own_labels, targets, weight, in_loss, rate_weight, sensitive_features,
            f"{prefix}_", rows,
        )  # fmt: skip
        return RowSet(data, made)

    def _check_names(self, field: str, X: Any) -> None:
        """As `predict` does: rows whose columns are others, or in another order, are refused."""
        try:
            check_feature_names(self._names, X, reset=False)
        except ValueError as error:
            raise ValueError(
                f"{field}: other features than the training rows; allowed: the same, in the same "
                f"order. {error}"
            ) from None

    def _rows(
        self,
        X: Any,
        labels: Labels | None,
        targets: npt.NDArray[np.float64] | None,
        weight: npt.NDArray[np.float64] | None,
        in_loss: npt.NDArray[np.float64] | None,
        rate_weight: Any,
        sensitive_features: Any,
        prefix: str,
        rows: int,
    ) -> _core.RowData:
        groups: list[GroupColumn] = encode_groups(
            self._groups, sensitive_features, X, rows, f"{prefix}sensitive_features"
        )
        in_rates = check_weights(rate_weight, rows, f"{prefix}rate_weight")
        if in_rates is None and in_loss is not weight:
            # Class weights are for the loss: rates count rows as they are.
            in_rates = np.ones(rows) if weight is None else weight
        positive = self._owner._positive(labels)
        baseline = self._owner._baseline_codes(X, labels)
        return make_rows(
            labels, positive, targets, groups, in_loss, in_rates, baseline, self._workers
        )


def _group_columns(constraints: Sequence[_core.Constraint]) -> list[str]:
    names: dict[str, None] = {}
    for constraint in constraints:
        names.update(dict.fromkeys(constraint.group_columns))
    return list(names)


def _pair(field: str, pair: Any) -> tuple[Any, Any]:
    if isinstance(pair, list) and all(isinstance(part, tuple) for part in pair):  # as LightGBM's
        if len(pair) != 1:
            raise ValueError(f"{field}: {len(pair)} pairs; allowed: one pair (X, y)")
        pair = pair[0]
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        found = f"{type(pair).__name__} of {len(pair)}" if hasattr(pair, "__len__") else repr(pair)
        raise ValueError(f"{field}: {found}; allowed: one pair (X, y)")
    return pair[0], pair[1]


def _target_length(labels: Labels | None, targets: npt.NDArray[np.float64] | None) -> int:
    return len(targets) if labels is None else len(labels.codes)


def _check_features(field: str, X: Any, n_features: int) -> None:
    shape = getattr(X, "shape", None) or np.shape(X)
    if len(shape) == 2 and shape[1] != n_features:
        raise ValueError(
            f"{field}: {shape[1]} features; allowed: {n_features}, as in the training rows"
        )


def _check_length(field: str, found: int, rows: int) -> None:
    if found != rows:
        raise ValueError(
            f"{field}: {found} values for {rows} rows of X; allowed: one for each row. Found input "
            f"variables with inconsistent numbers of samples: [{rows}, {found}]"
        )
