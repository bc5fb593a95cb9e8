"""Labels, groups and weights of any kind, as codes and numbers."""

import datetime
import re
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from bregboost._features import feature_names, n_rows
from bregboost._rows import (
    GroupColumn,
    check_index,
    check_weights,
    distinct_values,
    encode_groups,
    encode_labels,
    positive_code,
    recode_labels,
    take_rows,
)
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets


def pandas_series(dtype: str | None) -> Callable[[list], object]:
    pandas = pytest.importorskip("pandas")
    if dtype is not None and "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    return lambda values: pandas.Series(values, dtype=dtype)


def polars_series(dtype: str | None) -> Callable[[list], object]:
    polars = pytest.importorskip("polars")
    kind = getattr(polars, dtype) if dtype else None
    return lambda values: polars.Series("", values, dtype=kind)


def arrow_column(is_dictionary: bool) -> Callable[[list], object]:
    pyarrow = pytest.importorskip("pyarrow")

    def make(values: list) -> object:
        array = pyarrow.array(values)
        return pyarrow.chunked_array([array.dictionary_encode() if is_dictionary else array])

    return make


CONTAINERS = {
    "list": lambda: list,
    "tuple": lambda: tuple,
    "object": lambda: lambda values: np.array(values, dtype=object),
    "pandas": lambda: pandas_series(None),
    "pandas object": lambda: pandas_series("object"),
    "pandas category": lambda: pandas_series("category"),
    "polars": lambda: polars_series(None),
    "pyarrow": lambda: arrow_column(False),
}
TEXT = CONTAINERS | {
    "pandas string": lambda: pandas_series("string"),
    "pandas pyarrow": lambda: pandas_series("string[pyarrow]"),
    "polars category": lambda: polars_series("Categorical"),
    "pyarrow dictionary": lambda: arrow_column(True),
}
WHOLE_NUMBERS = CONTAINERS | {
    "pandas nullable": lambda: pandas_series("Int64"),
    "pandas pyarrow": lambda: pandas_series("int64[pyarrow]"),
}


@pytest.mark.parametrize("make", TEXT.values(), ids=TEXT.keys())
def test_text_labels_of_any_kind(make):
    labels = encode_labels(make()(["no", "yes", "maybe", "yes"]))
    assert labels.classes.tolist() == ["maybe", "no", "yes"] == labels.texts
    assert labels.codes.tolist() == [1, 2, 0, 2]
    assert labels.codes.dtype == np.int32


@pytest.mark.parametrize("make", WHOLE_NUMBERS.values(), ids=WHOLE_NUMBERS.keys())
def test_whole_number_labels_of_any_kind(make):
    labels = encode_labels(make()([10, 9, 10]))
    assert labels.classes.dtype.kind == "i"
    assert (labels.classes.tolist(), labels.texts) == ([9, 10], ["9", "10"])
    assert labels.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("y", "texts"),
    [
        (np.array([1.0, 0.0, 1.0]), ["0", "1"]),
        (np.array([1, 0, 1], dtype=np.int8), ["0", "1"]),
        (np.array([True, False, True]), ["False", "True"]),
        (np.array(["b", "a", "b"]), ["a", "b"]),
        (np.array(["b", "a", "b"], dtype=object), ["a", "b"]),
    ],
)
def test_classes_keep_their_dtype(y, texts):
    labels = encode_labels(y)
    assert labels.classes.dtype == y.dtype
    assert labels.texts == texts
    np.testing.assert_array_equal(labels.classes[labels.codes], y)


def test_a_column_of_labels_warns_as_scikit_learn_does():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        labels = encode_labels(np.array([[1], [0]]))
    assert labels.codes.tolist() == [1, 0]


def test_a_frame_of_one_column_warns_as_scikit_learn_does():
    pandas = pytest.importorskip("pandas")
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        labels = encode_labels(pandas.DataFrame({"y": ["b", "a"]}))
    assert labels.codes.tolist() == [1, 0]


@pytest.mark.parametrize("make", TEXT.values(), ids=TEXT.keys())
def test_missing_labels_are_refused(make):
    with pytest.raises(ValueError, match=r"^Input y contains NaN\.$"):
        encode_labels(make()(["a", None, "b"]))


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        ([0.0, np.nan, 1.0], ValueError, "Input y contains NaN"),
        (["a", np.nan, "b"], ValueError, "Input y contains NaN"),
        ([0.0, np.inf, 1.0], ValueError, "Input y contains infinity"),
        ([0.5, 0.1, 0.2], ValueError, "Unknown label type"),
        ([[1, 0], [0, 1]], ValueError, "y should be a 1d array"),
        (None, ValueError, "y should be a 1d array"),
        ([3, 3], ValueError, "y: one class, '3'; allowed: labels of two or more classes"),
        (["a", 1], TypeError, "y: labels of the types int, str; allowed: all text, or all numbers"),
        ([datetime.date(2020, 1, 1)] * 2, TypeError, "y: labels of the types date; allowed"),
    ],
)
def test_bad_labels(y, error, message):
    with pytest.raises(error, match=re.escape(message)):
        encode_labels(y)


def test_labels_of_other_rows():
    labels = encode_labels([0, 1, 2])
    assert recode_labels(np.array([2.0, 2.0]), labels, "baseline").tolist() == [2, 2]
    with pytest.raises(ValueError, match=r"^baseline: class '3'; allowed: '0', '1', '2'$"):
        recode_labels([3, 0], labels, "baseline")
    with pytest.raises(ValueError, match=r"^Input baseline contains NaN"):
        recode_labels([np.nan, 0], labels, "baseline")


@pytest.mark.parametrize(
    ("y", "pos_label", "code"),
    [
        (["no", "yes"], None, 1),
        (["no", "yes"], "no", 0),
        ([0, 1], "0", 0),
        ([0, 1], 0.0, 0),
        ([0, 1], True, 1),
        (["0", "1"], 0, 0),
        ([False, True], 0, 0),
        ([False, True], "False", 0),
        ([1.0, 2.0], np.int64(1), 0),
        ([0, 1, 2], None, 1),
    ],
)
def test_positive_class_by_value_or_text(y, pos_label, code):
    assert positive_code(encode_labels(y), pos_label) == code


@pytest.mark.parametrize(
    ("y", "pos_label", "message"),
    [
        (["no", "yes"], "Yes", "pos_label: 'Yes'; allowed: 'no', 'yes'"),
        ([0, 1], 2, "pos_label: 2; allowed: '0', '1'"),
        ([0, 1, 2], 2, "pos_label: 2; allowed: None, with the classes '0', '1', '2'"),
    ],
)
def test_bad_positive_class(y, pos_label, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        positive_code(encode_labels(y), pos_label)


def one_group(column: object, name: str = "sex", rows: int | None = None) -> GroupColumn:
    (group,) = encode_groups([name], {name: column}, None, rows or len(column))
    assert group.codes.dtype == np.int32
    return group


def texts_of(group: GroupColumn) -> list[str]:
    return [group.levels[code] for code in group.codes]


@pytest.mark.parametrize("make", TEXT.values(), ids=TEXT.keys())
def test_text_groups_of_any_kind(make):
    group = one_group(make()(["M", None, "F", "M"]))
    assert group.levels == ["F", "M", "<missing>"]
    assert texts_of(group) == ["M", "<missing>", "F", "M"]


@pytest.mark.parametrize("make", WHOLE_NUMBERS.values(), ids=WHOLE_NUMBERS.keys())
def test_whole_number_groups_of_any_kind(make):
    group = one_group(make()([10, None, 9]))
    assert group.levels == ["9", "10", "<missing>"]
    assert texts_of(group) == ["10", "<missing>", "9"]


@pytest.mark.parametrize(
    ("column", "texts", "levels"),
    [
        (np.array([2.0, np.nan, 0.5]), ["2", "<missing>", "0.5"], ["0.5", "2", "<missing>"]),
        (np.array([True, False]), ["True", "False"], ["False", "True"]),
        (np.array(["10", "9"]), ["10", "9"], ["9", "10"]),
        (np.array(["10", "9", "x"]), ["10", "9", "x"], ["10", "9", "x"]),
        (["a", float("nan")], ["a", "<missing>"], ["a", "<missing>"]),
        ([1, "1", 1.0], ["1", "1", "1"], ["1"]),
        ([None, None], ["<missing>"] * 2, ["<missing>"]),
        (np.array(["2020-01-02", "NaT"], "M8[D]"), ["2020-01-02", "<missing>"], None),
        (np.ma.masked_array([1, 2], mask=[True, False]), ["<missing>", "2"], None),
        (np.array([2**53 + 1, 2**53]), [str(2**53 + 1), str(2**53)], None),
    ],
)
def test_group_values(column, texts, levels):
    group = one_group(column)
    assert texts_of(group) == texts
    assert levels is None or group.levels == levels


def test_missing_values_of_pandas():
    pandas = pytest.importorskip("pandas")
    column = pandas.Series([pandas.NA, pandas.NaT, None, np.nan, "a"], dtype=object)
    assert texts_of(one_group(column)) == ["<missing>"] * 4 + ["a"]
    assert texts_of(one_group(column.to_numpy())) == ["<missing>"] * 4 + ["a"]


FRAMES = {
    "pandas": lambda: pytest.importorskip("pandas").DataFrame,
    "polars": lambda: pytest.importorskip("polars").DataFrame,
    "pyarrow": lambda: pytest.importorskip("pyarrow").table,
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_groups_are_looked_up_before_the_features(frame):
    X = frame()({"age": [1, 2], "sex": ["x", "x"]})
    groups = encode_groups(["age", "sex"], frame()({"sex": ["F", "M"]}), X, 2)
    assert [(group.name, texts_of(group)) for group in groups] == [
        ("age", ["1", "2"]),
        ("sex", ["F", "M"]),
    ]


@pytest.mark.parametrize("make", [list, np.array, lambda values: np.array(values)[:, None]])
def test_a_column_without_a_name_is_the_one_that_is_named(make):
    (group,) = encode_groups(["sex"], make(["F", "M"]), None, 2)
    assert texts_of(group) == ["F", "M"]


def test_a_series_is_found_by_its_name():
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(["F", "M"], name="sex")
    assert texts_of(encode_groups(["sex"], column, None, 2)[0]) == ["F", "M"]
    with pytest.raises(ValueError, match="no column 'gender', which a constraint names; allowed:"):
        encode_groups(["gender"], column, None, 2)
    unnamed = column.rename(None)
    assert texts_of(encode_groups(["gender"], unnamed, None, 2)[0]) == ["F", "M"]


def test_columns_are_named_by_text():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({3: ["F", "M"]})
    assert texts_of(encode_groups(["3"], None, X, 2)[0]) == ["F", "M"]


def test_no_names_need_no_groups():
    assert encode_groups([], None, None, 2) == []
    assert encode_groups([], np.zeros((2, 2)), None, 2) == []


@pytest.mark.parametrize(
    ("names", "given", "message"),
    [
        (
            ["sx"],
            {"sex": [0, 0], "race": [0, 0]},
            "sensitive_features: no column 'sx', which a constraint names; allowed: 'sex', 'race' "
            "in sensitive_features; near: 'sex'",
        ),
        (
            ["sex"],
            None,
            "sensitive_features: no column 'sex', which a constraint names; allowed: a DataFrame "
            "or a dict with this column",
        ),
        (["sex"], {"sex": [1, 2, 3]}, "sensitive_features['sex']: 3 rows; allowed: 2, as in X"),
        (
            ["sex", "race"],
            [0, 1],
            "sensitive_features: one column without a name; allowed: a DataFrame or a dict with "
            "the columns 'sex', 'race', which the constraints name",
        ),
        (
            ["sex", "race"],
            np.zeros((2, 2)),
            "sensitive_features: an array of shape (2, 2); allowed: a DataFrame or a dict, whose "
            "columns have names, or an array of one column",
        ),
    ],
)
def test_bad_groups(names, given, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        encode_groups(names, given, None, 2)


def test_group_values_that_are_no_single_values():
    with pytest.raises(TypeError, match=r"sensitive_features\['sex'\].*allowed: single values"):
        one_group(np.array([[1], [1, 2]], dtype=object))


def test_columns_of_the_features_are_named_in_the_message():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({f"x{i}": [0.0] for i in range(30)})
    with pytest.raises(ValueError, match=r"'x0', .*'x19' and 10 more in X; near: 'x2"):
        encode_groups(["x_2"], {}, X, 1)


def test_two_columns_of_one_name():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame([[1, 2, 3]], columns=["a", "a", "b"])
    assert texts_of(encode_groups(["b"], None, X, 1)[0]) == ["3"]
    with pytest.raises(ValueError, match=r"^X: two columns 'a'; allowed: distinct names$"):
        encode_groups(["a"], None, X, 1)


def test_indices_that_disagree_are_named():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": [1, 2]}, index=[5, 6])
    y = pandas.Series([0, 1], index=[6, 5])
    with pytest.warns(UserWarning, match=r"^X and y have different indices; rows are matched by"):
        check_index({"X": X, "y": y})
    with pytest.warns(UserWarning, match=r"^X and sensitive_features\['sex'\] have"):
        check_index({"X": X, "y": [0, 1], "sensitive_features": {"sex": y}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_index({"X": X, "y": y.to_numpy(), "sample_weight": X["a"], "none": None})


@pytest.mark.parametrize("make", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_weights_of_any_kind(make):
    weights = check_weights(make()([1, 2, 0]), 3)
    assert weights.dtype == np.float64
    assert weights.tolist() == [1.0, 2.0, 0.0]


def test_weights_that_are_one_number_or_none():
    assert check_weights(None, 2) is None
    assert check_weights(np.float32(0.5), 2).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, np.nan], "Input rate_weight contains NaN"),
        ([1.0, np.inf], "Input rate_weight contains infinity"),
        (np.nan, "Input rate_weight contains NaN"),
        ([1.0, -2.0], "rate_weight: -2.0 in row 1; allowed: weights of at least 0"),
        ([0.0, 0.0], "rate_weight: all zero; allowed: at least one positive weight"),
        ([1.0], "rate_weight: shape (1,); allowed: a number, or one weight for each of the 2 rows"),
        (np.ones((2, 1)), "rate_weight: shape (2, 1); allowed"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        check_weights(weights, 2, "rate_weight")


def test_missing_weights_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="Input sample_weight contains NaN"):
        check_weights(pandas.Series([1, None], dtype="Int64"), 2)


def as_array(X: object) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


TABLES = {
    name: lambda frame=frame: lambda X: frame()({"a": X[:, 0], "b": X[:, 1]})
    for name, frame in FRAMES.items()
} | {
    "numpy": lambda: lambda X: X,
    "list": lambda: lambda X: X.tolist(),
    "csr": lambda: sparse.csr_matrix,
    "csc array": lambda: sparse.csc_array,
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES.keys())
def test_rows_of_features_of_any_kind(make):
    X = np.arange(8.0).reshape(4, 2)
    table = make()(X)
    assert n_rows(table) == 4
    taken = take_rows(table, np.array([3, 0]))
    assert type(taken) is type(table) or sparse.issparse(table)
    np.testing.assert_array_equal(as_array(taken), X[[3, 0]])


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_feature_names(frame):
    assert feature_names(frame()({"a": [1], "b": [2]})) == ["a", "b"]


def test_features_without_names():
    pandas = pytest.importorskip("pandas")
    assert feature_names(np.zeros((1, 2))) is None
    assert feature_names(pandas.DataFrame({0: [1], 1: [2]})) is None
    with pytest.raises(TypeError, match=r"^X: column names of the types int, str; allowed: text"):
        feature_names(pandas.DataFrame({0: [1], "b": [2]}))


def test_features_that_have_no_rows_to_count():
    with pytest.raises(TypeError, match=r"^X: str; allowed: a NumPy array"):
        n_rows("rows")


@pytest.mark.parametrize(
    "values",
    [
        np.array([3, 1, 3, 7], dtype=np.uint8),
        np.array([-100, 100, -100], dtype=np.int8),  # their distance is no int8
        np.array([True, False, True]),
        np.array([2.0, -1.0, 2.0], dtype=np.float32),
        np.array([0.5, 1.0, 0.5]),
        np.array([1.0, np.nan, 1.0]),
        np.array([1.0, np.inf, -np.inf]),
        np.array([2**63, 2**63 + 1], dtype=np.uint64),
        np.array([-(2**63), 5], dtype=np.int64),
        np.array([1000, 1001, 1000]),
        np.array(["b", "a", "b"]),
        np.array([], dtype=np.int64),
        np.array(["2020-01-02", "2020-01-01"], dtype="datetime64[D]"),
    ],
    ids=str,
)
def test_distinct_values_are_those_of_numpy(values: np.ndarray) -> None:
    distinct, codes = distinct_values(values)
    expected, expected_codes = np.unique(values, return_inverse=True)
    assert distinct.dtype == expected.dtype
    np.testing.assert_array_equal(distinct, expected)
    np.testing.assert_array_equal(codes, expected_codes)


def test_integers_that_are_hardly_ever_equal_are_warned_of_as_in_scikit_learn() -> None:
    targets = np.arange(50)
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        check_classification_targets(targets)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        encode_labels(targets)
    assert [str(w.message) for w in seen] == [str(w.message) for w in expected]
