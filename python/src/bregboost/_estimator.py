"""What ConstrainedClassifier and ConstrainedRegressor share."""

import copy
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bregboost import _core
from bregboost._backends import Backend, Data, Task, backend_for
from bregboost._certificate import Certificate
from bregboost._constraints import as_constraints
from bregboost._frontier import FrontierResult
from bregboost._history import history_frame
from bregboost._progress import Progress
from bregboost._report import Report
from bregboost._rows import (
    GroupColumn,
    Labels,
    check_index,
    check_weights,
    encode_groups,
)
from bregboost._sklearn_versions import check_feature_names, check_n_features, input_tags_of
from bregboost._sweep import Sweep
from bregboost._training import (
    Adjustment,
    RowSet,
    Settings,
    Trained,
    Trainer,
    adjusted_model,
    calibrate,
    make_rows,
)

_SOLVERS = ("auto", "abpp", "cbpr")
_VALIDATIONS = {"auto": "by_cells", "folds": "folds", "holdout": "hold_out"}
_DEPLOYS = ("fold_mean", "refit")
_SOLVER_OPTIONS = (
    "bound_rule",
    "dual_step",
    "form",
    "inner_steps",
    "primal_step",
    "surrogate",
    "use_average",
)


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


class ConstrainedEstimator(MetaEstimatorMixin, BaseEstimator):
    """Parameters, training and results, whatever the target."""

    _task: Task

    # ---- what the fitted model says

    @property
    def certificate_(self) -> Certificate:
        """Verdicts about the limits."""
        return self.report_.certificate

    @property
    def history_(self) -> Any:
        """The course of the training, one row per step: a DataFrame."""
        report = self.report_.to_dict()
        texts = [row["text"] for row in report["constraints"]]
        return history_frame(report["history"], texts)

    @property
    def multipliers_(self) -> npt.NDArray[np.float64]:
        """One multiplier per limit; a gap or ratio has one for each pair of groups."""
        return np.asarray(self.report_.to_dict()["multipliers"], dtype=np.float64)

    @property
    def status_(self) -> str:
        """How the fit ended, in a word.

        ``"unconstrained"``, ``"certified"``, ``"satisfied"`` (on rows that the model has not seen;
        with the solvers abpp and cbpr on the training rows), ``"violated"``, or ``"interrupted"``.
        """
        report = self.report_.to_dict()
        if report["reason"] == "interrupted":
            return "interrupted"
        if not report["constraints"]:
            return "unconstrained"
        if report.get("all_certified"):
            return "certified"
        return "satisfied" if self.report_.satisfied else "violated"

    # ---- scikit-learn's conventions

    def __sklearn_tags__(self) -> Any:
        """Of the inner estimator, as far as inputs go."""
        tags = super().__sklearn_tags__()
        inputs = input_tags_of(self._template())
        tags.input_tags.allow_nan = inputs["allow_nan"]
        tags.input_tags.sparse = inputs["sparse"]
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {"allow_nan": input_tags_of(self._template())["allow_nan"]}

    def _template(self) -> Any:
        """The inner estimator, made if it is given by name."""
        if isinstance(self.estimator, str):
            return backend_for(self.estimator, self._task).estimator
        return self.estimator

    # ---- training

    def _settings(self) -> Settings:
        _check_choice("solver", self.solver, _SOLVERS)
        _check_choice("validation", self.validation, _VALIDATIONS)
        _check_choice("deploy", self.deploy, _DEPLOYS)
        _check_number("rho", self.rho, low=0.0)
        _check_number("delta", self.delta, low=0.0, high=0.5, open_low=True)
        certify = 0.0 if self.certify is None else self.certify
        _check_number("certify", certify, low=0.0, high=1.0, open_high=True)
        if not isinstance(self.n_folds, Integral) or self.n_folds < 2:
            raise ValueError(f"n_folds: {self.n_folds!r}; allowed: an integer of at least 2")
        for name in self.solver_options or {}:
            _check_choice("solver_options", name, _SOLVER_OPTIONS)
        if self.solver_options and self.solver == "auto":
            raise ValueError(
                f"solver_options: {sorted(self.solver_options)}; allowed with the solver 'auto', "
                "which has nothing to tune: none"
            )
        if self.solver != "auto" and certify:
            raise ValueError(
                f"certify: {certify!r}; allowed with the solver {self.solver!r}, which holds "
                "limits on training rows: 0"
            )
        return Settings(
            solver=self.solver,
            objective=self.objective or "",
            rho=float(self.rho),
            delta=float(self.delta),
            certify=float(certify),
            validation=_VALIDATIONS[self.validation],
            num_folds=int(self.n_folds),
            deploy=self.deploy,
            seed=_seed(self.random_state),
            max_weight=self.max_weight,
            loss_range=None if self.loss_range is None else tuple(self.loss_range),
            solver_options=dict(self.solver_options or {}),
        )

    def _sets(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        """The arguments of `fit` by name, None where they are not given."""
        unknown = set(fit_params) - set(FIT_ARGUMENTS)
        if unknown:
            raise TypeError(f"{sorted(unknown)[0]}: unknown; allowed: {', '.join(FIT_ARGUMENTS)}")
        return {name: fit_params.get(name) for name in FIT_ARGUMENTS}

    def _prepare(self, X: Any, y: Any, sets: dict[str, Any]) -> "Prepared":
        """Check everything that a fit or a frontier is given, and make the core's data of it."""
        backend = backend_for(self.estimator, self._task)
        constraints = as_constraints(self.constraints)
        settings = self._settings()
        if y is None:
            raise ValueError(
                f"y: None; {type(self).__name__} requires y to be passed, but the target y is None"
            )
        check_index(
            {
                "X": X,
                "y": y,
                "sensitive_features": sets["sensitive_features"],
                "sample_weight": sets["sample_weight"],
            },
            stacklevel=5,
        )
        names = _group_columns(constraints)
        maker = _RowMaker(self, backend, names)
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
        if certification is not None and settings.solver != "auto":
            raise ValueError(
                f"certify_set: given; allowed with the solver {settings.solver!r}: None"
            )
        weight_sum = float(training.data.n_rows if weight is None else weight.sum())
        return Prepared(
            Trainer(backend, settings, weight_sum), constraints, training, evaluation,
            certification, labels,
        )  # fmt: skip

    def _fit(self, X: Any, y: Any, sets: dict[str, Any]) -> "ConstrainedEstimator":
        prepared = self._prepare(X, y, sets)
        with self._progress(prepared.trainer) as progress:
            trained = prepared.trainer.train(
                prepared.constraints,
                prepared.training,
                prepared.evaluation,
                prepared.certification,
                _watch(progress),
            )
        # From here on nothing can fail for what the user gave.
        check_feature_names(self, X, reset=True)
        check_n_features(self, X, reset=True)
        self.n_features_in_ = prepared.training.data.n_features
        self._keep(prepared, trained)
        return self

    def _progress(self, trainer: Trainer) -> Progress:
        wanted = self.verbose if self.verbose is not None else _is_verbose(self._template())
        return Progress(
            trainer.rounds or None,
            bool(wanted),
            objective_name=self.objective
            or ("error" if self._task == "classification" else "loss"),
            percent=self._task == "classification",
        )

    def _keep(self, prepared: "Prepared", trained: Trained) -> None:
        backend = prepared.trainer.backend
        self._backend_name = backend.name
        self._columns = prepared.training.data.columns
        self._labels = None if prepared.labels is None else (
            prepared.labels.classes, prepared.labels.texts
        )  # fmt: skip
        self._model = trained.model
        self._unseen = trained.unseen
        self._seed = prepared.trainer.settings.seed
        self.constraints_ = list(prepared.constraints)
        self.report_ = Report({**trained.report, "learner": backend.name})
        if prepared.labels is not None:
            self.classes_ = prepared.labels.classes
        self._deploy_adjustment(trained.adjustment)

    def _deploy_adjustment(self, adjustment: Adjustment) -> None:
        """Make `estimator_`, with the offsets in it or beside it."""
        self._adjustment = adjustment
        folded = adjustment
        if not getattr(self, "fold_offsets", True):
            folded = Adjustment(adjustment.temperature)
        model = self._model
        if folded != Adjustment():
            model = adjusted_model(model, self._backend_name, self._num_scores(), folded)
        backend = backend_for(self.estimator, self._task)
        self.estimator_ = backend.rebuild(model, self._columns, getattr(self, "classes_", None))

    def _num_scores(self) -> int:
        classes = getattr(self, "classes_", ())
        return len(classes) if len(classes) > 2 else 1

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        """Raw scores of `estimator_`."""
        check_is_fitted(self)
        check_feature_names(self, X, reset=False)
        check_n_features(self, X, reset=False)
        return backend_for(self.estimator, self._task).raw_scores(self.estimator_, X)

    # ---- after training

    def recalibrate(
        self, constraints: Any, *, rho: float | None = None, objective: str | None = None
    ) -> "ConstrainedEstimator":
        """The same model under other limits, without training.

        Only temperature and offsets change, chosen on the rows that the model has not seen. What
        the result says is an estimate: certification rows answer once.

        Parameters
        ----------
        constraints : str, Constraint or list of both
            They may name the classes, and the group columns that the fit's constraints named.
        rho, objective : optional
            As in the constructor; None: as fitted.

        Returns
        -------
        A fitted estimator; this one stays as it is.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from bregboost import ConstrainedClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = ConstrainedClassifier("linear", "fnr <= 5%", pos_label=0).fit(X / X.max(0), y)
        >>> model.recalibrate("fnr <= 1%").status_
        'satisfied'
        """
        check_is_fitted(self)
        if self._unseen is None:
            raise ValueError(
                f"recalibrate: a model of the solver {self.solver!r} with "
                f"{len(self.constraints_)} constraints; allowed: a classifier that was fitted by "
                "the solver 'auto' under constraints"
            )
        wanted = as_constraints(constraints)
        report = self.report_.to_dict()
        rho = self.rho if rho is None else rho
        _check_number("rho", rho, low=0.0)
        objective = objective or report["objective_name"]
        adjustment, found = calibrate(self._unseen, wanted, objective, float(rho), self._seed)
        other = copy.copy(self)
        other.constraints = constraints
        other.constraints_ = wanted
        other.rho = rho
        other.report_ = Report(_recalibrated(report, found, objective, rho))
        other._deploy_adjustment(adjustment)
        return other

    def frontier(
        self,
        X: Any,
        y: Any,
        *,
        bounds: Sequence[float] | None = None,
        rhos: Sequence[float] | None = None,
        constraint: int | str = 0,
        models: bool = True,
        **fit_params: Any,
    ) -> FrontierResult:
        """What a limit costs: one bound, or `rho`, swept over a list.

        Points share their trainings: where offsets alone hold the limits there is one, else every
        training starts from the multipliers of its neighbour.

        Parameters
        ----------
        X, y
            As in `fit`, and so are `fit_params`; rows are not set aside for certification.
        bounds : sequence of float
            Bounds of one constraint, as shares: 0.05 is 5%.
        rhos : sequence of float
            In place of `bounds`.
        constraint : int or str
            The constraint whose bound is swept: its place in the list, or its text.
        models : bool
            Whether each point comes with a fitted model. Limits on groups then take one training
            per point; False estimates all points from two trainings.

        Returns
        -------
        FrontierResult
            Its `frame` is a DataFrame, its `models` are fitted estimators.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from bregboost import ConstrainedClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = ConstrainedClassifier("linear", "fnr <= 5%", pos_label=0)
        >>> sweep = model.frontier(X / X.max(0), y, bounds=[0.01, 0.02, 0.05])
        >>> [point.model.constraints_ for point in sweep.points]
        [[fnr <= 1%], [fnr <= 2%], [fnr <= 5%]]
        """
        sweep = Sweep(self, as_constraints(self.constraints), bounds, rhos, constraint)
        if models:
            return sweep.by_models(X, y, fit_params)
        prepared = self._prepare(X, y, self._sets(fit_params))
        with self._progress(prepared.trainer) as progress:
            return sweep.by_estimates(
                prepared.trainer, prepared.training, prepared.evaluation, _watch(progress)
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


class _RowMaker:
    """Makes the core's rows of what users give."""

    def __init__(self, owner: ConstrainedEstimator, backend: Backend, groups: list[str]) -> None:
        self._owner = owner
        self._backend = backend
        self._groups = groups

    def training(
        self, X: Any, y: Any, sample_weight: Any, rate_weight: Any, sensitive_features: Any
    ) -> tuple[RowSet, Labels | None, npt.NDArray[np.float64] | None]:
        labels, targets = self._owner._target(y)
        rows = _target_length(labels, targets)
        weight = check_weights(sample_weight, rows)
        in_loss = self._backend.sample_weight(labels, weight)
        data = self._backend.make_data(X, weight=in_loss)
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
        own_labels, targets = self._owner._target(y, labels, f"{prefix}_set")
        rows = _target_length(own_labels, targets)
        weight = check_weights(sample_weight, rows, f"{prefix}_sample_weight")
        in_loss = self._backend.sample_weight(own_labels, weight)
        data = self._backend.make_data(X, weight=in_loss, reference=reference)
        _check_length(f"{prefix}_set", rows, data.n_rows)
        made = self._rows(
            X, own_labels, targets, weight, in_loss, rate_weight, sensitive_features,
            f"{prefix}_", rows,
        )  # fmt: skip
        return RowSet(data, made)

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
        return make_rows(labels, positive, targets, groups, in_loss, in_rates, baseline)


def _recalibrated(
    report: dict[str, Any], found: dict[str, Any], objective: str, rho: float
) -> dict[str, Any]:
    """The report of a fit with what a calibration found in place of what it found."""
    changed = {
        **report,
        "constraints": found["constraints"],
        "objective": found["objective"],
        "objective_name": objective,
        "maximise": found["maximise"],
        "violation": found["violation"],
        "temperature": found["temperature"],
        "offsets": found["offsets"],
        "rho": rho,
        "multipliers": [],
        "prices": [],
        "certificate": [
            {**row, "verdict": "estimated", "confidence_bound": None, "other_bound": None}
            for row in found["constraints"]
        ],
        "all_certified": False,
        "cautious_path": [],
        "certified_point": None,
        "diagnosis": None,
        "too_small": [],
        "warnings": [],
    }
    return changed


def _group_columns(constraints: Sequence[_core.Constraint]) -> list[str]:
    names: dict[str, None] = {}
    for constraint in constraints:
        names.update(dict.fromkeys(constraint.group_columns))
    return list(names)


def _watch(progress: Progress) -> Any:
    def watch(stats: dict[str, Any]) -> bool:
        progress.update(stats)
        return True

    return watch


def _is_verbose(estimator: Any) -> bool:
    for name in ("verbose", "verbosity"):
        value = getattr(estimator, name, None)
        if isinstance(value, (bool, Integral)) and value > 0:
            return True
    return False


def _seed(random_state: Any) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise ValueError(f"random_state: {random_state!r}; allowed: integers of at least 0")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _pair(field: str, pair: Any) -> tuple[Any, Any]:
    if isinstance(pair, list) and len(pair) == 1:
        pair = pair[0]
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        found = f"{type(pair).__name__} of {len(pair)}" if hasattr(pair, "__len__") else repr(pair)
        raise ValueError(f"{field}: {found}; allowed: one pair (X, y)")
    return pair[0], pair[1]


def _target_length(labels: Labels | None, targets: npt.NDArray[np.float64] | None) -> int:
    return len(targets) if labels is None else len(labels.codes)


def _check_length(field: str, found: int, rows: int) -> None:
    if found != rows:
        raise ValueError(
            f"{field}: {found} values for {rows} rows of X; allowed: one for each row. Found input "
            f"variables with inconsistent numbers of samples: [{rows}, {found}]"
        )


def _check_choice(field: str, value: Any, allowed: Any) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{field}: {value!r}; allowed: {', '.join(map(repr, allowed))}")


def _check_number(
    field: str,
    value: Any,
    low: float,
    high: float = np.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    inside = is_number and (low < value if open_low else low <= value)
    inside = inside and (value < high if open_high or high == np.inf else value <= high)
    if inside:
        return
    least = f"above {low:g}" if open_low else f"at least {low:g}"
    most = "" if high == np.inf else f" and {'below' if open_high else 'at most'} {high:g}"
    raise ValueError(f"{field}: {value!r}; allowed: a number {least}{most}")
