"""Classifiers under limits on error rates."""

import sys
import warnings
from types import FrameType
from typing import Any
from weakref import WeakSet

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError

from bregboost._estimator import ConstrainedEstimator
from bregboost._row_parts import whole
from bregboost._rows import Labels, encode_labels, positive_code, recode_labels

# Their folds would repeat what was said of the first one.
_WARNED_CALIBRATORS: WeakSet[Any] = WeakSet()


class ConstrainedClassifier(ClassifierMixin, ConstrainedEstimator):
    """Train a classifier so that limits on its error rates hold on unseen data.

    Wraps an estimator of LightGBM, XGBoost or scikit-learn. The result, `estimator_`, is a plain
    fitted estimator of the same class that decides the same without bregboost.

    Parameters
    ----------
    estimator : LGBMClassifier, XGBClassifier, LogisticRegression, or their names
        ``"lightgbm"``, ``"xgboost"`` and ``"linear"`` stand for the classes' defaults.
    constraints : str, Constraint, or list of both
        Such as ``"fnr <= 5%"`` or ``rate.error(by="sex").gap() <= 0.02``. Without any, the
        estimator is trained as it would be by itself.
    solver : {"auto", "abpp", "cbpr"}
        ``"auto"`` holds limits on rows that the model has not seen. The others are the paper's
        solvers, which hold smooth limits on the training rows, for research.
    pos_label : label, default None
        The positive class of two; None: the larger one.
    objective : str, default None
        The rate to optimise under the limits: ``"accuracy"`` (None), ``"balanced_error"``,
        ``"recall"``, ``"fpr"``, ...
    rho : float, default None
        Points of the objective that a point of violation is worth. Larger values hold limits more
        strictly. None: 5 points of accuracy, or as many of another objective as go with them; and
        ten times that where it takes more to hold limits that do not compare groups.
    delta : float
        The risk of a false certificate.
    certify : float, default None
        Share of the rows to set aside for a certificate. Without it, and without a `certify_set`,
        verdicts are estimates.
    validation : {"auto", "folds", "holdout"}
        Which rows count as unseen. ``"auto"`` takes a hold-out where it has 2,000 rows of every
        class and group that a limit names, else folds.
    n_folds : int
        Number of folds.
    deploy : {"fold_mean", "refit"}
        After folds: the mean of the fold models, as one model with all their trees, or one model
        trained anew on all rows by the same steps.
    all_rounds : bool
        Limits that compare no groups are held by plain training, of which the rounds are kept that
        make scores of unseen rows better, apart from how sure they are. True keeps all that the
        estimator asks for. An estimator that stops early by itself goes by its own rule.
    fold_offsets : bool
        True puts the offsets that hold the limits into `estimator_`, which then decides the same
        by itself; its probabilities are shifted by them. False keeps `estimator_` and
        `predict_proba` calibrated by temperature alone, and `predict` applies the offsets, as
        ``TunedThresholdClassifierCV`` of scikit-learn does with its threshold. Offsets do not
        survive a ``CalibratedClassifierCV`` around this estimator, whose fit warns of that.
    baseline : estimator, default None
        A fitted model; ``disagreement`` in constraints is the share of rows where predictions
        differ from its.
    max_weight : float, default None
        The largest weight that a row can have, for certificates of weighted rates.
    loss_range : (float, float), default None
        The smallest and the largest loss of a row, for certificates of ``loss``.
    solver_options : dict, default None
        Of the solvers abpp and cbpr: ``surrogate``, ``bound_rule``, ``primal_step``,
        ``dual_step``, ``use_average``, ``form``, ``inner_steps``.
    checkpoint_dir : path, default None
        Write down there how far the training is, every `checkpoint_every` rounds of boosting; one
        directory per training. Not for linear models, which are trained in one go.
    checkpoint_every : int
        A training with other checkpoints is another training where the estimator draws rows or
        features.
    resume : bool
        Go on from the checkpoint in `checkpoint_dir`, to the same model as without interruption;
        without one, from the beginning. A checkpoint of other data, constraints or parameters is
        a :class:`CheckpointError`.
    random_state : int, RandomState or None
        Of splits and searches; None is 0. The estimator has its own.
    verbose : bool, default None
        Show a progress bar; None: as the estimator's own verbosity says.

    Attributes
    ----------
    estimator_ : estimator
        The plain fitted estimator. ``XGBClassifier`` knows numbers only: with other labels it
        predicts their place in `classes_`.
    classes_ : ndarray
    report_ : Report
        A table in a terminal, HTML in a notebook.
    certificate_ : Certificate
    multipliers_ : ndarray
    history_ : DataFrame
    status_ : str
        ``"certified"``, ``"satisfied"``, ``"violated"``, ``"unconstrained"``, ``"interrupted"``.
    constraints_ : list of Constraint
    n_features_in_ : int
    feature_names_in_ : ndarray

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from bregboost import ConstrainedClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)  # 0 is malignant
    >>> model = ConstrainedClassifier(LogisticRegression(), "fnr <= 2%", pos_label=0, rho=20)
    >>> model.fit(X / X.max(axis=0), y).status_
    'satisfied'
    >>> model.estimator_
    LogisticRegression()
    """

    _task = "classification"

    def __init__(
        self,
        estimator: Any,
        constraints: Any = (),
        *,
        solver: str = "auto",
        pos_label: Any = None,
        objective: str | None = None,
        rho: float | None = None,
        delta: float = 0.1,
        certify: float | None = None,
        validation: str = "auto",
        n_folds: int = 5,
        deploy: str = "fold_mean",
        all_rounds: bool = False,
        fold_offsets: bool = True,
        baseline: Any = None,
        max_weight: float | None = None,
        loss_range: tuple[float, float] | None = None,
        solver_options: dict[str, Any] | None = None,
        checkpoint_dir: Any = None,
        checkpoint_every: int = 50,
        resume: bool = False,
        random_state: Any = None,
        verbose: bool | None = None,
    ) -> None:
        self.estimator = estimator
        self.constraints = constraints
        self.solver = solver
        self.pos_label = pos_label
        self.objective = objective
        self.rho = rho
        self.delta = delta
        self.certify = certify
        self.validation = validation
        self.n_folds = n_folds
        self.deploy = deploy
        self.all_rounds = all_rounds
        self.fold_offsets = fold_offsets
        self.baseline = baseline
        self.max_weight = max_weight
        self.loss_range = loss_range
        self.solver_options = solver_options
        self.checkpoint_dir = checkpoint_dir
        self.checkpoint_every = checkpoint_every
        self.resume = resume
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        sensitive_features: Any = None,
        *,
        rate_weight: Any = None,
        eval_set: Any = None,
        eval_sample_weight: Any = None,
        eval_sensitive_features: Any = None,
        eval_rate_weight: Any = None,
        certify_set: Any = None,
        certify_sample_weight: Any = None,
        certify_sensitive_features: Any = None,
        certify_rate_weight: Any = None,
    ) -> "ConstrainedClassifier":
        """Train.

        Rows of all arguments match by position. Ctrl-C ends the training with what there is:
        `status_` is then ``"interrupted"``.

        Parameters
        ----------
        X : array, DataFrame (pandas, polars), pyarrow Table or SciPy sparse matrix
        y : array of two or more classes
        sample_weight : array, optional
            Weights of the rows, in the loss and in the rates.
        sensitive_features : DataFrame, dict, Series or array, optional
            Group columns that constraints name; those that it lacks are looked up in `X`. Missing
            values are the group ``<missing>``. They are not needed to predict.
        rate_weight : array, optional
            Weights in the rates alone, if they differ.
        eval_set : (X, y), optional
            Rows that count as unseen, in place of folds or a hold-out; with weights and groups of
            their own in `eval_sample_weight`, `eval_rate_weight` and `eval_sensitive_features`.
        certify_set : (X, y), optional
            Rows for the certificate alone, in place of a share of `X`; with
            `certify_sample_weight`, `certify_rate_weight` and `certify_sensitive_features`.

        Returns
        -------
        self
        """
        sets = {name: value for name, value in locals().items() if name not in ("self", "X", "y")}
        return self._fit(X, y, sets)

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Scores with temperature and offsets: the larger, the more of that class.

        Parameters
        ----------
        X : features

        Returns
        -------
        ndarray
            Two classes: log-odds of the second, decided at 0. More: one column per class.
        """
        scores = self._scores(X)
        self._warn_if_offsets_are_undone()
        return scores + np.asarray(self._offsets) if self._offsets else scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Labels under the limits.

        Parameters
        ----------
        X : features

        Returns
        -------
        ndarray
        """
        scores = self.decision_function(X)
        codes = scores.argmax(axis=1) if scores.ndim > 1 else (scores > 0).astype(int)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Probabilities of the classes, those of `estimator_`.

        With ``fold_offsets=True`` they are shifted by the offsets: the class of the largest is
        what `predict` says. With False they are calibrated by temperature alone.

        Parameters
        ----------
        X : features

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        scores = self._scores(X)
        self._warn_if_offsets_are_undone()
        if scores.ndim > 1:
            return softmax(scores, axis=1)
        positive = expit(scores)
        return np.column_stack([1.0 - positive, positive])

    def _warn_if_offsets_are_undone(self) -> None:
        """For `CalibratedClassifierCV`, which has no hook: its fit is found among the callers."""
        frames = _frames_in_calibration() if self._is_shifted else []
        # Those of its fit, not of the predictions that come after.
        if not frames or "fit" not in frames[0].f_code.co_name:
            return
        calibrator = frames[-1].f_locals.get("self")  # in a process of its own, a fold has none
        if calibrator in _WARNED_CALIBRATORS:
            return
        if calibrator is not None:
            _WARNED_CALIBRATORS.add(calibrator)
        advice = (
            "Probabilities of ConstrainedClassifier(fold_offsets=False) are calibrated by "
            "temperature, and its predict() holds the limits."
            if self.fold_offsets
            else "With fold_offsets=False the probabilities are calibrated by temperature already."
        )
        warnings.warn(
            "CalibratedClassifierCV calibrates the scores anew, which undoes the offsets that hold "
            f"the limits: its predict() does not keep to them. {advice}",
            UserWarning,
            stacklevel=3,
        )

    def _target(self, y: Any, like: Labels | None = None, field: str = "y") -> tuple[Labels, None]:
        if like is None:
            return encode_labels(y, field), None
        return Labels(like.classes, recode_labels(y, like, field), like.texts), None

    def _positive(self, labels: Labels | None) -> int:
        return positive_code(labels, self.pos_label)

    def _baseline_codes(self, X: Any, labels: Labels | None) -> Any:
        if self.baseline is None:
            return None
        return recode_labels(_predictions(self.baseline, whole(X)), labels, "baseline")

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has ended."""
        return hasattr(self, "estimator_")


def _predictions(baseline: Any, X: Any) -> Any:
    name = type(baseline).__name__
    if isinstance(baseline, type) or not hasattr(baseline, "predict"):
        given = f"the class {baseline.__name__}" if isinstance(baseline, type) else name
        raise TypeError(f"baseline: {given}; allowed: a fitted model with predict()")
    try:
        return baseline.predict(X)
    except NotFittedError:
        raise NotFittedError(
            f"baseline: {name} that is not fitted; allowed: a fitted model with predict()"
        ) from None
    except ValueError as error:
        raise ValueError(
            f"baseline: {name} that cannot predict X; allowed: a model fitted on features like "
            f"those of X. {error}"
        ) from None


def _frames_in_calibration() -> list[FrameType]:
    """Of scikit-learn's module of that name among the callers, the innermost first."""
    found = []
    frame = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__") == "sklearn.calibration":
            found.append(frame)
        frame = frame.f_back
    return found
