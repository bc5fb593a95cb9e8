"""What ConstrainedClassifier and ConstrainedRegressor share."""

import copy
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted

from bregboost import _core
from bregboost._backends import Task, backend_for
from bregboost._certificate import Certificate
from bregboost._constraints import as_constraints
from bregboost._frontier import FrontierResult
from bregboost._history import history_frame
from bregboost._parameters import check_number, check_objective
from bregboost._preparation import Prepared, named_arguments, prepare
from bregboost._progress import Progress
from bregboost._report import Report
from bregboost._row_parts import parts_of
from bregboost._run_facts import facts_of_run
from bregboost._sklearn_versions import check_feature_names, check_n_features, input_tags_of
from bregboost._sweep import Sweep
from bregboost._training import (
    Adjustment,
    Trained,
    Trainer,
    adjusted_model,
    calibrate,
)


class ConstrainedEstimator(MetaEstimatorMixin, BaseEstimator):
    """Parameters, training and results, whatever the target."""

    _task: Task

    # ---- what the fitted model says

    @property
    def certificate_(self) -> Certificate:
        """Verdicts about the limits."""
        check_is_fitted(self)
        return self.report_.certificate

    @property
    def history_(self) -> Any:
        """The course of the training, one row per step: a DataFrame."""
        check_is_fitted(self)
        report = self.report_.to_dict()
        texts = [row["text"] for row in report["constraints"]]
        return history_frame(report["history"], texts, report["limits"])

    @property
    def multipliers_(self) -> npt.NDArray[np.float64]:
        """One per constraint; a gap or ratio has one for each pair of groups, one by one."""
        check_is_fitted(self)
        return np.asarray(self.report_.to_dict()["multipliers"], dtype=np.float64)

    @property
    def status_(self) -> str:
        """How the fit ended, in a word.

        ``"unconstrained"``, ``"certified"``, ``"satisfied"`` (on rows that the model has not seen;
        with the solvers abpp and cbpr on the training rows), ``"violated"``, or ``"interrupted"``.
        """
        check_is_fitted(self)
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
        inputs = self._input_tags()
        tags.input_tags.allow_nan = inputs["allow_nan"]
        tags.input_tags.sparse = inputs["sparse"]
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {"allow_nan": self._input_tags()["allow_nan"]}

    def _input_tags(self) -> dict[str, bool]:
        try:
            return input_tags_of(self._template())
        except (AttributeError, ImportError, TypeError, ValueError):  # `fit` says what is wrong
            return {"allow_nan": False, "sparse": False}

    def _template(self) -> Any:
        """The inner estimator, made if it is given by name."""
        if isinstance(self.estimator, str):
            return backend_for(self.estimator, self._task).estimator
        return self.estimator

    # ---- training

    def _fit(
        self,
        X: Any,
        y: Any,
        sets: dict[str, Any],
        initial_multipliers: Sequence[float] = (),
        workers: _core.Workers | None = None,
    ) -> "ConstrainedEstimator":
        prepared = prepare(self, X, y, sets, initial_multipliers, workers)
        with self._progress(prepared.trainer) as progress:
            trained = prepared.trainer.train(
                prepared.constraints,
                prepared.training,
                prepared.evaluation,
                prepared.certification,
                _watch(progress),
            )
        fitted = copy.copy(self)  # whatever fails on the way, this estimator stays as it was
        check_feature_names(fitted, parts_of(X)[0], reset=True)
        fitted.n_features_in_ = prepared.training.data.n_features
        fitted._keep(prepared, trained)
        self.__dict__ = fitted.__dict__
        return self

    def _progress(self, trainer: Trainer) -> Progress:
        wanted = self.verbose if self.verbose is not None else _is_verbose(self._template())
        return Progress(
            trainer.rounds or None,
            bool(wanted),
            objective_name=self._minimised(),
            percent=self._task == "classification",
        )

    def _minimised(self) -> str:
        """What the rows of a history call the objective, which they show as something to lower."""
        if self.solver != "auto" or not as_constraints(self.constraints):
            return "loss"
        objective = self.objective or ("accuracy" if self._task == "classification" else "loss")
        if objective == "accuracy":
            return "error"
        return "cost" if _core.maximises(objective) else objective

    def _keep(self, prepared: Prepared, trained: Trained) -> None:
        self._backend = prepared.trainer.backend
        self._columns = prepared.training.data.columns
        self._model = trained.model
        self._unseen = trained.unseen
        self._seed = prepared.trainer.settings.seed
        self.constraints_ = list(prepared.constraints)
        self.report_ = Report({**trained.report, **facts_of_run(prepared)})
        if prepared.labels is not None:
            self.classes_ = prepared.labels.classes
        self._deploy_adjustment(trained.adjustment)

    def _deploy_adjustment(self, adjustment: Adjustment) -> None:
        """Make `estimator_`, with the offsets in it or beside it."""
        self._is_shifted = any(adjustment.offsets)
        folded, self._offsets = adjustment, ()
        if not getattr(self, "fold_offsets", True):
            folded, self._offsets = Adjustment(adjustment.temperature), adjustment.offsets
        model = self._model
        if folded != Adjustment():
            model = adjusted_model(model, self._backend.name, self._num_scores(), folded)
        classes = getattr(self, "classes_", None)
        self.estimator_ = self._backend.rebuild(model, self._columns, classes)
        # Parameters that users change after the fit are for the next one.
        self._backend = type(self._backend)(self.estimator_, self._task)

    def _num_scores(self) -> int:
        classes = getattr(self, "classes_", ())
        return len(classes) if len(classes) > 2 else 1

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        """Raw scores of `estimator_`."""
        check_is_fitted(self)
        self._backend.check_features(X)
        check_feature_names(self, X, reset=False)
        shape = getattr(X, "shape", (0, 0))
        if len(shape) != 2:
            raise ValueError(
                f"X: {len(shape)} dimensions; allowed: 2. Reshape your data: X.reshape(1, -1) is "
                "one row, X.reshape(-1, 1) one feature"
            )
        check_n_features(self, X, reset=False)
        return self._backend.raw_scores(self.estimator_, X)

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
        >>> model.recalibrate("fnr <= 1%", rho=20).status_
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
        if rho is not None:
            check_number("rho", rho, low=0.0)
            rho = float(rho)
        check_objective(objective)
        measured = objective or report["objective_name"]
        adjustment, found = calibrate(self._unseen, wanted, measured, rho, self._seed)
        other = copy.copy(self)
        other.constraints = constraints
        other.constraints_ = wanted
        other.rho = rho
        other.objective = objective or self.objective
        other.report_ = Report(_recalibrated(report, found, measured, rho))
        other._deploy_adjustment(adjustment)
        return other

    def unconstrained(self, X: Any, y: Any, **fit_params: Any) -> dict[str, Any]:
        """The same estimator without limits, measured against them on the same unseen rows.

        For ``report_.to_html(unconstrained=...)``, where limits compare groups or bound losses;
        other reports know it already. Takes one training.

        Parameters
        ----------
        X, y
            As in `fit`, and so are `fit_params`.

        Returns
        -------
        dict
            The `objective`, and for each of the `constraints` its text, value, violation and
            groups.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from bregboost import ConstrainedClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = ConstrainedClassifier("linear", "fnr <= 5%", pos_label=0)
        >>> [limit["text"] for limit in model.unconstrained(X / X.max(0), y)["constraints"]]
        ['fnr <= 5%']
        """
        prepared = prepare(self, X, y, named_arguments(fit_params))
        if not prepared.constraints or self.solver != "auto":
            raise ValueError(
                f"unconstrained: the solver {self.solver!r} with {len(prepared.constraints)} "
                "constraints; allowed: the solver 'auto' with one or more"
            )
        trainer = prepared.trainer.without_limits()
        with self._progress(trainer) as progress:
            trained = trainer.train(
                prepared.constraints,
                prepared.training,
                prepared.evaluation,
                prepared.certification,
                _watch(progress),
            )
        return trained.report["unconstrained"]

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
        training starts from the multipliers of its neighbour. A point takes the model of another,
        with offsets of its own, where that serves it better.

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
        sets = named_arguments(fit_params)
        if sets["certify_set"] is not None:
            raise ValueError(
                "certify_set: given; allowed for a frontier: None (certification rows answer once)"
            )
        if models:
            return sweep.by_models(X, y, sets)
        prepared = prepare(self, X, y, sets)
        with self._progress(prepared.trainer) as progress:
            return sweep.by_estimates(
                prepared.trainer, prepared.training, prepared.evaluation, _watch(progress)
            )


def _recalibrated(
    report: dict[str, Any], found: dict[str, Any], objective: str, rho: float | None
) -> dict[str, Any]:
    """The report of a fit with what a calibration found in place of what it found."""
    settings = report.get("settings") or {}
    options = {**(settings.get("options") or {}), "rho": rho, "objective": objective}
    changed = {
        **report,
        "constraints": found["constraints"],
        "objective": found["objective"],
        "objective_name": objective,
        "maximise": found["maximise"],
        "violation": found["violation"],
        "temperature": found["temperature"],
        "offsets": found["offsets"],
        "rho": found["rho"],
        "history": [],  # of a training for other limits
        "limits": [],
        "multipliers": [],
        "prices": found["prices"],
        "certificate": [
            {
                **row,
                "verdict": "estimated",
                "confidence_bound": None,
                "other_bound": None,
                "rows": _rows_of(row),
            }
            for row in found["constraints"]
        ],
        "settings": {**settings, "options": options},
        "all_certified": False,
        "cautious_path": [],
        "certified_point": None,
        "diagnosis": None,
        "too_small": [],
        "unconstrained": None,  # measured against other limits
        "warnings": [],
    }
    return changed


def _rows_of(constraint: dict[str, Any]) -> int | None:
    """That a limit is about; groups have no row in common."""
    if constraint.get("rows") is not None:
        return constraint["rows"]
    counts = [group.get("rows") for group in constraint.get("groups") or ()]
    return sum(counts) if counts and None not in counts else None


def _watch(progress: Progress) -> Any:
    def watch(stats: dict[str, Any]) -> bool:
        try:
            progress.update(stats)
        except KeyboardInterrupt:  # between two looks of the core at signals
            return False
        return True

    return watch


def _is_verbose(estimator: Any) -> bool:
    for name in ("verbose", "verbosity"):
        value = getattr(estimator, name, None)
        if isinstance(value, (bool, Integral)) and value > 0:
            return True
    return False
