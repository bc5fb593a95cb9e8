"""Evaluation and certification rows: the features of the training rows, or an error."""

import numpy as np
import pandas as pd
import pytest
from bregboost import ConstrainedClassifier

# By LightGBM 4.0, of pandas' types.
pytestmark = pytest.mark.filterwarnings("ignore:np.find_common_type:DeprecationWarning")

LEARNERS = pytest.mark.parametrize("learner", ["lightgbm", "xgboost", "linear"])


def rows(count: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(count, 3)), columns=list("abc"))
    return X, (X["a"] + rng.logistic(size=count) > 0).to_numpy().astype(int)


@LEARNERS
@pytest.mark.parametrize("name", ["eval_set", "certify_set"])
@pytest.mark.parametrize("columns", [list("cba"), list("abd")])
def test_other_columns_are_refused(learner: str, name: str, columns: list[str]) -> None:
    X, y = rows(200, 0)
    other, labels = rows(100, 1)
    other = other[columns] if set(columns) == set("abc") else other.set_axis(columns, axis=1)
    model = ConstrainedClassifier(learner, "fnr <= 30%")
    with pytest.raises(ValueError, match=f"^{name}: other features than the training rows"):
        model.fit(X, y, **{name: (other, labels)})
    assert not hasattr(model, "estimator_")


def test_certify_without_limits_is_a_warning() -> None:
    X, y = rows(100, 2)
    with pytest.warns(UserWarning, match="certify: given without constraints"):
        ConstrainedClassifier("linear", certify=0.3).fit(X, y)
