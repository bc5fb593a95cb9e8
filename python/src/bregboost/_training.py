"""From checked inputs to a trained model: the one place that calls the core's loops."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bregboost import _core
from bregboost._backends import Backend, Columns, Data, LinearModel, TreeBackend
from bregboost._rows import GroupColumn, Labels

Watch = Callable[[dict[str, Any]], bool] | None
Model = bytes | LinearModel


@dataclass(frozen=True)
class RowSet:
    """Rows with features: a training, evaluation or certification set."""

    data: Data
    rows: _core.RowData


@dataclass(frozen=True)
class Checkpoint:
    """Where a training is written down as it goes on."""

    directory: str
    every: int
    resume: bool
    data_digest: str = ""  # of the features


@dataclass(frozen=True)
class Settings:
    """What the estimators' parameters say about training, in the words of the core."""

    solver: str = "auto"
    objective: str = ""
    rho: float | None = None  # chosen
    delta: float = 0.1
    certify: float = 0.0
    validation: str = "by_cells"
    num_folds: int = 5
    deploy: str = "fold_mean"
    all_rounds: bool = False
    path: str = "by_constraints"
    seed: int = 0
    max_weight: float | None = None
    loss_range: tuple[float, float] | None = None
    initial_multipliers: Sequence[float] = ()
    checkpoint: Checkpoint | None = None
    # Of the solvers abpp and cbpr.
    solver_options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Adjustment:
    """What calibration adds to the scores of a model: F / temperature + offsets."""

    temperature: float = 1.0
    offsets: tuple[float, ...] = ()


@dataclass(frozen=True)
class Unseen:
    """Rows that the model was not trained on, with its scores: what a calibration needs."""

    scores: npt.NDArray[np.float64]
    rows: _core.RowData


@dataclass(frozen=True)
class Trained:
    """A trained model, without temperature and offsets, and what was found out on the way."""

    model: Model
    adjustment: Adjustment
    report: dict[str, Any]
    unseen: Unseen | None  # None where nothing can be calibrated


def make_rows(
    labels: Labels | None,
    positive: int,
    targets: npt.NDArray[np.float64] | None,
    groups: Sequence[GroupColumn],
    weight: npt.NDArray[np.float64] | None,
    rate_weight: npt.NDArray[np.float64] | None,
    baseline: npt.NDArray[np.int32] | None,
    workers: _core.Workers | None = None,
) -> _core.RowData:
    """Rows as the core takes them; `rate_weight` None: rates count rows as the loss does."""
    return _core.RowData(
        codes=None if labels is None else labels.codes,
        classes=[] if labels is None else labels.texts,
        positive_class=positive,
        targets=targets,
        groups=[(group.name, group.levels, group.codes) for group in groups],
        weights=weight,
        rate_weights=rate_weight,
        baseline=baseline,
        workers=workers,
    )


class Trainer:
    """One backend's data, options and calls.

    Parameters
    ----------
    backend : Backend
    settings : Settings
    weight_sum : float
        Of the training rows.
    constrained : bool
        Whether there are constraints; without any, training is the stock library's.
    """

    def __init__(
        self, backend: Backend, settings: Settings, weight_sum: float, constrained: bool
    ) -> None:
        self.backend = backend
        self.settings = settings
        self._weight_sum = weight_sum
        self._holds_on_unseen_rows = constrained and settings.solver == "auto"

    @property
    def rounds(self) -> int:
        """Steps that the solver will take; 0 if it ends when it is done."""
        if not isinstance(self.backend, TreeBackend):
            return 0
        parameters = self.backend.parameters()
        names = ("num_iterations", "num_boost_round", "n_estimators", "num_round")
        rounds = next((int(parameters[name]) for name in names if name in parameters), 100)
        return -(-rounds // self._rounds_per_step)

    def without_limits(self) -> "Trainer":
        """The same, but for limits, which are then measured and not held."""
        settings = replace(self.settings, path="calibration", rho=0.0, checkpoint=None)
        return Trainer(self.backend, settings, self._weight_sum, self._holds_on_unseen_rows)

    def without_checkpoints(self) -> "Trainer":
        """The same; several trainings cannot share a checkpoint."""
        settings = replace(self.settings, checkpoint=None)
        return Trainer(self.backend, settings, self._weight_sum, self._holds_on_unseen_rows)

    def train(
        self,
        constraints: Sequence[_core.Constraint],
        training: RowSet,
        evaluation: RowSet | None,
        certification: RowSet | None,
        watch: Watch,
    ) -> Trained:
        """Train under constraints; without any, train as the stock library does."""
        if self._holds_on_unseen_rows:
            return self._train_auto(constraints, training, evaluation, certification, watch)
        return self._train_plain(constraints, training, evaluation, watch)

    def parameters(self, columns: Columns) -> dict[str, str]:
        """What the learner is told, as text."""
        if isinstance(self.backend, TreeBackend):
            return dict(self.backend.parameters(columns))
        options = self.backend.linear_options(self._weight_sum)
        return {name: str(value) for name, value in options.items()}

    def sweep(
        self,
        constraints: Sequence[_core.Constraint],
        training: RowSet,
        evaluation: RowSet | None,
        watch: Watch,
        **sweep: Any,
    ) -> dict[str, Any]:
        """A frontier, as the core's JSON says it."""
        function = getattr(_core, f"sweep_{self.backend.name}")
        return json.loads(
            function(
                self._features(training.data),
                training.rows,
                list(constraints),
                self._learner(training.data.columns),
                self.without_checkpoints()._fit_options(),
                watch=watch,
                **sweep,
                **self._extra("evaluation", evaluation),
            )
        )

    def _train_auto(
        self,
        constraints: Sequence[_core.Constraint],
        training: RowSet,
        evaluation: RowSet | None,
        certification: RowSet | None,
        watch: Watch,
    ) -> Trained:
        function = getattr(_core, f"fit_{self.backend.name}")
        fit = function(
            self._features(training.data),
            training.rows,
            list(constraints),
            self._learner(training.data.columns),
            self._fit_options(),
            watch,
            **self._extra("evaluation", evaluation),
            **self._extra("certification", certification),
        )
        report = json.loads(fit.report_json(diagnose=True))
        report["unconstrained"] = json.loads(fit.unlimited_json() or "null")
        report["limits"] = _core.limit_counts(list(constraints), training.rows)
        unseen = Unseen(fit.unseen_scores(), fit.unseen_rows()) if report["offsets"] else None
        adjustment = Adjustment(report["temperature"], tuple(report["offsets"]))
        return Trained(self._plain_model(fit, 1.0, []), adjustment, report, unseen)

    def _train_plain(
        self,
        constraints: Sequence[_core.Constraint],
        training: RowSet,
        evaluation: RowSet | None,
        watch: Watch,
    ) -> Trained:
        function = getattr(_core, f"paper_{self.backend.name}")
        fit = function(
            self._features(training.data),
            training.rows,
            list(constraints),
            self._learner(training.data.columns),
            self._paper_options(),
            watch,
            **self._extra("evaluation", evaluation),
        )
        report = json.loads(fit.report_json(list(constraints)))
        report["solver"] = self.settings.solver  # without constraints all are the stock library's
        report["limits"] = _core.limit_counts(list(constraints), training.rows)
        return Trained(self._plain_model(fit), Adjustment(), report, None)

    @property
    def _rounds_per_step(self) -> int:
        # With two rounds between moves of the multipliers, folds wait for each other half as often.
        return 2 if self._holds_on_unseen_rows else 1

    def _features(self, data: Data) -> Any:
        if self.backend.name == "lightgbm":
            return _core.LightGbmDataset(data.keep, data.handle, self.backend.library())
        if self.backend.name == "xgboost":
            return _core.XgboostDataset(data.keep, data.handle, self.backend.library())
        if isinstance(data.keep, np.ndarray):
            return _core.FeatureMatrix.dense(data.keep)
        matrix = data.keep
        return _core.FeatureMatrix.csr(
            matrix.indptr.astype(np.int32, copy=False),
            matrix.indices.astype(np.int32, copy=False),
            matrix.data,
            data.n_features,
        )

    def _extra(self, name: str, rows: RowSet | None) -> dict[str, Any]:
        if rows is None:
            return {}
        return {name: self._features(rows.data), f"{name}_rows": rows.rows}

    def _learner(self, columns: Columns) -> Any:
        if isinstance(self.backend, TreeBackend):
            return _core.BoostedOptions(self.backend.parameters(columns), self._rounds_per_step)
        return _core.LinearOptions(**self.backend.linear_options(self._weight_sum))

    def _fit_options(self) -> _core.FitOptions:
        options = _core.FitOptions()
        settings = self.settings
        options.objective = settings.objective
        options.rho = settings.rho
        options.delta = settings.delta
        options.certify = settings.certify
        options.validation = settings.validation
        options.num_folds = settings.num_folds
        options.deploy = settings.deploy
        options.all_rounds = settings.all_rounds
        options.path = settings.path
        options.seed = settings.seed
        options.max_weight = settings.max_weight
        options.loss_range = settings.loss_range
        options.initial_multipliers = list(settings.initial_multipliers)
        _set_checkpoint(options, settings.checkpoint)
        _set_loss(options, self.backend)
        return options

    def _paper_options(self) -> _core.PaperOptions:
        options = _core.PaperOptions()
        if self.settings.solver != "auto":
            options.solver = self.settings.solver
        for name, value in self.settings.solver_options.items():
            setattr(options, name, value)
        _set_checkpoint(options, self.settings.checkpoint)
        _set_loss(options, self.backend)
        return options

    def _plain_model(self, fit: Any, *adjustment: Any) -> Model:
        if isinstance(self.backend, TreeBackend):
            return fit.model(*adjustment)
        coefficients, intercept = fit.coefficients(*adjustment)
        return LinearModel(coefficients.T, intercept)


def _set_checkpoint(options: Any, checkpoint: Checkpoint | None) -> None:
    if checkpoint is None:
        return
    options.checkpoint_dir = checkpoint.directory
    options.checkpoint_every = checkpoint.every
    options.resume = checkpoint.resume
    options.data_digest = checkpoint.data_digest


def _set_loss(options: Any, backend: Backend) -> None:
    for name, value in backend.loss_options().items():
        setattr(options, {"kind": "loss"}.get(name, name), value)


def adjusted_model(
    model: Model, backend_name: str, num_scores: int, adjustment: Adjustment
) -> Model:
    """The model with temperature and offsets in it."""
    offsets = list(adjustment.offsets)
    if isinstance(model, LinearModel):
        shift = np.asarray(offsets) if offsets else np.zeros_like(model.intercept)
        temperature = adjustment.temperature
        intercept = model.intercept / temperature + shift
        return LinearModel(model.coefficients / temperature, intercept, model.n_iter)
    objective = "multiclass" if num_scores > 1 else "binary"
    if backend_name == "lightgbm":
        return _core.adjust_lightgbm(model, objective, num_scores, adjustment.temperature, offsets)
    return _core.adjust_xgboost(model, objective, num_scores, adjustment.temperature, offsets)


def calibrate(
    unseen: Unseen,
    constraints: Sequence[_core.Constraint],
    objective: str,
    rho: float | None,
    seed: int,
) -> tuple[Adjustment, dict[str, Any]]:
    """Temperature and offsets for other limits, and what they measure on the unseen rows."""
    found = json.loads(
        _core.calibrate(unseen.scores, unseen.rows, list(constraints), objective, rho, seed)
    )
    return Adjustment(found["temperature"], tuple(found["offsets"])), found
