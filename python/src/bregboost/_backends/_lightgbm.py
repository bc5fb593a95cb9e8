"""LGBMClassifier and LGBMRegressor."""

from collections.abc import Iterable
from functools import cached_property
from inspect import signature
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from narwhals import dependencies as nwd
from sklearn.base import clone
from sklearn.preprocessing import LabelEncoder

from bregboost._backends._base import (
    Columns,
    Data,
    Task,
    TreeBackend,
    Weights,
    checked_matrix,
    class_weights,
    drawn_seed,
    has_categories,
    is_other_frame,
    refuse_functions,
    scalar_text,
    times_class_weights,
    to_pandas,
    without_arrow_numbers,
)
from bregboost._features import check_features, n_rows
from bregboost._row_parts import whole
from bregboost._rows import Labels

_SQUARED = {
    "regression",
    "regression_l2",
    "l2",
    "mean_squared_error",
    "mse",
    "l2_root",
    "root_mean_squared_error",
    "rmse",
}
_OBJECTIVES = {
    "classification": {"binary", "multiclass", "softmax"},
    "regression": {*_SQUARED, "huber"},
}
_DEFAULT_HUBER_DELTA = 0.9  # LightGBM's `alpha`

# Of the scikit-learn interface, or the backend's own to honour.
_NOT_FOR_THE_LIBRARY = {
    "objective",
    "class_weight",
    "importance_type",
    "is_unbalance",
    "scale_pos_weight",
    "categorical_feature",
}
# They do nothing in a data set, or need an objective beside them.
_NOT_FOR_DATA = {"num_class", "num_iterations", "early_stopping_round", "metric"}


class LightGbmBackend(TreeBackend):
    """LightGBM's classifier and regressor."""

    name = "lightgbm"
    estimators: ClassVar = {
        "classification": ("lightgbm", "LGBMClassifier"),
        "regression": ("lightgbm", "LGBMRegressor"),
    }
    refused: ClassVar = {
        "DaskLGBMClassifier": "training runs in one process",
        "DaskLGBMRegressor": "training runs in one process",
    }

    def __init__(self, estimator: Any, task: Task) -> None:
        super().__init__(estimator, task)
        given = self._given
        for name, value in given.items():
            refuse_functions(name, value)
        objective = given.get("objective")
        if objective is not None and objective not in _OBJECTIVES[task]:
            allowed = ", ".join(sorted(_OBJECTIVES[task]))
            raise ValueError(f"objective: {objective!r}; allowed for a {task}: {allowed}")
        boosting = str(given["boosting"]).lower()
        if boosting in ("dart", "rf", "random_forest"):
            why = (
                "dart changes earlier trees in every round"
                if boosting == "dart"
                else "a forest does not go on from its current scores"
            )
            raise ValueError(f"boosting: {boosting!r}; allowed: 'gbdt', 'goss' ({why})")
        if given.get("linear_tree"):
            raise ValueError(
                f"linear_tree: {given['linear_tree']!r}; allowed: False (offsets and averages "
                "cannot be folded into linear leaves)"
            )

    @cached_property
    def _given(self) -> dict[str, Any]:
        """The estimator's parameters under LightGBM's main names.

        As in LightGBM, keyword arguments under such a name win over those of the constructor.
        """
        from lightgbm import LGBMModel
        from lightgbm.basic import _ConfigAliases

        all_names: dict[str, list[str]] = _ConfigAliases._get_all_param_aliases()
        main_name = {alias: name for name, aliases in all_names.items() for alias in aliases}
        of_constructor = signature(LGBMModel.__init__).parameters
        given: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        for name, value in self.estimator.get_params(deep=False).items():
            main = main_name.get(name, name)
            if name in of_constructor:
                given[main] = value
            elif main in extra:
                raise ValueError(f"{name}: {value!r}; allowed: one name of {main}, not two")
            else:
                extra[main] = value
        given |= extra
        given["seed"] = drawn_seed(given["seed"])
        given["num_threads"] = self.estimator._process_n_jobs(given["num_threads"])
        return given

    def check_features(self, X: Any, field: str = "X") -> None:
        """Numbers and categories."""
        check_features(X, field, type(self.estimator).__name__, takes_categories=True)

    def library(self) -> str:
        """Path of lib_lightgbm.so."""
        from lightgbm.basic import _LIB

        return _LIB._name

    def parameters(self, columns: Columns | None = None) -> dict[str, str]:
        """Under LightGBM's main names; the number of rounds is ``num_iterations``."""
        return {
            name: _parameter_text(name, value)
            for name, value in self._given.items()
            if value is not None and name not in _NOT_FOR_THE_LIBRARY
        }

    def make_data(self, X: Any, *, weight: Weights = None, reference: Data | None = None) -> Data:
        """A constructed `lightgbm.Dataset`, as `LGBMModel.fit` makes it; bins need no weights."""
        from lightgbm import Dataset

        X = self._features(whole(X), min_rows=1 if reference else 2)
        parameters = {
            name: value
            for name, value in self._given.items()
            if value is not None and name not in _NOT_FOR_THE_LIBRARY | _NOT_FOR_DATA
        }
        parameters.setdefault("verbosity", -1)
        categorical = self._given.get("categorical_feature")
        dataset: Any = Dataset(
            X,
            label=np.zeros(n_rows(X), dtype=np.float32),
            reference=None if reference is None else reference.keep,
            categorical_feature="auto" if categorical is None else categorical,
            params=parameters,
        ).construct()
        columns = Columns(
            n_features=dataset.num_feature(),
            names=dataset.get_feature_name() if nwd.is_into_dataframe(X) else None,
            categories=dataset.pandas_categorical,
        )
        return Data(dataset._handle.value, dataset, n_rows(X), columns)

    def loss_options(self) -> dict[str, str | float]:
        """Huber's delta is LightGBM's `alpha`."""
        if self.task == "classification":
            return {"kind": "cross_entropy"}
        if self._given.get("objective") != "huber":
            return {"kind": "squared"}
        delta = self._given.get("alpha", _DEFAULT_HUBER_DELTA)
        return {"kind": "huber", "huber_delta": float(delta)}

    def sample_weight(self, labels: Labels | None, sample_weight: Weights) -> Weights:
        """`class_weight`, and of two classes `scale_pos_weight` and `is_unbalance` for code 1."""
        scale = float(self._given.get("scale_pos_weight", 1.0))
        is_unbalance = bool(self._given.get("is_unbalance", False))
        class_weight = self._given.get("class_weight")
        if labels is None or len(labels.classes) > 2:
            for name, does_nothing in (
                ("scale_pos_weight", scale == 1.0),
                ("is_unbalance", not is_unbalance),
            ):
                if not does_nothing:
                    raise ValueError(
                        f"{name}: {self._given[name]!r}; allowed with two classes only"
                    )
        if labels is None:
            if class_weight is not None:
                raise ValueError(f"class_weight: {class_weight!r}; allowed with classes only")
            return sample_weight
        of_class = np.ones(len(labels.classes))
        if class_weight is not None:
            of_class *= class_weights(class_weight, labels)
        if is_unbalance:
            if scale != 1.0:
                raise ValueError(f"scale_pos_weight: {scale}; allowed with is_unbalance: 1")
            counts = np.bincount(labels.codes, minlength=2)
            of_class *= counts.max() / counts
        if scale != 1.0:
            of_class[1] *= scale
        return times_class_weights(labels, sample_weight, of_class)

    def rebuild(self, model: bytes, columns: Columns, classes: npt.NDArray[Any] | None) -> Any:
        """From LightGBM's text. Labels are predicted as they were given."""
        from lightgbm import Booster

        booster = Booster(model_str=model.decode())
        booster.best_iteration = 0  # as after a fit that does not stop early
        if booster.pandas_categorical is None:
            booster.pandas_categorical = columns.categories
        fitted = clone(self.estimator)
        # What `LGBMModel.fit` leaves behind.
        fitted._Booster = booster
        fitted._objective = self._given.get("objective") or "regression"
        fitted._n_features = fitted._n_features_in = columns.n_features
        fitted._fitted_with_feature_names = columns.names is not None
        fitted._evals_result = {}
        fitted._best_iteration = booster.best_iteration
        fitted._best_score = booster.best_score
        if classes is not None:
            fitted._objective = "binary" if len(classes) == 2 else "multiclass"
            fitted._le = LabelEncoder().fit(classes)
            fitted._class_map = dict(zip(classes, range(len(classes)), strict=True))
            fitted._classes = classes
            fitted._n_classes = len(classes)
        fitted.fitted_ = True
        return fitted

    def raw_scores(self, fitted: Any, X: Any) -> npt.NDArray[np.float64]:
        """Log-odds, softmax scores or predictions."""
        return fitted.predict(self._features(X), raw_score=True)

    def _features(self, X: Any, min_rows: int = 1) -> Any:
        if is_other_frame(X):
            return X if _takes_frames() and not has_categories(X) else to_pandas(X)
        if nwd.is_pandas_dataframe(X):
            return without_arrow_numbers(X)
        return checked_matrix(X, accept_sparse=["csr", "csc"], min_rows=min_rows)


def _takes_frames() -> bool:
    """From 4.7 on, through narwhals."""
    from lightgbm import basic

    return hasattr(basic, "nw")


def _parameter_text(name: str, value: Any) -> str:
    if not _is_list(value):
        return scalar_text(name, value)
    return ",".join(
        f"[{_parameter_text(name, part)}]" if _is_list(part) else scalar_text(name, part)
        for part in value
    )


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, dict))
