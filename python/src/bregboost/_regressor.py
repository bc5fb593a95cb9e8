"""Regressors under limits on losses."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from bregboost._estimator import ConstrainedEstimator
from bregboost._rows import as_floats


class ConstrainedRegressor(RegressorMixin, ConstrainedEstimator):
    """Train a regressor so that limits on the losses of groups hold on unseen data.

    Parameters
    ----------
    estimator : LGBMRegressor, XGBRegressor, Ridge, or their names
        ``"lightgbm"``, ``"xgboost"`` and ``"linear"`` stand for the classes' defaults.
    constraints : str, Constraint, or list of both
        Such as ``"max(loss, by=region) <= 0.2"`` or ``"loss(region=north) <= 0.1"``; the loss is
        the estimator's, the square or Huber's.
    solver, rho, delta, certify, validation, n_folds, deploy, max_weight, loss_range, \
solver_options, checkpoint_dir, checkpoint_every, resume, random_state, verbose
        As in :class:`ConstrainedClassifier`.
    objective : str, default None
        ``"loss"`` (None), or the loss of some rows, such as ``"loss(region=north)"``.

    Attributes
    ----------
    estimator_ : estimator
        The plain fitted estimator.
    report_, certificate_, multipliers_, history_, status_, constraints_, n_features_in_, \
feature_names_in_
        As in :class:`ConstrainedClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from bregboost import ConstrainedRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, region = rng.normal(size=(400, 2)), rng.choice(["north", "south"], 400)
    >>> y = X[:, 0] * np.where(region == "north", 1.0, 1.5) + 0.1 * rng.normal(size=400)
    >>> model = ConstrainedRegressor("linear", "loss(region=north) <= 0.05", rho=50.0)
    >>> model.fit(X, y, sensitive_features={"region": region}).status_
    'satisfied'
    """

    _task = "regression"

    def __init__(
        self,
        estimator: Any,
        constraints: Any = (),
        *,
        solver: str = "auto",
        objective: str | None = None,
        rho: float | None = None,
        delta: float = 0.1,
        certify: float | None = None,
        validation: str = "auto",
        n_folds: int = 5,
        deploy: str = "fold_mean",
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
        self.objective = objective
        self.rho = rho
        self.delta = delta
        self.certify = certify
        self.validation = validation
        self.n_folds = n_folds
        self.deploy = deploy
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
    ) -> "ConstrainedRegressor":
        """Train; arguments as in :meth:`ConstrainedClassifier.fit`.

        Parameters
        ----------
        X : features
        y : array of numbers

        Returns
        -------
        self
        """
        sets = {name: value for name, value in locals().items() if name not in ("self", "X", "y")}
        return self._fit(X, y, sets)

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Values.

        Parameters
        ----------
        X : features

        Returns
        -------
        ndarray
        """
        return self._scores(X)

    def _target(
        self, y: Any, like: Any = None, field: str = "y"
    ) -> tuple[None, npt.NDArray[np.float64]]:
        values = column_or_1d(as_floats(y, field), warn=True)
        return None, np.ascontiguousarray(values)

    def _positive(self, labels: Any) -> int:
        return 1

    def _baseline_codes(self, X: Any, labels: Any) -> None:
        return None

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has ended."""
        return hasattr(self, "estimator_")
