"""Estimators inside scikit-learn's tools, pickles, explanations and logs."""

import copy
import json
import pickle
from typing import Any

import joblib
import numpy as np
import pytest
import sklearn
from bregboost import ConstrainedClassifier, ConstrainedRegressor, rate
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from small_learners import BINARY, CLASSES, SCORE, SEX, X, every_learner, make

CITY = np.random.default_rng(4).choice(["Bonn", "Oslo", "Rome"], len(X))
LIMITS = ["fnr <= 15%", "gap(error, by=sex) <= 6%"]
SEXES = {"sensitive_features": {"sex": SEX}}


def frame() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X, columns=list("abcd")).assign(city=CITY, sex=SEX)


def check_equal(model: Any, other: Any, rows: Any = X) -> None:
    np.testing.assert_array_equal(model.predict_proba(rows), other.predict_proba(rows))
    np.testing.assert_array_equal(model.predict(rows), other.predict(rows))
    assert model.report_ == other.report_
    assert model.constraints_ == other.constraints_
    assert model.certificate_ == other.certificate_


@every_learner
def test_parameters_and_clones(learner):
    model = ConstrainedClassifier(make(learner), ["fnr <= 5%", rate.error() <= 0.2], rho=7.0)
    twin = clone(model)
    assert twin.get_params()["rho"] == 7.0
    assert [str(limit) for limit in twin.constraints] == ["fnr <= 5%", "error <= 20%"]
    assert twin.estimator is not model.estimator
    name = {"lightgbm": "num_leaves", "xgboost": "max_depth", "linear": "C"}[learner]
    twin.set_params(**{f"estimator__{name}": 2, "certify": 0.2})
    assert getattr(twin.estimator, name) == 2
    assert getattr(model.estimator, name) != 2
    assert model.certify is None
    assert not hasattr(clone(model.fit(X, BINARY)), "estimator_")


@every_learner
def test_searches_over_the_estimator_and_over_the_limits(learner):
    name = {"lightgbm": "num_leaves", "xgboost": "max_depth", "linear": "C"}[learner]
    grid = {f"estimator__{name}": [2, 4], "constraints": [(), "fnr <= 30%", ["fnr <= 5%"]]}
    search = GridSearchCV(ConstrainedClassifier(make(learner), rho=50.0), grid, cv=2)
    search.fit(X, BINARY)
    assert len(search.cv_results_["params"]) == 6
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.status_ in ("unconstrained", "satisfied")
    recall = GridSearchCV(
        ConstrainedClassifier(make(learner), rho=50.0),
        {"constraints": ["fnr <= 40%", "fnr <= 2%"]},
        scoring="recall",
        cv=2,
    ).fit(X, BINARY)
    assert recall.best_params_ == {"constraints": "fnr <= 2%"}


@every_learner
def test_groups_reach_a_pipeline_by_metadata_routing(learner):
    rows = frame()
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        columns = ColumnTransformer(
            [("numbers", scaler, list("abcd")), ("city", OneHotEncoder(), ["city"])],
            sparse_threshold=0,
        )
        model = ConstrainedClassifier(make(learner), LIMITS, rho=20.0).set_fit_request(
            sensitive_features=True, sample_weight=True
        )
        model = model.set_score_request(sample_weight=True)
        pipeline = make_pipeline(clone(columns), model)
        pipeline.fit(rows, BINARY, sensitive_features=rows[["sex"]])
        prepared = clone(columns).fit_transform(rows)
        alone = ConstrainedClassifier(make(learner), LIMITS, rho=20.0)
        alone.fit(prepared, BINARY, sensitive_features={"sex": SEX})
        np.testing.assert_array_equal(pipeline.predict_proba(rows), alone.predict_proba(prepared))
        scores = cross_validate(
            pipeline,
            rows,
            BINARY,
            params={"sensitive_features": rows[["sex"]], "sample_weight": np.ones(len(X))},
            cv=3,
            return_estimator=True,
        )
    for fitted in scores["estimator"]:
        assert [str(limit) for limit in fitted[-1].constraints_] == LIMITS
        assert fitted[-1].report_.to_dict()["rows"]["training"] == len(X) * 2 // 3
    assert scores["test_score"].mean() > 0.7


@every_learner
@pytest.mark.parametrize("y", [BINARY, CLASSES], ids=["binary", "classes"])
@pytest.mark.parametrize("fold_offsets", [True, False])
def test_copies_are_the_model(learner, y, fold_offsets, tmp_path):
    limits = ["error <= 40%", "gap(error, by=sex) <= 10%"]
    model = ConstrainedClassifier(make(learner), limits, fold_offsets=fold_offsets)
    model.fit(X, y, **SEXES)
    joblib.dump(model, tmp_path / "model.joblib")
    expected = model.recalibrate("error <= 35%", rho=50.0)
    for twin in (
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model.joblib"),
        copy.deepcopy(model),
        copy.copy(model),
    ):
        check_equal(model, twin)
        check_equal(expected, twin.recalibrate("error <= 35%", rho=50.0))
        np.testing.assert_array_equal(
            twin.estimator_.predict_proba(X), model.estimator_.predict_proba(X)
        )
        assert twin.history_.equals(model.history_)


@every_learner
def test_pickles_of_regressors_and_of_names(learner):
    model = ConstrainedRegressor(make(learner, "regression"), "loss <= 5").fit(X, SCORE)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))
    assert twin.report_ == model.report_
    by_name = ConstrainedClassifier("linear", "fnr <= 20%").fit(X, BINARY)
    check_equal(by_name, pickle.loads(pickle.dumps(by_name)))


@pytest.mark.parametrize("fold_offsets", [True, False])
@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration_around_it_is_a_warning(fold_offsets, ensemble):
    model = ConstrainedClassifier(make("linear"), "fnr <= 2%", rho=50.0, fold_offsets=fold_offsets)
    with pytest.warns(UserWarning, match="undoes the offsets that hold the limits") as caught:
        calibrated = CalibratedClassifierCV(model, cv=3, ensemble=ensemble).fit(X, BINARY)
    assert len(caught) == 1  # however many folds there are
    assert np.mean(calibrated.predict(X)[BINARY == 1] == 0) > 0.05  # and no warning any more
    CalibratedClassifierCV(ConstrainedClassifier(make("linear")), cv=2).fit(X, BINARY)
    cross_val_predict(model, X, BINARY, cv=2, method="predict_proba")


@every_learner
def test_importances_and_scores(learner):
    model = ConstrainedClassifier(make(learner), "fnr <= 15%").fit(X, BINARY)
    found = permutation_importance(model, X, BINARY, n_repeats=2, random_state=0)
    assert found.importances_mean.argmax() == 0
    assert model.score(X, BINARY) == np.mean(model.predict(X) == BINARY)
    weight = np.where(BINARY == 1, 3.0, 1.0)
    expected = np.average(model.predict(X) == BINARY, weights=weight)
    assert model.score(X, BINARY, sample_weight=weight) == pytest.approx(expected)


@every_learner
def test_shap_explains_the_plain_estimator(learner):
    shap = pytest.importorskip("shap")
    model = ConstrainedClassifier(make(learner), "fnr <= 10%", rho=50.0).fit(X, BINARY)
    if learner == "linear":
        explained = shap.LinearExplainer(model.estimator_, X)(X)
    else:
        explained = shap.TreeExplainer(model.estimator_)(X)
    values = np.asarray(explained.values)
    base = np.asarray(explained.base_values)
    if values.ndim == 3:
        values, base = values[..., 1], base[..., 1]
    np.testing.assert_allclose(
        values.sum(axis=1) + base, model.decision_function(X), rtol=0, atol=1e-4
    )


def test_names_and_numbers_of_features():
    rows = frame()[list("abcd")]
    model = ConstrainedClassifier(make("linear"), "fnr <= 15%").fit(rows, BINARY)
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(rows[list("dcba")])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)
    model.fit(X, BINARY)
    assert not hasattr(model, "feature_names_in_")


def test_what_notebooks_and_logs_show():
    model = ConstrainedClassifier(make("linear"), "fnr <= 15%")
    assert "ConstrainedClassifier" in model._repr_html_()
    assert repr(model).startswith("ConstrainedClassifier(constraints='fnr <= 15%'")
    assert repr(ConstrainedClassifier(None)) == "ConstrainedClassifier(estimator=None)"
    assert "Constrained" in ConstrainedClassifier("catboost")._repr_html_()
    model.fit(X, BINARY)
    assert "fnr" in model.report_._repr_html_()
    assert "fnr <= 15%" in repr(model.report_)
    logged = model.report_.to_dict()
    assert json.loads(json.dumps(logged)) == logged
    assert logged["learner"] == "linear"
    metrics = model.report_.metrics()
    assert all(isinstance(value, float) for value in metrics.values())
    assert metrics["objective"] == logged["objective"]


def test_frames_stay_frames_beside_it():
    pytest.importorskip("pandas")
    rows = frame()[list("abcd")]
    model = ConstrainedClassifier(make("linear"), "fnr <= 15%")
    pipeline = make_pipeline(StandardScaler(), model).set_output(transform="pandas")
    pipeline.fit(rows, BINARY)
    assert pipeline[-1].feature_names_in_.tolist() == list("abcd")
    assert isinstance(pipeline.predict(rows), np.ndarray)
