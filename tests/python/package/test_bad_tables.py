"""Tables, weights and models that no learner can take are refused alike, whoever would train."""

import re
from typing import Any

import numpy as np
import pytest
from bregboost import ConstrainedClassifier, ConstrainedRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from small_learners import BINARY, NUM_ROWS, SCORE, X, every_learner, make

# By LightGBM 4.0, of pandas' types.
pytestmark = pytest.mark.filterwarnings("ignore:np.find_common_type:DeprecationWarning")

TABLES = "allowed: a NumPy array, a DataFrame of pandas or polars, a pyarrow Table"
CITY = np.where(X[:, 0] > 0, "north", "south")
WHEN = np.datetime64("2024-05-17", "us") + np.arange(NUM_ROWS).astype("timedelta64[D]")


def with_column(container: str, values: Any) -> Any:
    """Two columns of numbers and, between them, the column `odd`."""
    columns = {"a": X[:, 0], "odd": values, "b": X[:, 1]}
    library = pytest.importorskip(container)
    return library.table(columns) if container == "pyarrow" else library.DataFrame(columns)


def refusal(learner: str, error: type, features: Any, parameters: Any = None, **fit: Any) -> str:
    """What `fit` says, nothing of which stays behind."""
    model = ConstrainedClassifier(make(learner), "fpr <= 20%").set_params(**parameters or {})
    with pytest.raises(error) as caught:
        model.fit(features, BINARY, **fit)
    assert [name for name in vars(model) if name.endswith("_") or name.startswith("_")] == []
    return str(caught.value)


@every_learner
@pytest.mark.parametrize(
    ("features", "given"),
    [
        (None, "None"),
        ({"a": X[:, 0]}, "dict"),
        ("rows", "str"),
        (7, "int"),
        (iter(X), "iterator"),
    ],
    ids=["none", "dict", "text", "number", "iterator"],
)
def test_what_is_no_table(learner, features, given):
    assert refusal(learner, TypeError, features).startswith(f"X: {given}; {TABLES}")
    evaluation = {"eval_set": (features, BINARY)}
    assert refusal(learner, TypeError, X, **evaluation).startswith(f"eval_set: {given}; {TABLES}")
    model = ConstrainedClassifier(make(learner)).fit(X, BINARY)
    with pytest.raises(TypeError, match=f"^X: {given}; {TABLES}"):
        model.predict(features)


@every_learner
def test_a_frame_that_was_not_collected(learner):
    frame = pytest.importorskip("polars").DataFrame(X).lazy()
    assert re.match(rf"X: LazyFrame; {TABLES}.*collect\(\)", refusal(learner, TypeError, frame))


@every_learner
def test_two_columns_of_one_name(learner):
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "a", "c"])
    assert refusal(learner, ValueError, frame) == "X: 2 columns 'a'; allowed: distinct names"


@every_learner
@pytest.mark.parametrize("container", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    ("values", "kind"), [(WHEN, "dates"), (WHEN - WHEN[0], "durations"), (CITY, "text")]
)
def test_columns_that_are_no_features(learner, container, values, kind):
    frame = with_column(container, values)
    start = f"X: column 'odd' of {kind}; allowed for {type(make(learner)).__name__}: numbers"
    assert refusal(learner, ValueError, frame).startswith(start)
    model = ConstrainedClassifier(make(learner)).fit(with_column(container, X[:, 2]), BINARY)
    with pytest.raises(ValueError, match=f"^{start}"):
        model.predict(frame)


@every_learner
def test_columns_of_lists(learner):
    frame = with_column("polars", [[1, 2]] * NUM_ROWS)
    assert refusal(learner, ValueError, frame).startswith("X: column 'odd' of the type List(")


@pytest.mark.parametrize(
    ("learner", "parameters"), [("linear", {}), ("xgboost", {"enable_categorical": False})]
)
def test_categories_where_they_are_no_features(learner, parameters):
    frame = with_column("pandas", CITY)
    frame["odd"] = frame["odd"].astype("category")
    message = refusal(learner, ValueError, frame, {"estimator": make(learner, **parameters)})
    assert message.startswith("X: column 'odd' of categories; allowed for ")
    hint = "; with enable_categorical=True: categories, too" if learner == "xgboost" else ""
    assert message.endswith(f": numbers, truth values{hint}")


def test_linear_models_read_numbers_that_are_text():
    frame = with_column("pandas", [str(value) for value in X[:, 2]])
    numbers = with_column("pandas", X[:, 2])
    read, expected = (
        ConstrainedClassifier(make("linear"), "fpr <= 20%").fit(rows, BINARY)
        for rows in (frame, numbers)
    )
    np.testing.assert_array_equal(read.estimator_.coef_, expected.estimator_.coef_)


@every_learner
def test_arrays_that_are_no_numbers(learner):
    mixed = X.astype(object)
    mixed[3, 1] = "north"
    start = "X: 'north' in row 3, column 1; allowed: numbers"
    assert refusal(learner, ValueError, mixed).startswith(start)
    dates = np.column_stack([WHEN, WHEN])
    assert "values of the type datetime64[us]" in refusal(learner, ValueError, dates)


@every_learner
@pytest.mark.parametrize("field", ["sample_weight", "rate_weight"])
@pytest.mark.parametrize("container", ["list", "numpy", "pandas", "polars"])
def test_weights_that_are_text(learner, field, container):
    weights: Any = ["heavy"] * NUM_ROWS
    if container == "numpy":
        weights = np.array(weights)
    elif container != "list":
        weights = pytest.importorskip(container).Series(weights)
    message = refusal(learner, ValueError, X, **{field: weights})
    assert message == f"{field}: 'heavy' in row 0; allowed: numbers"


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        (["1"] * NUM_ROWS, ValueError, "sample_weight: '1' in row 0; allowed: numbers"),
        ("balanced", TypeError, "sample_weight: 'balanced' (str); allowed: numbers"),
        ({0: 1.0}, TypeError, "sample_weight: {0: 1.0} (dict); allowed: numbers"),
        (WHEN, ValueError, "sample_weight: values of the type datetime64[us]; allowed: numbers"),
    ],
    ids=["digits", "word", "dict", "dates"],
)
def test_other_weights_that_are_no_numbers(weights, error, message):
    assert refusal("linear", error, X, sample_weight=weights) == message


@every_learner
def test_targets_that_are_text(learner):
    model = ConstrainedRegressor(make(learner, "regression"))
    with pytest.raises(ValueError, match=r"^y: '(north|south)' in row 0; allowed: numbers"):
        model.fit(X, CITY)
    assert "estimator_" not in vars(model)
    assert model.fit(X, SCORE.tolist()).predict(X).shape == (NUM_ROWS,)


@every_learner
@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (b"fnr <= 5%", "constraints: b'fnr <= 5%' (bytes); allowed: text such as 'fnr <= 5%'"),
        ([b"fnr <= 5%"], "constraints[0]: b'fnr <= 5%' (bytes); allowed: text such as"),
        (bytearray(b"fnr"), "constraints: bytearray(b'fnr') (bytearray); allowed: text such as"),
    ],
)
def test_constraints_of_bytes(learner, constraints, message):
    assert refusal(learner, TypeError, X, {"constraints": constraints}).startswith(message)


@every_learner
@pytest.mark.parametrize("kind", ["lightgbm", "xgboost", "linear", "own"])
def test_baselines_that_are_not_fitted(learner, kind):
    baseline = ConstrainedClassifier("linear") if kind == "own" else make(kind)
    parameters = {"baseline": baseline, "constraints": "disagreement <= 5%"}
    name = type(baseline).__name__
    assert refusal(learner, NotFittedError, X, parameters) == (
        f"baseline: {name} that is not fitted; allowed: a fitted model with predict()"
    )


@every_learner
def test_other_baselines_that_cannot_predict(learner):
    narrow = {"baseline": LogisticRegression().fit(X[:, :2], BINARY)}
    message = refusal(learner, ValueError, X, narrow)
    assert message.startswith("baseline: LogisticRegression that cannot predict X; allowed: ")
    assert "X has 4 features" in message
    message = refusal(learner, TypeError, X, {"baseline": LogisticRegression})
    assert message.startswith("baseline: the class LogisticRegression; allowed: a fitted model")


@every_learner
@pytest.mark.parametrize(
    ("y", "pos_label", "allowed"),
    [
        (BINARY, 7, "'0', '1'"),
        (np.where(BINARY, "bad", "good"), "Bad", "'bad', 'good'"),
        (np.digitize(SCORE, [-0.5, 0.5]), 2, "None, with the classes '0', '1', '2'"),
    ],
    ids=["numbers", "texts", "three"],
)
def test_positive_classes_that_do_not_occur(learner, y, pos_label, allowed):
    model = ConstrainedClassifier(make(learner), pos_label=pos_label)
    expected = f"^pos_label: {pos_label!r}; allowed: {allowed}$"
    with pytest.raises(ValueError, match=expected):
        model.fit(X, y)
    assert "estimator_" not in vars(model)
