"""Which estimators can be trained under constraints."""

import re
import subprocess
import sys

import pytest
from bregboost._backends import backend_for
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge

DEFAULTS = {
    ("lightgbm", "classification"): ("lightgbm", "LGBMClassifier"),
    ("lightgbm", "regression"): ("lightgbm", "LGBMRegressor"),
    ("xgboost", "classification"): ("xgboost", "XGBClassifier"),
    ("xgboost", "regression"): ("xgboost", "XGBRegressor"),
    ("linear", "classification"): ("sklearn.linear_model", "LogisticRegression"),
    ("linear", "regression"): ("sklearn.linear_model", "Ridge"),
}


@pytest.mark.parametrize(("name", "task"), DEFAULTS)
def test_estimators_by_name_by_class_and_by_subclass(name, task):
    module, class_name = DEFAULTS[name, task]
    kind = getattr(pytest.importorskip(module), class_name)
    by_name = backend_for(name, task)
    assert type(by_name.estimator) is kind
    assert (by_name.name, by_name.task) == (name, task)
    estimator = kind()
    by_class = backend_for(estimator, task)
    assert type(by_class) is type(by_name)
    assert by_class.estimator is estimator
    subclass = type("MyEstimator", (kind,), {"__init__": kind.__init__})
    assert type(backend_for(subclass(), task)) is type(by_name)


CLASSIFIERS = (
    "LGBMClassifier, XGBClassifier, LogisticRegression, or a name of 'lightgbm', 'xgboost', "
    "'linear'"
)
REGRESSORS = "LGBMRegressor, XGBRegressor, Ridge, or a name of 'lightgbm', 'xgboost', 'linear'"


@pytest.mark.parametrize(
    ("estimator", "task", "message"),
    [
        (
            HistGradientBoostingClassifier(),
            "classification",
            "estimator: HistGradientBoostingClassifier; allowed for a classification: "
            + CLASSIFIERS,
        ),
        (
            Ridge(),
            "classification",
            f"estimator: Ridge; allowed for a classification: {CLASSIFIERS}",
        ),
        (
            LogisticRegression(),
            "regression",
            f"estimator: LogisticRegression; allowed for a regression: {REGRESSORS}",
        ),
        (
            LogisticRegression,
            "classification",
            "estimator: the class LogisticRegression; allowed: an instance of it, "
            "LogisticRegression()",
        ),
        (None, "regression", f"estimator: NoneType; allowed for a regression: {REGRESSORS}"),
    ],
)
def test_estimators_that_have_no_backend(estimator, task, message):
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        backend_for(estimator, task)


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("lightgbm", "LGBMRanker"),
        ("xgboost", "XGBRanker"),
        ("xgboost", "XGBRFClassifier"),
    ],
)
def test_relatives_of_the_estimators_are_refused(package, name):
    estimator = getattr(pytest.importorskip(package), name)()
    with pytest.raises(TypeError, match=f"^estimator: {name}; allowed"):
        backend_for(estimator, "classification")


def test_an_unknown_name():
    with pytest.raises(ValueError, match=r"^estimator: 'catboost'; allowed: LGBMClassifier, XGB"):
        backend_for("catboost", "classification")


@pytest.mark.parametrize("package", ["lightgbm", "xgboost"])
def test_a_library_that_is_not_installed(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)  # importing it fails
    with pytest.raises(ImportError, match=f"^estimator: '{package}'; .*pip install {package}$"):
        backend_for(package, "classification")


def test_libraries_are_imported_when_they_are_needed():
    # pandas and pyarrow are left out: scikit-learn imports them if they are there.
    script = (
        "import sys, bregboost._backends; "
        "print({'lightgbm', 'xgboost', 'polars', 'matplotlib'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "set()"
