"""The same values in any container make the same model."""

from typing import Any

import numpy as np
import pytest
from backend_cases import CITIES, CITY, FEATURES, NUMBERS, TARGETS, with_other_codes
from bregboost import ConstrainedClassifier
from scipy import sparse
from small_learners import every_learner, make

# By LightGBM 4.0 and XGBoost 2.1, of pandas' own types.
pytestmark = [
    pytest.mark.filterwarnings("ignore:np.find_common_type:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:is_sparse is deprecated"),
    pytest.mark.filterwarnings("ignore:is_categorical_dtype is deprecated"),
]

Y = TARGETS["binary"]
LIMIT = "fnr <= 15%"
TREES = pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])


def fitted(
    learner: str, rows: Any, y: Any = Y, limit: str = LIMIT, rounds: int = 20, **fit: Any
) -> Any:
    settings = {"n_estimators": rounds} if learner != "linear" else {}
    if learner == "xgboost":
        settings["enable_categorical"] = True
    return ConstrainedClassifier(make(learner, **settings), limit, pos_label="yes").fit(
        rows, y, **fit
    )


@TREES
@pytest.mark.parametrize(
    "container", ["float32", "list", "pandas", "pandas arrow", "polars", "pyarrow"]
)
def test_missing_values_in_every_container(learner, container):
    rows = FEATURES[container]()
    numbers = NUMBERS.astype(np.float32) if container == "float32" else NUMBERS
    model, expected = fitted(learner, rows), fitted(learner, numbers)
    np.testing.assert_allclose(
        model.predict_proba(rows), expected.predict_proba(numbers), rtol=0, atol=1e-7
    )
    np.testing.assert_array_equal(model.predict(rows), expected.predict(numbers))
    assert model.report_.to_dict()["constraints"] == expected.report_.to_dict()["constraints"]
    if container not in ("float32", "list"):
        assert model.feature_names_in_.tolist() == list("abcd")


@pytest.mark.parametrize("container", ["float32", "list", "pandas", "polars", "pyarrow"])
def test_linear_models_of_every_container(container):
    numbers = np.nan_to_num(NUMBERS).astype(np.float32).astype(float)
    containers = {
        "float32": lambda: numbers.astype(np.float32, order="F"),
        "list": numbers.tolist,
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(numbers, columns=list("abcd")),
        "polars": lambda: pytest.importorskip("polars").DataFrame(numbers, schema=list("abcd")),
        "pyarrow": lambda: pytest.importorskip("pyarrow").table(
            {name: numbers[:, i] for i, name in enumerate("abcd")}
        ),
    }
    rows = containers[container]()
    np.testing.assert_allclose(
        fitted("linear", rows).predict_proba(rows),
        fitted("linear", numbers).predict_proba(numbers),
        rtol=0,
        atol=1e-9,
    )


@every_learner
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array])
def test_sparse_matrices(learner, kind):
    dense = np.where(np.abs(np.nan_to_num(NUMBERS)) < 0.5, 0.0, np.nan_to_num(NUMBERS))
    model = fitted(learner, kind(dense))
    assert model.status_ in ("satisfied", "violated")
    proba = model.predict_proba(kind(dense))
    np.testing.assert_allclose(model.predict_proba(sparse.csr_matrix(dense)), proba, atol=1e-9)
    if learner == "linear":  # trees take what is not stored for missing, or bin it otherwise
        np.testing.assert_allclose(
            proba, fitted(learner, dense).predict_proba(dense), rtol=0, atol=1e-9
        )
    else:
        assert model.score(kind(dense), Y) > 0.7


@TREES
@pytest.mark.parametrize("container", ["pandas categorical", "pandas nullable"])
def test_categories_and_nullable_numbers(learner, container):
    rows = FEATURES[container]()
    model = fitted(learner, rows)
    assert model.feature_names_in_.tolist() == list(rows.columns)
    np.testing.assert_array_equal(
        model.predict(rows) == "yes",
        model.estimator_.predict(rows) == (1 if learner == "xgboost" else "yes"),
    )
    if container == "pandas categorical":
        recoded = with_other_codes(rows)
        if learner == "xgboost" and not hasattr(model.estimator_.get_booster(), "get_categories"):
            pytest.skip("XGBoost before 3.1 takes the codes of a frame as they are")
        np.testing.assert_array_equal(model.predict_proba(recoded), model.predict_proba(rows))


# XGBoost leaves behind what codes stand for where rounds are taken back.
@TREES
@pytest.mark.parametrize("limit", ["fnr <= 20%", "gap(selection_rate, by=sex) <= 5%"])
def test_categories_stay_known_where_rounds_are_taken_back(learner, limit):
    rows = FEATURES["pandas categorical"]()
    sex = np.where(np.arange(len(Y)) % 3 == 0, "F", "M")
    model = fitted(learner, rows, limit=limit, rounds=80, sensitive_features={"sex": sex})
    assert model.report_.to_dict()["rounds_kept"] < 80
    if learner == "xgboost" and not hasattr(model.estimator_.get_booster(), "get_categories"):
        pytest.skip("XGBoost before 3.1 takes the codes of a frame as they are")
    recoded = with_other_codes(rows)
    np.testing.assert_array_equal(model.predict_proba(recoded), model.predict_proba(rows))


@TREES
def test_evaluation_rows_with_other_codes_of_categories(learner):
    rows = FEATURES["pandas categorical"]()
    models = [
        fitted(learner, rows.iloc[:300], Y[:300], eval_set=(held_out, Y[300:]))
        for held_out in (rows.iloc[300:], with_other_codes(rows.iloc[300:]))
    ]
    np.testing.assert_array_equal(models[0].predict_proba(rows), models[1].predict_proba(rows))
    assert models[0].report_.to_dict()["constraints"] == models[1].report_.to_dict()["constraints"]


def labels_in(container: str) -> Any:
    if container == "list":
        return Y.tolist()
    if container == "polars":
        return pytest.importorskip("polars").Series("y", Y.tolist())
    pandas = pytest.importorskip("pandas")
    if container == "pandas":
        return pandas.Series(Y)
    if container == "pandas categorical":
        return pandas.Series(pandas.Categorical(Y, categories=["yes", "no"]))
    pytest.importorskip("pyarrow")
    return pandas.Series(Y.tolist(), dtype="string[pyarrow]")


@pytest.mark.parametrize(
    "container", ["list", "polars", "pandas", "pandas categorical", "pandas arrow"]
)
def test_labels_and_weights_in_every_container(container):
    rows = np.nan_to_num(NUMBERS)
    expected = fitted("linear", rows, sample_weight=1.0 + CITY)
    weight = 1.0 + CITY
    if container == "list":
        weight = weight.tolist()
    elif container == "polars":
        weight = pytest.importorskip("polars").Series("w", weight)
    else:
        weight = pytest.importorskip("pandas").Series(weight)
    model = fitted("linear", rows, labels_in(container), sample_weight=weight)
    np.testing.assert_array_equal(model.predict_proba(rows), expected.predict_proba(rows))
    assert model.classes_.tolist() == ["no", "yes"]


def groups_in(container: str) -> Any:
    city = CITIES[CITY].astype(object)
    city[:60] = None
    if container == "dict":
        return {"city": city}
    if container == "array":
        return city
    if container == "polars":
        return pytest.importorskip("polars").DataFrame({"city": city.tolist()})
    if container == "pyarrow":
        return pytest.importorskip("pyarrow").table({"city": city.tolist()})
    pandas = pytest.importorskip("pandas")
    if container == "pandas categorical":
        return pandas.DataFrame({"city": pandas.Categorical(city, categories=CITIES[::-1])})
    series = pandas.Series(city, name="city")
    return series if container == "pandas series" else series.to_frame()


@pytest.mark.parametrize(
    "container",
    ["array", "pandas", "pandas series", "pandas categorical", "polars", "pyarrow"],
)
def test_groups_in_every_container(container):
    rows = np.nan_to_num(NUMBERS)
    limit = "max(error, by=city) <= 40%"

    def model(groups: Any) -> Any:
        found = ConstrainedClassifier(make("linear"), limit)
        return found.fit(rows, Y, sensitive_features=groups)

    expected, found = model(groups_in("dict")), model(groups_in(container))
    np.testing.assert_array_equal(found.decision_function(rows), expected.decision_function(rows))
    groups = found.report_.to_dict()["constraints"][0]["groups"]
    assert [group["group"] for group in groups] == [
        *(f"city={city}" for city in CITIES),
        "city=<missing>",
    ]
    assert groups == expected.report_.to_dict()["constraints"][0]["groups"]


@TREES
def test_dictionaries_of_arrow_are_categories(learner):
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(NUMBERS, columns=list("abcdefgh")[: NUMBERS.shape[1]])
    frame["city"] = pandas.Categorical(CITIES[CITY])
    table = arrow.table({name: frame[name].to_numpy() for name in frame if name != "city"})
    table = table.append_column("city", arrow.array(CITIES[CITY]).dictionary_encode())
    if learner == "xgboost" and pytest.importorskip("xgboost").__version__.startswith("2."):
        with pytest.raises(ValueError, match=r"^X: categorical columns of pyarrow; allowed before"):
            fitted(learner, table)
        return
    np.testing.assert_allclose(
        fitted(learner, table).predict_proba(table),
        fitted(learner, frame).predict_proba(frame),
        rtol=0,
        atol=1e-7,
    )
