"""The example program `constrained_auto`: limits hold on rows that the model has not seen, models
are plain ones of the stock libraries, certificates say what was shown, and what cannot be done is
said."""

import json
import math
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from auto_program import (
    LEARNERS,
    ROUNDS,
    TREES,
    AutoProgram,
    Fit,
    merit_and_giveaway,
    three_classes,
)
from scipy.stats import beta

ALL = pytest.mark.parametrize("learner", LEARNERS)
BOTH = pytest.mark.parametrize("learner", TREES)
TOGETHER = ["fnr <= 30%", "gap(selection_rate, by=group) <= 5%"]


@pytest.fixture
def program(build_dir: Path, tmp_path: Path) -> AutoProgram:
    path = build_dir / "examples" / "constrained_auto"
    if not path.is_file():
        pytest.fail(f"no program {path}: run `make build`")
    return AutoProgram(path, tmp_path)


def misses(predicted: np.ndarray, table: pd.DataFrame) -> float:
    return float(np.mean(predicted[table["label"] == 1] == 0))


def selection_gap(predicted: np.ndarray, table: pd.DataFrame) -> float:
    return abs(float(np.diff([predicted[table["group"] == g].mean() for g in "ab"])[0]))


def sampling_error(rate: float, fresh: int, unseen: int) -> float:
    """Of a rate on fresh rows that was set on unseen ones: both sets scatter."""
    return math.sqrt(rate * (1.0 - rate) * (1.0 / fresh + 1.0 / unseen))


def check_report(fit: Fit) -> None:
    """Numbers are numbers (JSON has no NaN, it says null), and verdicts are those of the rows."""
    report = fit.report
    numbers = [report["objective"], report["violation"], report["temperature"], *report["offsets"]]
    numbers += report["multipliers"]
    numbers += [price["price"] for price in report["prices"]]
    numbers += [row[name] for row in report["constraints"] for name in ("value", "violation")]
    numbers += [row[name] for row in report["history"] for name in ("objective", "exact_violation")]
    assert all(value is not None and math.isfinite(value) for value in numbers)
    total = sum(row["violation"] for row in report["constraints"])
    assert report["violation"] == pytest.approx(total, abs=1e-12)
    assert all(row["satisfied"] == (row["violation"] == 0.0) for row in report["constraints"])
    certifies = report["rows"]["certification"] > 0
    assert all((row["verdict"] != "estimated") == certifies for row in report["certificate"])


# ---- limits on unseen rows


@ALL
def test_limits_together_hold_out_of_fold_and_on_fresh_rows(program, learner):
    rows, fresh = merit_and_giveaway(3000, 1), merit_and_giveaway(20000, 2)
    free = program.fit(learner, rows, []).decisions(fresh)
    assert selection_gap(free, fresh) > 0.2
    fit = program.fit(learner, rows, TOGETHER, "--seed", "1")
    check_report(fit)
    assert fit.report["path"] == "constrained"
    assert [row["text"] for row in fit.report["constraints"]] == TOGETHER
    assert all(row["satisfied"] for row in fit.report["constraints"])
    predicted = fit.decisions(fresh)
    positives = [int(table["label"].sum()) for table in (fresh, rows)]
    assert misses(predicted, fresh) <= 0.3 + 3.0 * sampling_error(0.3, *positives)
    # A gap has the errors of two rates over half the rows each; selection is largest at 1/2.
    scatter = math.sqrt(2.0) * sampling_error(0.5, len(fresh) // 2, len(rows) // 2)
    assert selection_gap(predicted, fresh) <= 0.05 + 3.0 * scatter
    accuracy = np.mean(predicted == fresh["label"])
    assert accuracy >= fit.report["objective"] - 3.0 * sampling_error(0.8, len(fresh), len(rows))


@ALL
def test_a_class_bound_holds_out_of_fold_and_on_fresh_rows(program, learner):
    rows, fresh = three_classes(2400, 1), three_classes(20000, 2)
    fit = program.fit(learner, rows, ["error(class=1) <= 5%"])
    check_report(fit)
    assert fit.report["path"] == "calibration"
    assert fit.report["violation"] == 0.0
    predicted, of_class = fit.decisions(fresh), fresh["label"] == 1
    error = np.mean(predicted[of_class] != 1)
    scatter = sampling_error(0.05, int(of_class.sum()), 800)
    assert abs(error - fit.report["constraints"][0]["value"]) <= 3.0 * scatter
    assert error <= 0.05 + 3.0 * scatter


@BOTH
def test_folds_hold_out_and_refit(program, learner):
    """Which rows are unseen, and how many trees are shipped."""
    rows, fresh, limit = merit_and_giveaway(2000, 3), merit_and_giveaway(20000, 4), ["fnr <= 10%"]
    trees = {}
    for name, line, unseen in (
        ("folds", ("--validation", "folds"), 2000),
        ("refit", ("--validation", "folds", "--deploy", "refit"), 2000),
        ("hold_out", ("--validation", "hold_out"), 400),
    ):
        fit = program.fit(learner, rows, limit, "--all-rounds", *line)
        check_report(fit)
        assert fit.report["rows"]["unseen"] == unseen
        assert fit.report["models"] == (5 if name == "folds" else 1)
        assert fit.report["constraints"][0]["satisfied"]
        if learner == "lightgbm":
            trees[name] = lgb.Booster(model_file=fit.model).num_trees()
        else:
            trees[name] = xgb.Booster(model_file=fit.model).num_boosted_rounds()
        # Thresholds that move from folds to a refit model are less exact: 2 points.
        allowed = 0.1 + 3.0 * sampling_error(0.1, 10000, unseen // 2) + 0.02 * (name == "refit")
        assert misses(fit.decisions(fresh), fresh) <= allowed
    assert trees == {"folds": 5 * ROUNDS, "refit": ROUNDS, "hold_out": ROUNDS}


def test_a_hold_out_is_chosen_where_it_has_rows_enough(program):
    """Of every cell that a limit names, 2,000."""
    many = program.fit("lightgbm", merit_and_giveaway(24000, 5), ["fnr <= 10%"])
    assert many.report["validation"] == "hold_out"
    few = program.fit("lightgbm", merit_and_giveaway(16000, 5), ["fnr <= 10%"])
    assert few.report["validation"] == "folds"


def test_linear_models_need_no_refit(program):
    """The mean of the folds is as small as one of them."""
    rows = merit_and_giveaway(500, 1)
    done, _ = program.run("linear", rows, ["fnr <= 30%"], "--deploy", "refit")
    assert done.returncode == 1
    assert "deploy: refit" in done.stderr
    held = program.fit("linear", rows, ["fnr <= 30%"], "--validation", "hold_out")
    assert held.report["rows"] == {"training": 400, "unseen": 100, "certification": 0}


# ---- the model


def test_a_linear_model_decides_by_its_coefficients(program):
    """Three coefficients fit 3,000 rows no better than others, so decisions by hand on the training
    rows give the out-of-fold figures, offsets and temperature included."""
    rows = merit_and_giveaway(3000, 7)
    fit = program.fit("linear", rows, TOGETHER)
    model = json.loads(fit.model.read_text())
    scores = model["intercept"][0] + sum(
        coefficient * rows[name]
        for coefficient, name in zip(
            model["coefficients"][0], ("merit", "giveaway", "noise"), strict=True
        )
    )
    predicted = (scores > 0).to_numpy().astype(int)
    np.testing.assert_array_equal(predicted, fit.decisions(rows))
    measured = [misses(predicted, rows), selection_gap(predicted, rows)]
    reported = [row["value"] for row in fit.report["constraints"]]
    np.testing.assert_allclose(measured, reported, rtol=0, atol=0.01)
    accuracy = np.mean(predicted == rows["label"])
    assert accuracy == pytest.approx(fit.report["objective"], abs=0.01)


@pytest.mark.parametrize(
    "rows", [merit_and_giveaway(900, 8), three_classes(900, 8)], ids=["2", "3"]
)
def test_the_estimator_of_xgboost_decides_alike(program, rows):
    fit = program.fit("xgboost", rows, ["error(class=1) <= 10%"])
    estimator = xgb.XGBClassifier(n_jobs=1)
    estimator.load_model(fit.model)
    features = rows.drop(columns=["label", "group"], errors="ignore").to_numpy()
    np.testing.assert_array_equal(estimator.predict(features), fit.decisions(rows))
    assert set(estimator.predict(features)) == set(rows["label"])


@ALL
def test_the_same_seed_gives_the_same_bytes(program, learner):
    rows = merit_and_giveaway(800, 9)

    def run(seed: str) -> tuple[dict, bytes]:
        fit = program.fit(learner, rows, TOGETHER, "--seed", seed, "--certify", "0.2")
        for row in [*fit.report["history"], fit.report]:
            del row["seconds"]
        return fit.report, fit.model.read_bytes()

    once, again, other = run("1"), run("1"), run("2")
    assert once == again
    assert once[1] != other[1]


# ---- certificates


@ALL
def test_a_certificate_is_the_exact_binomial_bound(program, learner):
    rows, fresh, delta = merit_and_giveaway(3000, 10), merit_and_giveaway(20000, 11), 0.1
    line = ("--certify", "0.3", "--delta", str(delta))
    fit = program.fit(learner, rows, ["fnr <= 20%"], *line)
    check_report(fit)
    assert fit.report["rows"]["certification"] == pytest.approx(900, abs=2)
    (row,) = fit.report["certificate"]
    assert row["verdict"] == "certified"
    assert row["confidence"] == pytest.approx(1.0 - delta)
    count = row["rows"]
    assert count == pytest.approx(0.3 * rows["label"].sum(), abs=2)
    events = round(row["value"] * count)
    bound = beta.ppf(1.0 - delta, events + 1, count - events)
    assert row["confidence_bound"] == pytest.approx(bound, abs=1e-9)
    assert bound <= 0.2
    assert fit.report["cautious_path"][fit.report["certified_point"]]["caution"] >= 0.0
    # Certified at a rate well below the limit, so fresh rows show it too.
    assert misses(fit.decisions(fresh), fresh) <= 0.2


@ALL
def test_too_few_rows_certify_nothing(program, learner):
    rows = merit_and_giveaway(400, 12)
    fit = program.fit(learner, rows, ["fnr <= 5%"], "--certify", "0.2", "--delta", "0.05")
    check_report(fit)
    (row,) = fit.report["certificate"]
    assert row["verdict"] == "not certified"
    assert fit.report["certified_point"] is None
    # Even without a miss, 95% sure of 5% takes 59 positives: 0.95^59 < 0.05. There are about 40.
    assert row["rows"] < 59
    assert row["needs"] == "class=1"
    assert row["rows_needed"] is None or row["rows_needed"] >= 59


@ALL
def test_without_certification_rows_every_verdict_is_an_estimate(program, learner):
    fit = program.fit(learner, merit_and_giveaway(600, 13), TOGETHER)
    verdicts = fit.report["certificate"]
    assert [row["text"] for row in verdicts] == TOGETHER
    assert {row["verdict"] for row in verdicts} == {"estimated"}
    assert {row["confidence_bound"] for row in verdicts} == {None}
    assert fit.report["certified_point"] is None


# ---- what cannot be done


@ALL
def test_limits_out_of_reach_are_reported_with_what_is_in_reach(program, learner):
    """Labels are noisy, so that no decision holds both. Loosened by what the diagnosis says, and no
    less, the limits are met by the same model."""
    rows = merit_and_giveaway(800, 14)
    fit = program.fit(learner, rows, ["fnr <= 1%", "fpr <= 1%"])
    check_report(fit)
    assert fit.report["violation"] > 0.1
    assert not all(row["satisfied"] for row in fit.report["constraints"])
    diagnosis = fit.report["diagnosis"]
    assert not diagnosis["feasible"]
    assert diagnosis["binding"] == ["fnr <= 1%", "fpr <= 1%"]
    for change, feasible in ((1e-6, True), (-1e-6, False)):
        bound = 0.01 + diagnosis["relaxation"] + change
        limits = [f"{rate} <= {bound:.9f}" for rate in ("fnr", "fpr")]
        again = program.fit(learner, rows, limits, "--rho", "1000")
        assert (again.report["violation"] == 0.0) == feasible
        assert (again.report["diagnosis"] is None) == feasible


@ALL
def test_a_group_of_two_rows_breaks_nothing(program, learner):
    rows = merit_and_giveaway(800, 15)
    rows.loc[[0, 1], ["group", "label"]] = ["c", 1]
    fit = program.fit(learner, rows, ["gap(fnr, by=group) <= 10%"])
    check_report(fit)


def without(rows: pd.DataFrame, group: str, label: int) -> pd.DataFrame:
    return rows[(rows["group"] != group) | (rows["label"] != label)]


ROWS = merit_and_giveaway(400, 16)
REFUSED = {
    "contradiction": (
        ROWS,
        ["selection_rate <= 10%", "selection_rate >= 90%"],
        (),
        "constraint 'selection_rate >= 90%': contradicts",
    ),
    "empty cell": (
        without(ROWS, "b", 1),
        ["gap(fnr, by=group) <= 5%"],
        (),
        "no rows with class=1, group=b",
    ),
    "one class": (ROWS.assign(label=1), ["error <= 5%"], (), "labels: 1 distinct value"),
    "missing column": (ROWS, ["gap(fnr, by=sex) <= 5%"], (), "unknown group column 'sex'"),
    "missing group": (ROWS, ["error(group=c) <= 5%"], (), "'c' does not occur"),
    "missing class": (ROWS, ["error(class=2) <= 5%"], (), "class '2'"),
    "unreadable limit": (ROWS, ["fnr <= lots"], (), "'fnr <= lots'"),
    "rho": (ROWS, ["fnr <= 5%"], ("--rho", "nan"), "rho: nan; allowed: "),
    "certify": (ROWS, ["fnr <= 5%"], ("--certify", "1"), "certify: 1; allowed: "),
    "delta": (ROWS, ["fnr <= 5%"], ("--certify", "0.2", "--delta", "0"), "delta: 0; allowed: "),
    "folds": (ROWS, ["fnr <= 5%"], ("--folds", "1"), "num_folds: 1; allowed: "),
    "path": (ROWS, ["fnr <= 5%"], ("--path", "up"), "path: 'up'; allowed: "),
}


@ALL
@pytest.mark.parametrize("case", REFUSED)
def test_what_it_cannot_do_it_says(program, learner, case):
    rows, limits, line, reason = REFUSED[case]
    done, model = program.run(learner, rows, limits, *line)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("constrained_auto: ")
    assert reason in done.stderr
    assert not model.exists()
