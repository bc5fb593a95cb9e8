"""Certificates, baselines, the paper's solvers, other limits without training, frontiers."""

from typing import Any

import numpy as np
import pytest
from bregboost import ConstrainedClassifier, plot_frontier
from scipy.stats import binomtest
from small_learners import BINARY, CLASSES, SEX, X, every_learner, make

SEXES = {"sensitive_features": {"sex": SEX}}
EASY_X = np.random.default_rng(1).normal(size=(1500, 3))
EASY_Y = (EASY_X[:, 0] + 0.2 * EASY_X[:, 1] > 0.5).astype(int)


def rows_of(model: Any) -> dict[str, int]:
    return model.report_.to_dict()["rows"]


def check_certificate(model: Any, rows: int) -> None:
    assert model.status_ == "certified"
    assert rows_of(model)["certification"] == rows
    verdict = model.certificate_.get("fnr <= 20%")
    assert model.certificate_.all_certified
    assert verdict.certified
    assert verdict.confidence == pytest.approx(0.95)
    assert verdict.value <= verdict.confidence_bound <= 0.2
    assert model.report_.to_dict()["certificate"][0]["confidence_bound"] == verdict.confidence_bound


@every_learner
def test_a_certificate_by_a_share_of_the_rows(learner):
    model = ConstrainedClassifier(make(learner), "fnr <= 20%", certify=0.4, delta=0.05)
    check_certificate(model.fit(EASY_X, EASY_Y), 600)


@every_learner
def test_a_certificate_by_rows_of_the_user(learner):
    model = ConstrainedClassifier(make(learner), "fnr <= 20%", delta=0.05)
    model.fit(EASY_X[:900], EASY_Y[:900], certify_set=(EASY_X[900:], EASY_Y[900:]))
    check_certificate(model, 600)
    missed = model.predict(EASY_X[900:])[EASY_Y[900:] == 1] == 0
    verdict = model.certificate_.get("fnr <= 20%")
    assert verdict.value == pytest.approx(missed.mean(), abs=1e-12)
    assert verdict.rows == len(missed)


@every_learner
def test_measured_rates_have_exact_intervals(learner):
    limits = ["fnr <= 20%", "max(error, by=sex) <= 40%"]
    model = ConstrainedClassifier(make(learner), limits).fit(X, BINARY, **SEXES)
    alone, by_sex = model.report_.to_dict()["constraints"]
    for rate in (alone, *by_sex["groups"]):
        events = round(rate["value"] * rate["rows"])
        expected = binomtest(events, rate["rows"]).proportion_ci(0.95, method="exact")
        assert rate["interval"] == pytest.approx([expected.low, expected.high], abs=1e-9)
    low, high = (f"{100 * end:.1f}" for end in alone["interval"])
    assert f"  {low}-{high}%  " in repr(model.report_)
    assert alone["rows"] == BINARY.sum()
    assert {group["rows"] for group in by_sex["groups"]} == {(s == SEX).sum() for s in "FM"}


def test_without_rows_for_it_there_is_no_certificate():
    model = ConstrainedClassifier(make("linear"), "fnr <= 20%").fit(EASY_X, EASY_Y)
    assert model.status_ == "satisfied"
    assert not model.certificate_.all_certified
    assert model.certificate_.get("fnr <= 20%").verdict == "estimated"


@every_learner
@pytest.mark.parametrize("y", [BINARY, CLASSES], ids=["binary", "classes"])
def test_few_predictions_change(learner, y):
    baseline = make("linear", C=0.001).fit(X[:, :2], y)

    class OfTwoFeatures:
        def predict(self, rows: np.ndarray) -> np.ndarray:
            return baseline.predict(rows[:, :2])

    train, test = slice(0, 400), slice(400, 600)
    model = ConstrainedClassifier(
        make(learner), "disagreement <= 12%", baseline=OfTwoFeatures(), rho=50.0
    ).fit(X[train], y[train], eval_set=(X[test], y[test]))
    changed = np.mean(model.predict(X[test]) != baseline.predict(X[test, :2]))
    row = model.report_.to_dict()["constraints"][0]
    assert row["value"] == pytest.approx(changed, abs=1e-12)
    assert row["satisfied"] == (changed <= 0.12)
    free = make(learner)
    labels, codes = np.unique(y[train], return_inverse=True)
    free.fit(X[train], codes)
    freely = np.mean(labels[free.predict(X[test])] != baseline.predict(X[test, :2]))
    assert changed < freely


@every_learner
@pytest.mark.parametrize(
    ("solver", "options", "limit"),
    [
        ("abpp", None, "fnr <= 10%"),
        ("abpp", {"surrogate": "hinge_squared", "use_average": True}, "fnr <= 10%"),
        ("abpp", {"bound_rule": "negative_log", "primal_step": 5.0}, "fnr <= 10%"),
        ("cbpr", {"form": "linearized", "inner_steps": 5}, "gap(error, by=sex) <= 10%"),
    ],
)
def test_the_papers_solvers_hold_limits_on_training_rows(learner, solver, options, limit):
    model = ConstrainedClassifier(make(learner), limit, solver=solver, solver_options=options)
    model.fit(X, BINARY, **SEXES)
    report = model.report_.to_dict()
    assert (report["solver"], report["validation"]) == (solver, "none")
    assert rows_of(model) == {"training": 600, "unseen": 0, "certification": 0}
    predicted = model.predict(X)
    if solver == "abpp":
        value = np.mean(predicted[BINARY == 1] == 0)
    else:
        value = np.ptp([np.mean((predicted != BINARY)[group == SEX]) for group in ("F", "M")])
    assert report["constraints"][0]["value"] == pytest.approx(value, abs=1e-12)
    assert model.status_ in ("satisfied", "violated")
    assert (model.status_ == "satisfied") == report["constraints"][0]["satisfied"]
    np.testing.assert_array_equal(model.estimator_.predict(X), predicted)
    assert len(model.history_) > 1


def test_options_reach_the_papers_solvers():
    models = [
        ConstrainedClassifier(
            make("linear"), "fnr <= 2%", solver="abpp", solver_options=options
        ).fit(X, BINARY)
        for options in (None, {"surrogate": "hinge_squared"}, {"bound_rule": "negative_log"})
    ]
    scores = [model.decision_function(X) for model in models]
    assert np.abs(scores[0] - scores[1]).max() > 0.01
    assert np.abs(scores[0] - scores[2]).max() > 0.01


# ---- weights


def doubled(*columns: np.ndarray) -> list[np.ndarray]:
    repeats = np.where(np.arange(len(columns[0])) % 3 == 0, 2, 1)
    return [np.repeat(column, repeats, axis=0) for column in columns]


@pytest.mark.parametrize("learner", ["lightgbm", "linear"])
def test_a_weight_of_two_is_a_repeated_row(learner):
    rows = X.round(1)
    weight = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)
    # Leaves and bins of LightGBM count rows as they are.
    settings = {"min_child_samples": 1, "min_data_in_bin": 1} if learner == "lightgbm" else {}
    many_x, many_y, many_sex = doubled(rows, BINARY, SEX)
    limits = ["fnr <= 30%", "error(sex=F) <= 40%"]

    def model() -> Any:
        return ConstrainedClassifier(make(learner, **settings), limits, solver="abpp")

    weighted = model().fit(rows, BINARY, sample_weight=weight, **SEXES)
    repeated = model().fit(many_x, many_y, sensitive_features={"sex": many_sex})
    np.testing.assert_allclose(
        weighted.decision_function(rows), repeated.decision_function(rows), rtol=0, atol=1e-6
    )
    np.testing.assert_allclose(weighted.multipliers_, repeated.multipliers_, rtol=0, atol=1e-6)
    assert weighted.multipliers_.max() > 0
    for one, other in zip(
        weighted.report_.to_dict()["constraints"],
        repeated.report_.to_dict()["constraints"],
        strict=True,
    ):
        assert one["value"] == pytest.approx(other["value"], abs=1e-12)


@every_learner
def test_rates_can_have_weights_of_their_own(learner):
    train, test = slice(0, 400), slice(400, 600)
    weight = np.where(X[:, 2] > 0, 5.0, 1.0)

    def fitted(**weights: Any) -> Any:
        model = ConstrainedClassifier(make(learner), "fnr <= 10%", rho=50.0)
        return model.fit(X[train], BINARY[train], eval_set=(X[test], BINARY[test]), **weights)

    in_rates = fitted(eval_rate_weight=weight[test])
    in_both = fitted(sample_weight=weight[train], eval_sample_weight=weight[test])
    positive = BINARY[test] == 1
    for model in (in_rates, in_both):
        missed = model.predict(X[test])[positive] == 0
        value = np.average(missed, weights=weight[test][positive])
        assert model.report_.to_dict()["constraints"][0]["value"] == pytest.approx(value, abs=1e-12)
    # The training does not know of weights in the rates alone.
    raw = [model.decision_function(X) for model in (fitted(), in_rates, in_both)]
    assert np.corrcoef(raw[0], raw[1])[0, 1] == pytest.approx(1.0, abs=1e-9)
    assert np.corrcoef(raw[0], raw[2])[0, 1] < 1.0 - 1e-9


def test_class_weights_are_for_the_loss_alone():
    train, test = slice(0, 400), slice(400, 600)
    model = ConstrainedClassifier(make("linear", class_weight={1: 10.0}), "fpr <= 15%", rho=50.0)
    model.fit(X[train], BINARY[train], eval_set=(X[test], BINARY[test]))
    predicted = model.predict(X[test])
    report = model.report_.to_dict()
    assert report["objective"] == pytest.approx(np.mean(predicted == BINARY[test]), abs=1e-12)
    assert report["constraints"][0]["value"] == pytest.approx(
        predicted[BINARY[test] == 0].mean(), abs=1e-12
    )


# ---- other limits without training


@every_learner
@pytest.mark.parametrize("fold_offsets", [True, False])
def test_other_limits_without_training(learner, fold_offsets):
    given = {"rho": 50.0, "fold_offsets": fold_offsets}
    model = ConstrainedClassifier(make(learner), "fnr <= 20%", **given).fit(X, BINARY, **SEXES)
    before = model.decision_function(X)
    other = model.recalibrate("fnr <= 5%")
    again = ConstrainedClassifier(make(learner), "fnr <= 5%", **given).fit(X, BINARY)
    np.testing.assert_allclose(
        other.decision_function(X), again.decision_function(X), rtol=0, atol=1e-6
    )
    np.testing.assert_array_equal(other.predict(X), again.predict(X))
    for name in ("constraints", "objective", "violation", "temperature", "offsets"):
        assert other.report_.to_dict()[name] == again.report_.to_dict()[name]
    assert (other.status_, str(other.constraints_[0])) == ("satisfied", "fnr <= 5%")
    assert not other.certificate_.all_certified
    assert len(other.history_) == 0
    assert "fnr <= 5%" in repr(other.report_)
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert (model.constraints, str(model.constraints_[0])) == ("fnr <= 20%", "fnr <= 20%")
    recalled = model.recalibrate("fpr <= 30%", objective="recall", rho=20.0)
    assert (recalled.objective, recalled.rho) == ("recall", 20.0)
    assert recalled.report_.to_dict()["objective_name"] == "recall"
    assert (
        recalled.recalibrate("fnr <= 20%", objective="accuracy", rho=50.0).report_.to_dict()[
            "offsets"
        ]
        == model.report_.to_dict()["offsets"]
    )


# ---- frontiers


BOUNDS = [0.02, 0.05, 0.1, 0.2]


@every_learner
def test_a_frontier_of_calibrations_is_that_of_separate_fits(learner):
    model = ConstrainedClassifier(make(learner), ["fpr <= 40%", "fnr <= 5%"], rho=50.0)
    sweep = model.frontier(X, BINARY, bounds=BOUNDS, constraint="fnr <= 5%")
    estimated = model.frontier(X, BINARY, bounds=BOUNDS, constraint=1, models=False)
    assert not hasattr(model, "estimator_")
    assert len(sweep) == len(estimated) == len(BOUNDS)
    assert estimated.models == [None] * len(BOUNDS)
    for bound, point, other in zip(BOUNDS, sweep.points, estimated.points, strict=True):
        limits = ["fpr <= 40%", f"fnr <= {100 * bound:g}%"]
        alone = ConstrainedClassifier(make(learner), limits, rho=50.0).fit(X, BINARY)
        np.testing.assert_allclose(
            point.model.decision_function(X), alone.decision_function(X), rtol=0, atol=1e-6
        )
        report = alone.report_.to_dict()
        assert point.objective == pytest.approx(report["objective"], abs=1e-12)
        assert (point.bound, point.total_violation) == (bound, report["violation"])
        assert (other.bound, other.objective) == (bound, pytest.approx(point.objective))
        assert other.dominated == point.dominated


def test_the_table_and_the_picture_of_a_frontier():
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("agg")
    model = ConstrainedClassifier(make("linear"), "fnr <= 5%", rho=50.0)
    sweep = model.frontier(X, BINARY, bounds=BOUNDS)
    assert sweep.frame["bound"].tolist() == BOUNDS
    assert list(sweep.frame.columns) == [
        "bound", "rho", "objective", "total_violation", "trained_for", "steps", "satisfied",
        "dominated", "value: fnr",
    ]  # fmt: skip
    assert (sweep.frame["value: fnr"] <= sweep.frame["bound"]).all()
    assert sweep.frame["objective"].is_monotonic_increasing
    axes = plot_frontier(sweep)
    assert axes.get_ylabel() == "accuracy on unseen rows"
    axes.figure.clear()
    assert sweep.best().model.status_ == "satisfied"


@every_learner
def test_a_frontier_of_rho(learner):
    model = ConstrainedClassifier(make(learner), "fnr <= 2%")
    for models in (True, False):
        sweep = model.frontier(X, BINARY, rhos=[0.0, 1.0, 50.0], models=models)
        violations = [point.total_violation for point in sweep.points]
        assert [point.rho for point in sweep.points] == [0.0, 1.0, 50.0]
        assert violations == sorted(violations, reverse=True)
        assert violations[-1] == 0
        assert sweep.swept == "rho"


@pytest.mark.parametrize(
    ("objective", "maximise"), [(None, True), ("fpr", False), ("recall", True)]
)
def test_frontiers_know_the_better_side(objective, maximise):
    model = ConstrainedClassifier(make("linear"), "fnr <= 5%", objective=objective, rho=50.0)
    for models in (True, False):
        sweep = model.frontier(X, BINARY, bounds=[0.05, 0.2], models=models)
        assert sweep.maximise is maximise
        assert sweep.objective_name == (objective or "accuracy")


@every_learner
def test_a_frontier_of_trainings(learner):
    model = ConstrainedClassifier(make(learner), "gap(selection_rate, by=sex) <= 5%", rho=20.0)
    sweep = model.frontier(X, BINARY, bounds=[0.02, 0.2], **SEXES)
    alone = ConstrainedClassifier(make(learner), "gap(selection_rate, by=sex) <= 2%", rho=20.0).fit(
        X, BINARY, **SEXES
    )
    if sweep.points[0].trained_for == 0.02:  # its own training, else one that suits it better
        np.testing.assert_array_equal(
            sweep.models[0].decision_function(X), alone.decision_function(X)
        )
    found = alone.report_.to_dict()
    merit = found["objective"] - 20 * found["violation"]
    assert sweep.points[0].objective - 20 * sweep.points[0].total_violation >= merit
    assert all(point.trained_for in (0.02, 0.2) for point in sweep.points)
    assert sweep.models[0].report_.to_dict()["path"] == "constrained"
    estimated = model.frontier(X, BINARY, bounds=[0.02, 0.2], models=False, **SEXES)
    assert [point.bound for point in estimated.points] == [0.02, 0.2]
