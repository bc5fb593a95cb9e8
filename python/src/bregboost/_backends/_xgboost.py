"""XGBClassifier and XGBRegressor."""

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from narwhals import dependencies as nwd
from sklearn.base import clone

from bregboost._backends._base import (
    Columns,
    Data,
    Task,
    TreeBackend,
    Weights,
    checked_matrix,
    drawn_seed,
    has_categories,
    is_other_frame,
    refuse_functions,
    scalar_text,
    times_class_weights,
    to_pandas,
)
from bregboost._features import check_features
from bregboost._row_parts import RowParts, whole
from bregboost._rows import Labels

_OBJECTIVES = {
    "classification": ("binary:logistic", "multi:softprob", "multi:softmax"),
    "regression": ("reg:squarederror",),
}

# Of the scikit-learn interface, or the backend's own to honour. Metrics are left out: training
# watches its loss.
_NOT_FOR_THE_LIBRARY = {
    "callbacks",
    "enable_categorical",
    "eval_metric",
    "feature_types",
    "feature_weights",
    "importance_type",
    "kwargs",
    "missing",
    "objective",
    "scale_pos_weight",
}
_LIBRARY_NAMES = {
    "n_estimators": "num_boost_round",
    "n_jobs": "nthread",
    "random_state": "seed",
}
# What `load_model` takes from the model in place of the estimator's parameters.
_CHANGED_BY_LOADING = ("objective", "booster", "base_score", "feature_types", "enable_categorical")


class XgboostBackend(TreeBackend):
    """XGBoost's classifier and regressor."""

    name = "xgboost"
    estimators: ClassVar = {
        "classification": ("xgboost", "XGBClassifier"),
        "regression": ("xgboost", "XGBRegressor"),
    }
    refused: ClassVar = {
        "XGBRFClassifier": "a forest does not go on from its current scores",
        "XGBRFRegressor": "a forest does not go on from its current scores",
    }

    def __init__(self, estimator: Any, task: Task) -> None:
        super().__init__(estimator, task)
        given = self._given
        for name, value in given.items():
            refuse_functions(name, value)
        if given.get("callbacks"):
            raise ValueError(
                f"callbacks: {given['callbacks']!r}; allowed: None (training does not call back "
                "into Python)"
            )
        objective = given.get("objective")
        if objective is not None and objective not in _OBJECTIVES[task]:
            raise ValueError(
                f"objective: {objective!r}; allowed for a {task}: {', '.join(_OBJECTIVES[task])}"
            )
        for name, allowed, why in (
            (
                "booster",
                "gbtree",
                "dart changes earlier trees in every round, and gblinear has no trees",
            ),
            (
                "multi_strategy",
                "one_output_per_tree",
                "offsets and averages cannot be folded into leaves that hold vectors",
            ),
        ):
            if given.get(name) not in (None, allowed):
                raise ValueError(f"{name}: {given[name]!r}; allowed: {allowed!r} ({why})")

    @cached_property
    def _given(self) -> dict[str, Any]:
        seed = drawn_seed(self.estimator.random_state)
        # XGBModel.get_params would draw a number of its own.
        seeded = copy(self.estimator)
        seeded.random_state = seed
        return seeded.get_params(deep=False)

    def check_features(self, X: Any, field: str = "X") -> None:
        """Numbers and, if they are enabled, categories."""
        enabled = bool(self._given["enable_categorical"])
        hint = "" if enabled else "; with enable_categorical=True: categories, too"
        name = type(self.estimator).__name__
        check_features(X, field, name, takes_categories=enabled, hint=hint)

    def library(self) -> str:
        """Path of libxgboost.so."""
        from xgboost.core import _LIB

        return _LIB._name

    def parameters(self, columns: Columns | None = None) -> dict[str, str]:
        """Under XGBoost's names; the number of rounds is ``num_boost_round``."""
        texts = {}
        for name, value in self._given.items():
            if value is None or name in _NOT_FOR_THE_LIBRARY:
                continue
            if name == "monotone_constraints":
                text = _monotone_text(value, columns)
            elif name == "interaction_constraints":
                text = _interaction_text(value, columns)
            elif isinstance(value, (list, tuple, np.ndarray)):
                text = f"[{','.join(scalar_text(name, part) for part in value)}]"
            else:
                text = scalar_text(name, value)
            texts[_LIBRARY_NAMES.get(name, name)] = text
        texts.setdefault("num_boost_round", str(self.estimator.get_num_boosting_rounds()))
        return texts

    def make_data(self, X: Any, *, weight: Weights = None, reference: Data | None = None) -> Data:
        """A `QuantileDMatrix` or, for a tree method without bins, a `DMatrix`, as in `fit`.

        Training rows are binned by weight, so `weight` are those of the loss.
        """
        from xgboost import DMatrix, QuantileDMatrix

        given = self._given
        is_binned = given["tree_method"] in (None, "auto", "hist")
        in_parts = is_binned and _can_stay_in_parts(X, given)
        if in_parts:
            parts = [_features(part) for part in X.parts]
            X = parts[0]
        else:
            X = _features(whole(X))
        settings = {
            "weight": weight,
            "missing": given["missing"],
            "nthread": given["n_jobs"],
            "enable_categorical": given["enable_categorical"],
            "feature_types": given["feature_types"],
        }
        if given.get("feature_weights") is not None:
            settings["feature_weights"] = given["feature_weights"]
        categories = _pandas_categories(X)
        if reference is not None and nwd.is_into_dataframe(X):
            if not hasattr(reference.keep, "get_categories"):
                X = _with_categories(X, reference.columns.categories)
            elif not (known := reference.keep.get_categories()).empty():
                settings["feature_types"] = known  # or XGBoost would recode them in every round
        if is_binned:
            settings["max_bin"] = given["max_bin"]
            settings["ref"] = None if reference is None else reference.keep
            if in_parts:
                del settings["feature_types"], settings["weight"]
                matrix: Any = QuantileDMatrix(_read_in_turn(parts, weight), **settings)
            else:
                matrix = QuantileDMatrix(X, **settings)
        else:
            matrix = DMatrix(X, **settings)
        columns = Columns(
            n_features=matrix.num_col(),
            names=matrix.feature_names,
            types=matrix.feature_types,
            categories=categories,
        )
        return Data(matrix.handle.value, matrix, matrix.num_row(), columns)

    def loss_options(self) -> dict[str, str | float]:
        """Cross-entropy or the squared loss."""
        return {"kind": "cross_entropy" if self.task == "classification" else "squared"}

    def sample_weight(self, labels: Labels | None, sample_weight: Weights) -> Weights:
        """Of two classes, `scale_pos_weight` for code 1."""
        scale = self._given.get("scale_pos_weight")
        if scale is None or scale == 1:
            return sample_weight
        if labels is None or len(labels.classes) > 2:
            raise ValueError(f"scale_pos_weight: {scale!r}; allowed with two classes only")
        return times_class_weights(labels, sample_weight, np.array([1.0, float(scale)]))

    def rebuild(self, model: bytes, columns: Columns, classes: npt.NDArray[Any] | None) -> Any:
        """From UBJSON or JSON. XGBClassifier knows codes only, so it predicts those."""
        fitted = clone(self.estimator)
        parameters = {name: getattr(fitted, name) for name in _CHANGED_BY_LOADING}
        fitted.load_model(bytearray(model))
        for name, value in parameters.items():
            setattr(fitted, name, value)
        booster = fitted.get_booster()
        if booster.feature_names is None:
            booster.feature_names = columns.names
        if booster.feature_types is None:
            booster.feature_types = columns.types
        return fitted

    def raw_scores(self, fitted: Any, X: Any) -> npt.NDArray[np.float64]:
        """Log-odds, softmax scores or predictions."""
        return fitted.predict(_features(X), output_margin=True).astype(np.float64)


def _features(X: Any) -> Any:
    if is_other_frame(X):
        if _takes_frames():
            # Of Arrow it takes no dictionaries.
            return to_pandas(X) if nwd.is_pyarrow_table(X) and has_categories(X) else X
        if has_categories(X):  # whose codes may differ from frame to frame
            raise ValueError(
                f"X: categorical columns of {type(X).__module__.partition('.')[0]}; allowed before "
                "XGBoost 3: categories of pandas"
            )
        return to_pandas(X)
    if nwd.is_pandas_dataframe(X):
        return X
    return checked_matrix(X, accept_sparse=["csr"])


def _can_stay_in_parts(X: Any, given: Mapping[str, Any]) -> bool:
    """Numbers, of which XGBoost need not be told more."""
    if not isinstance(X, RowParts) or len(X.parts) < 2:
        return False
    first = X.parts[0]
    is_plain = not (nwd.is_into_dataframe(first) and has_categories(first))
    return is_plain and given["feature_types"] is None and given.get("feature_weights") is None


def _read_in_turn(parts: Sequence[Any], weight: Weights) -> Any:
    """An iterator of XGBoost's, which makes one matrix of the parts without joining them."""
    from xgboost import DataIter

    class Turns(DataIter):
        def __init__(self) -> None:
            super().__init__()
            self.reset()

        def next(self, input_data: Any) -> int:
            if self._at == len(parts):
                return 0
            part = parts[self._at]
            ends = self._row + part.shape[0]
            input_data(data=part, weight=None if weight is None else weight[self._row : ends])
            self._at, self._row = self._at + 1, ends
            return 1

        def reset(self) -> None:
            self._at, self._row = 0, 0

    return Turns()


def _takes_frames() -> bool:
    """From 3.0 on."""
    import xgboost

    return int(xgboost.__version__.partition(".")[0]) >= 3


def _pandas_categories(X: Any) -> list[list[Any]]:
    if not nwd.is_pandas_dataframe(X):
        return []
    columns = X.select_dtypes("category")
    return [list(columns[name].cat.categories) for name in columns]


def _with_categories(X: Any, categories: list[list[Any]] | None) -> Any:
    """The same codes for the same categories, which XGBoost before 3.1 does not see to."""
    names = list(X.select_dtypes("category"))
    if len(names) != len(categories or []):
        raise ValueError(
            f"X: {len(names)} categorical columns; allowed: {len(categories or [])}, as in training"
        )
    X = X.copy(deep=False)
    for name, levels in zip(names, categories or [], strict=True):
        X[name] = X[name].cat.set_categories(levels)
    return X


def _monotone_text(value: Any, columns: Columns | None) -> str:
    name = "monotone_constraints"
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        names = _feature_names(name, value, columns)
        value = [value.get(feature, 0) for feature in names]
    return f"({','.join(scalar_text(name, sign) for sign in value)})"


def _interaction_text(value: Any, columns: Columns | None) -> str:
    name = "interaction_constraints"
    if isinstance(value, str):
        return value
    sets = []
    for features in value:
        if any(isinstance(feature, str) for feature in features):
            names = _feature_names(name, features, columns)
            features = [names.index(feature) for feature in features]
        sets.append(f"[{','.join(scalar_text(name, feature) for feature in features)}]")
    return f"[{','.join(sets)}]"


def _feature_names(
    parameter: str, wanted: Sequence[str] | Mapping[str, Any], columns: Columns | None
) -> list[str]:
    names = [] if columns is None or columns.names is None else columns.names
    for feature in wanted:
        if feature not in names:
            allowed = ", ".join(map(repr, names)) or "numbers, since the features have no names"
            raise ValueError(f"{parameter}: {feature!r}; allowed: {allowed}")
    return names
