"""Estimators that train in no time, and the rows of the estimators' tests."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

LEARNERS = ("lightgbm", "xgboost", "linear")
NUM_ROWS = 600

_generator = np.random.default_rng(7)
X = _generator.normal(size=(NUM_ROWS, 4)).round(3)
SEX = _generator.choice(["F", "M"], NUM_ROWS)
SCORE = X[:, 0] + 0.5 * X[:, 1] + 0.4 * (SEX == "F") + 0.6 * _generator.normal(size=NUM_ROWS)
BINARY = (SCORE > 0.3).astype(int)
CLASSES = np.array(["high", "low", "mid"])[np.digitize(SCORE, [-0.5, 0.7])]
WEIGHTS = _generator.integers(1, 4, NUM_ROWS).astype(float)


def make(learner: str, task: str = "classification", **parameters: Any) -> Any:
    """An estimator of a few small trees on one thread, or a linear one."""
    classifies = task == "classification"
    if learner == "linear":
        return LogisticRegression(**parameters) if classifies else Ridge(**parameters)
    if learner == "lightgbm":
        library = pytest.importorskip("lightgbm")
        kind = library.LGBMClassifier if classifies else library.LGBMRegressor
        given = {"n_estimators": 20, "num_leaves": 7, "verbose": -1}
    else:
        library = pytest.importorskip("xgboost")
        kind = library.XGBClassifier if classifies else library.XGBRegressor
        given = {"n_estimators": 20, "max_depth": 3}
    return kind(**{**given, "n_jobs": 1, **parameters})


def every_learner(test: Any) -> Any:
    return pytest.mark.parametrize("learner", LEARNERS)(test)
