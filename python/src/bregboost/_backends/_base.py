"""What the backends share: their interface, and small translations that none of them owns."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar, Literal

import narwhals as nw
import narwhals.dependencies as nwd
import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight

from bregboost._features import naming_what_is_no_number
from bregboost._rows import Labels

Task = Literal["classification", "regression"]
Weights = npt.NDArray[np.float64] | None

# The parameter got its new name in scikit-learn 1.6 and lost the old one in 1.8.
_ALLOW_NAN = {
    "ensure_all_finite"
    if "ensure_all_finite" in signature(check_array).parameters
    else "force_all_finite": False
}


@dataclass(frozen=True)
class Columns:
    """What a fitted estimator knows of its features beside the model; it can be pickled."""

    n_features: int
    names: list[str] | None = None  # None: the features have none
    types: list[str] | None = None  # XGBoost's feature types
    categories: list[list[Any]] | None = None  # of each categorical column of a DataFrame


@dataclass(frozen=True, eq=False)
class Data:
    """Features as the core takes them."""

    handle: int  # of the library's own data set; 0 for arrays
    keep: Any  # owns what `handle` points to; for linear models the array or CSR matrix itself
    n_rows: int
    columns: Columns

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.columns.n_features


class Backend(ABC):
    """One kind of estimator: how the core trains it, and how it comes back as a plain one.

    Raises `ValueError` for parameters that a training under constraints cannot honour.
    """

    name: ClassVar[str]
    # By task: the package and the class of the estimator.
    estimators: ClassVar[Mapping[Task, tuple[str, str]]]
    # Subclasses of those that are something else, and why they are refused.
    refused: ClassVar[Mapping[str, str]]

    def __init__(self, estimator: Any, task: Task) -> None:
        self.estimator = estimator
        self.task = task

    @abstractmethod
    def check_features(self, X: Any, field: str = "X") -> None:
        """Refuse tables that the estimator cannot take; `field` is what messages call them."""

    @abstractmethod
    def library(self) -> str:
        """Path of the shared library that Python has loaded; empty if there is none."""

    @abstractmethod
    def make_data(self, X: Any, *, weight: Weights = None, reference: Data | None = None) -> Data:
        """Features for the core.

        Parameters
        ----------
        X : features
        weight : array or None
            Where the library bins by weight (XGBoost), the training weights.
        reference : Data or None
            The training data, whose bins and categories held-out rows share.
        """

    @abstractmethod
    def loss_options(self) -> dict[str, str | float]:
        """The loss: ``kind`` and, for Huber's, ``huber_delta``."""

    @abstractmethod
    def sample_weight(self, labels: Labels | None, sample_weight: Weights) -> Weights:
        """Weights for the loss: those of the rows times what the estimator gives to classes.

        Rates have the weights of the rows alone.
        """

    @abstractmethod
    def rebuild(self, model: Any, columns: Columns, classes: npt.NDArray[Any] | None) -> Any:
        """A clone of the estimator that is fitted with this model.

        Parameters
        ----------
        model : bytes or LinearModel
        columns : Columns
            Of the training data.
        classes : array or None
            In the order of their codes; None for a regression.
        """

    @abstractmethod
    def raw_scores(self, fitted: Any, X: Any) -> npt.NDArray[np.float64]:
        """Scores by the stock library: (n,) for two classes and regression, (n, K) for K."""


class TreeBackend(Backend):
    """A backend whose library has parameters and binned data of its own."""

    @abstractmethod
    def parameters(self, columns: Columns | None = None) -> dict[str, str]:
        """The estimator's parameters under the library's names, save for the objective.

        `columns` are needed where a parameter names features. Class weights are not among them:
        see `sample_weight`.
        """


def checked_matrix(X: Any, accept_sparse: list[str], min_rows: int = 1) -> Any:
    """An array or a SciPy sparse matrix of numbers, which may be missing or infinite."""
    with naming_what_is_no_number(X):
        X = check_array(
            X,
            accept_sparse=accept_sparse,
            ensure_min_samples=min_rows,
            input_name="X",
            **_ALLOW_NAN,
        )
    if not sparse.issparse(X):
        return X
    # The old libraries do not know sparse arrays; nothing is copied.
    return sparse.csc_matrix(X) if X.format == "csc" else sparse.csr_matrix(X)


def is_other_frame(X: object) -> bool:
    """Whether it is a frame, and not one of pandas."""
    return nwd.is_into_dataframe(X) and not nwd.is_pandas_dataframe(X)


def has_categories(X: Any) -> bool:
    """Whether a frame has categorical columns."""
    dtypes = nw.from_native(X, eager_only=True).schema.dtypes()
    return any(dtype in (nw.Categorical, nw.Enum) for dtype in dtypes)


def to_pandas(X: Any) -> Any:
    """A frame of pandas, with categories where there were some."""
    return nw.from_native(X, eager_only=True).to_pandas()


def without_arrow_numbers(X: Any) -> Any:
    """The same pandas frame with NumPy's floats in place of numbers that Arrow keeps."""
    frame = nw.from_native(X, eager_only=True)
    changed = None
    for position, dtype in enumerate(X.dtypes):
        is_number = frame[:, position].dtype.is_numeric() or frame[:, position].dtype == nw.Boolean
        if is_number and hasattr(dtype, "pyarrow_dtype"):
            changed = X.copy(deep=False) if changed is None else changed
            values = X.iloc[:, position].to_numpy(dtype=np.float64, na_value=np.nan)
            changed.isetitem(position, values)
    return X if changed is None else changed


def class_weights(
    class_weight: object, labels: Labels, sample_weight: Weights = None
) -> npt.NDArray[np.float64]:
    """The weight of each class; balanced ones count the rows by `sample_weight`, if given."""
    if isinstance(class_weight, Mapping):
        known = labels.classes.tolist()
        for value in class_weight:
            if value not in known:
                raise ValueError(
                    f"class_weight: class {value!r}; allowed: {', '.join(map(repr, known))}"
                )
        return np.array([class_weight.get(value, 1.0) for value in known], dtype=np.float64)
    if class_weight != "balanced":
        raise ValueError(
            f"class_weight: {class_weight!r}; allowed: None, 'balanced', or a dict of the labels"
        )
    weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
    y = labels.classes[labels.codes]
    return compute_class_weight("balanced", classes=labels.classes, y=y, **weighted)


def times_class_weights(
    labels: Labels, sample_weight: Weights, of_class: npt.NDArray[np.float64]
) -> Weights:
    """Row weights times class weights; None stays where every class has the weight 1."""
    if (of_class == 1.0).all():
        return sample_weight
    of_row = of_class[labels.codes]
    return of_row if sample_weight is None else sample_weight * of_row


def scalar_text(name: str, value: Any) -> str:
    """A single value of a parameter as the libraries read it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, float, np.number)):
        return repr(value.item() if isinstance(value, np.number) else value)
    if isinstance(value, str) or hasattr(value, "__fspath__"):
        return str(value)
    raise TypeError(
        f"{name}: {value!r} ({type(value).__name__}); allowed: text, numbers, and lists of them"
    )


def refuse_functions(name: str, value: object) -> None:
    """Functions of Python have no place in the training loop."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    if any(callable(part) for part in parts):
        raise ValueError(
            f"{name}: {value!r}; allowed: no functions (training does not call back into Python)"
        )


def drawn_seed(random_state: Any) -> Any:
    """A number in place of a generator, drawn as LightGBM and XGBoost draw it."""
    largest = np.iinfo(np.int32).max
    draw: Callable[[int], Any]
    if isinstance(random_state, np.random.RandomState):
        draw = random_state.randint
    elif isinstance(random_state, np.random.Generator):
        draw = random_state.integers
    else:
        return random_state
    return int(draw(largest))
