"""LogisticRegression and Ridge."""

from inspect import signature
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight

from bregboost._backends._base import (
    Backend,
    Columns,
    Data,
    Task,
    Weights,
    class_weights,
    times_class_weights,
)
from bregboost._features import check_features, feature_names, naming_what_is_no_number
from bregboost._rows import Labels

# Balanced classes have counted rows by their weights since scikit-learn 1.6.
_BALANCES_WEIGHTS = "sample_weight" in signature(compute_class_weight).parameters


class LinearModel(NamedTuple):
    """A linear model of the core."""

    coefficients: npt.NDArray[np.float64]  # one row per feature, one column per score
    intercept: npt.NDArray[np.float64]
    n_iter: int = 1


class LinearBackend(Backend):
    """Logistic and ridge regression of scikit-learn."""

    name = "linear"
    estimators: ClassVar = {
        "classification": ("sklearn", "LogisticRegression"),
        "regression": ("sklearn", "Ridge"),
    }
    refused: ClassVar = {
        "LogisticRegressionCV": "to choose C, search over LogisticRegression",
    }

    def __init__(self, estimator: Any, task: Task) -> None:
        super().__init__(estimator, task)
        if task == "classification":
            _check_logistic(estimator)
        else:
            _check_ridge(estimator)

    def check_features(self, X: Any, field: str = "X") -> None:
        """Numbers alone, be they written as text."""
        name = type(self.estimator).__name__
        check_features(X, field, name, takes_categories=False, reads_text=True)

    def library(self) -> str:
        """Empty: the core has the solver."""
        return ""

    def make_data(self, X: Any, *, weight: Weights = None, reference: Data | None = None) -> Data:
        """A float64 array, or a CSR matrix whose indices are int32 and sorted."""
        names = feature_names(X)
        with naming_what_is_no_number(X):
            X = check_array(
                X, accept_sparse="csr", dtype=np.float64, estimator=self.estimator, input_name="X"
            )
        if sparse.issparse(X):
            X = _core_csr(X)
        elif not (X.flags.c_contiguous or X.flags.f_contiguous):
            X = np.ascontiguousarray(X)
        if reference is not None and X.shape[1] != reference.n_features:
            raise ValueError(
                f"X: {X.shape[1]} features; allowed: {reference.n_features}, as in training"
            )
        return Data(0, X, X.shape[0], Columns(X.shape[1], names))

    def linear_options(self, weight_sum: float) -> dict[str, float | bool]:
        """The penalty as the core has it, beside the mean of the loss.

        Parameters
        ----------
        weight_sum : float
            Sum of the weights in the loss (`sample_weight`); without weights the number of rows.
        """
        # Sums in scikit-learn: C * loss + |w|^2 / 2 and loss + alpha * |w|^2. The core: mean loss +
        # l2 / 2 * |w|^2.
        if self.task == "regression":
            l2 = 2.0 * float(self.estimator.alpha) / weight_sum
        elif getattr(self.estimator, "penalty", "l2") is None:
            l2 = 0.0
        else:
            l2 = 1.0 / (float(self.estimator.C) * weight_sum)
        return {"l2": l2, "fit_intercept": bool(self.estimator.fit_intercept)}

    def loss_options(self) -> dict[str, str | float]:
        """Cross-entropy or the squared loss."""
        return {"kind": "cross_entropy" if self.task == "classification" else "squared"}

    def sample_weight(self, labels: Labels | None, sample_weight: Weights) -> Weights:
        """`class_weight` of a logistic regression."""
        class_weight = getattr(self.estimator, "class_weight", None)
        if labels is None or class_weight is None:
            return sample_weight
        counted = sample_weight if _BALANCES_WEIGHTS else None
        of_class = class_weights(class_weight, labels, counted)
        return times_class_weights(labels, sample_weight, of_class)

    def rebuild(
        self, model: LinearModel, columns: Columns, classes: npt.NDArray[Any] | None
    ) -> Any:
        """Labels are predicted as they were given."""
        fitted = clone(self.estimator)
        coefficients = np.asarray(model.coefficients, dtype=np.float64)
        intercept = np.atleast_1d(np.asarray(model.intercept, dtype=np.float64))
        if classes is None:
            fitted.coef_ = coefficients[:, 0].copy()
            fitted.intercept_ = float(intercept[0])
            fitted.n_iter_ = None
        else:
            fitted.classes_ = classes
            fitted.coef_ = np.ascontiguousarray(coefficients.T)
            fitted.intercept_ = intercept.copy()
            fitted.n_iter_ = np.array([model.n_iter], dtype=np.int32)
        fitted.n_features_in_ = columns.n_features
        if columns.names is not None:
            fitted.feature_names_in_ = np.array(columns.names, dtype=object)
        return fitted

    def raw_scores(self, fitted: Any, X: Any) -> npt.NDArray[np.float64]:
        """Log-odds, softmax scores or predictions."""
        if self.task == "regression":
            return fitted.predict(X)
        return fitted.decision_function(X)


def _check_logistic(estimator: Any) -> None:
    penalty = getattr(estimator, "penalty", "deprecated")
    if penalty not in (None, "l2", "deprecated"):  # the latter since scikit-learn 1.8
        raise ValueError(f"penalty: {penalty!r}; allowed: 'l2', None (the solver is for L2)")
    if penalty == "deprecated" and estimator.l1_ratio not in (None, 0):
        raise ValueError(f"l1_ratio: {estimator.l1_ratio!r}; allowed: 0 (the solver is for L2)")
    if not estimator.C > 0:
        raise ValueError(f"C: {estimator.C!r}; allowed: positive numbers")
    if estimator.solver == "liblinear":
        raise ValueError(
            "solver: 'liblinear'; allowed: the others (liblinear penalises the intercept, too)"
        )
    multi_class = getattr(estimator, "multi_class", "auto")  # until scikit-learn 1.7
    if multi_class not in ("auto", "deprecated"):
        raise ValueError(
            f"multi_class: {multi_class!r}; allowed: 'auto' (one score for two classes, softmax "
            "for more)"
        )


def _check_ridge(estimator: Any) -> None:
    if np.ndim(estimator.alpha) or not estimator.alpha >= 0:
        raise ValueError(f"alpha: {estimator.alpha!r}; allowed: one number of at least 0")
    if estimator.positive:
        raise ValueError("positive: True; allowed: False (coefficients are free)")


def _core_csr(X: Any) -> sparse.csr_matrix:
    if X.nnz > np.iinfo(np.int32).max:
        raise ValueError(f"X: {X.nnz} entries; allowed: at most {np.iinfo(np.int32).max}")
    X = sparse.csr_matrix(
        (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape
    )
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
