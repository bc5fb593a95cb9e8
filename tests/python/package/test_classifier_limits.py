"""Limits of every kind on classifiers: the report says what the deployed decision does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bregboost import ConstrainedClassifier, rate
from scipy.special import expit, softmax
from small_learners import BINARY, CLASSES, SEX, WEIGHTS, X, every_learner, make

TRAIN, TEST = np.arange(0, 400), np.arange(400, 600)
TREE_COUNT = {
    "lightgbm": lambda estimator: estimator.booster_.num_trees(),
    "xgboost": lambda estimator: estimator.get_booster().num_boosted_rounds(),
}


def share(event: np.ndarray, rows: np.ndarray) -> float:
    return float(event[rows].mean())


def by_sex(of: Callable[[np.ndarray], float], sex: np.ndarray) -> list[float]:
    return [of(sex == group) for group in ("F", "M")]


# What each limit measures, from labels, predictions and groups.
BINARY_LIMITS: dict[str, Callable[..., float]] = {
    "fnr <= 8%": lambda y, p, sex: share(p == 0, y == 1),
    "fpr <= 8%": lambda y, p, sex: share(p == 1, y == 0),
    "tnr >= 92%": lambda y, p, sex: share(p == 0, y == 0),
    "recall >= 92%": lambda y, p, sex: share(p == 1, y == 1),
    "error <= 20%": lambda y, p, sex: share(p != y, y >= 0),
    "precision >= 92%": lambda y, p, sex: share(y == 1, p == 1),
    "selection_rate <= 30%": lambda y, p, sex: share(p == 1, y >= 0),
    "balanced_error <= 18%": lambda y, p, sex: (share(p == 0, y == 1) + share(p == 1, y == 0)) / 2,
    "fnr + 2 * fpr <= 40%": lambda y, p, sex: share(p == 0, y == 1) + 2 * share(p == 1, y == 0),
    "gap(selection_rate, by=sex) <= 5%": lambda y, p, sex: float(
        np.ptp(by_sex(lambda rows: share(p == 1, rows), sex))
    ),
    "ratio(selection_rate, by=sex) >= 90%": lambda y, p, sex: (
        min(by_sex(lambda rows: share(p == 1, rows), sex))
        / max(by_sex(lambda rows: share(p == 1, rows), sex))
    ),
    "max(fnr, by=sex) <= 12%": lambda y, p, sex: max(
        by_sex(lambda rows: share(p == 0, rows & (y == 1)), sex)
    ),
    "fpr(sex=F) - fpr(sex=M) <= 2%": lambda y, p, sex: (
        share(p == 1, (sex == "F") & (y == 0)) - share(p == 1, (sex == "M") & (y == 0))
    ),
}
CLASS_LIMITS: dict[str, Callable[..., float]] = {
    "error(class=mid) <= 20%": lambda y, p, sex: share(p != y, y == "mid"),
    "recall(class=high) >= 85%": lambda y, p, sex: share(p == y, y == "high"),
    "selection_rate(predicted=low) <= 20%": lambda y, p, sex: share(p == "low", y == y),
    "precision(predicted=high) >= 85%": lambda y, p, sex: share(y == "high", p == "high"),
    "max(error, by=class) <= 40%": lambda y, p, sex: max(
        share(p != y, y == label) for label in ("high", "low", "mid")
    ),
    "gap(error, by=sex) <= 3%": lambda y, p, sex: float(
        np.ptp(by_sex(lambda rows: share(p != y, rows), sex))
    ),
}


def fit_and_measure(learner: str, y: np.ndarray, limit: str, of: Callable[..., float]) -> None:
    model = ConstrainedClassifier(make(learner), limit, rho=50.0)
    model.fit(
        X[TRAIN],
        y[TRAIN],
        sensitive_features={"sex": SEX[TRAIN]},
        eval_set=(X[TEST], y[TEST]),
        eval_sensitive_features={"sex": SEX[TEST]},
    )
    predicted = model.predict(X[TEST])
    row = model.report_.to_dict()["constraints"][0]
    value, bound = of(y[TEST], predicted, SEX[TEST]), row["bound"]
    assert row["value"] == pytest.approx(value, abs=1e-12)
    assert value <= bound + 1e-12 if row["relation"] == "<=" else value >= bound - 1e-12
    assert row["satisfied"]
    assert model.status_ == "satisfied"
    alone = model.estimator_.predict(X[TEST])
    is_coded = learner == "xgboost" and y is CLASSES
    np.testing.assert_array_equal(model.classes_[alone] if is_coded else alone, predicted)
    np.testing.assert_allclose(
        model.estimator_.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-6
    )


@every_learner
@pytest.mark.parametrize("limit", BINARY_LIMITS)
def test_limits_on_two_classes(learner, limit):
    fit_and_measure(learner, BINARY, limit, BINARY_LIMITS[limit])


@every_learner
@pytest.mark.parametrize("limit", CLASS_LIMITS)
def test_limits_on_three_classes(learner, limit):
    fit_and_measure(learner, CLASSES, limit, CLASS_LIMITS[limit])


@every_learner
def test_several_limits_as_text_and_as_rates(learner):
    limits = ["fnr <= 20%", rate.error(by="sex").gap() <= 0.06]
    model = ConstrainedClassifier(make(learner), limits, rho=20.0)
    model.fit(X, BINARY, sensitive_features={"sex": SEX})
    assert [str(limit) for limit in model.constraints_] == [
        "fnr <= 20%",
        "gap(error, by=sex) <= 6%",
    ]
    assert model.status_ == "satisfied"
    assert model.report_.to_dict()["rows"]["unseen"] == len(X)
    assert len(model.multipliers_) == 3  # one for each direction of the gap
    last = model.history_.iloc[-1]
    assert last["multiplier: fnr <= 20%"] >= 0
    assert 0 <= last["value: gap(error, by=sex) <= 6%"] <= 1
    metrics = model.report_.metrics()
    assert metrics["gap_error_by_sex_le_6pct/multiplier"] == model.multipliers_[1:].sum()
    # The report's promise carries over to rows that it has not seen: by chance at most.
    assert np.mean(model.predict(X)[BINARY == 1] == 0) < 0.25


@every_learner
@pytest.mark.parametrize("y", [BINARY, CLASSES], ids=["binary", "classes"])
@pytest.mark.parametrize("limit", ["error <= 30%", "gap(error, by=sex) <= 6%"])
def test_offsets_beside_the_model(learner, y, limit):
    objective = "balanced_error"
    given = {"constraints": limit, "objective": objective, "rho": 20.0}
    fit = {"sensitive_features": {"sex": SEX}}
    inside = ConstrainedClassifier(make(learner), **given).fit(X, y, **fit)
    beside = ConstrainedClassifier(make(learner), **given, fold_offsets=False).fit(X, y, **fit)
    offsets = np.asarray(inside.report_.to_dict()["offsets"])
    assert np.abs(offsets).max() > 0
    assert inside.report_.to_dict()["offsets"] == beside.report_.to_dict()["offsets"]
    scores = inside.decision_function(X)
    np.testing.assert_allclose(beside.decision_function(X), scores, rtol=0, atol=2e-6)
    np.testing.assert_array_equal(beside.predict(X), inside.predict(X))
    without = scores - offsets
    expected = softmax(without, axis=1) if y is CLASSES else expit(without)
    found = beside.predict_proba(X)
    np.testing.assert_allclose(found if y is CLASSES else found[:, 1], expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(beside.estimator_.predict_proba(X), found, rtol=0, atol=1e-6)
    # Where offsets decide, the largest probability does not.
    assert limit != "error <= 30%" or (beside.classes_[found.argmax(1)] != beside.predict(X)).any()
    assert (inside.classes_[inside.predict_proba(X).argmax(axis=1)] == inside.predict(X)).all()
    # What is changed after a fit is for the next one.
    decisions = inside.predict(X)
    inside.set_params(fold_offsets=False, estimator=make("linear", C=0.1))
    np.testing.assert_array_equal(inside.predict(X), decisions)


@every_learner
@pytest.mark.parametrize(
    ("labels", "pos_labels"),
    [
        (np.array([1, 0]), (0, "0", np.int64(0), 0.0)),
        (np.array(["bad", "good"]), ("bad",)),
        (np.array([True, False]), (False, "False")),
    ],
    ids=["numbers", "texts", "bools"],
)
def test_the_positive_class_by_value_and_by_text(learner, labels, pos_labels):
    y = labels[BINARY]  # the positive class is the smaller label
    positive = labels[0] if labels.dtype.kind == "U" else labels.min()
    for pos_label in pos_labels:
        model = ConstrainedClassifier(make(learner), "fnr <= 8%", pos_label=pos_label, rho=50.0)
        model.fit(X[TRAIN], y[TRAIN], eval_set=(X[TEST], y[TEST]))
        missed = model.predict(X[TEST])[y[TEST] == positive] != positive
        report = model.report_.to_dict()
        assert report["positive_class"] == str(positive)
        assert report["constraints"][0]["value"] == pytest.approx(missed.mean(), abs=1e-12)
        assert missed.mean() <= 0.08


@every_learner
def test_the_objective_is_what_is_optimised_under_the_limits(learner):
    fit = {"eval_set": (X[TEST], BINARY[TEST])}
    recalls = {}
    for objective in (None, "recall"):
        model = ConstrainedClassifier(
            make(learner), "fpr <= 25%", objective=objective, rho=50.0
        ).fit(X[TRAIN], BINARY[TRAIN], **fit)
        predicted, y = model.predict(X[TEST]), BINARY[TEST]
        recalls[objective] = predicted[y == 1].mean()
        assert predicted[y == 0].mean() <= 0.25
        report = model.report_.to_dict()
        expected = recalls["recall"] if objective else np.mean(predicted == y)
        assert report["objective"] == pytest.approx(expected, abs=1e-12)
        assert report["objective_name"] == (objective or "accuracy")
    assert recalls["recall"] > recalls[None]


@every_learner
def test_rho_trades_the_objective_against_violations(learner):
    reports = [
        ConstrainedClassifier(make(learner), ["fnr <= 2%", "fpr <= 2%"], rho=rho)
        .fit(X, BINARY)
        .report_.to_dict()
        for rho in (0.0, 50.0)
    ]
    assert reports[0]["objective"] >= reports[1]["objective"]
    assert reports[0]["violation"] >= reports[1]["violation"] > 0
    one_sided = [
        ConstrainedClassifier(make(learner), "fnr <= 2%", rho=rho).fit(X, BINARY)
        for rho in (0.0, 50.0)
    ]
    assert [model.status_ for model in one_sided] == ["violated", "satisfied"]


@every_learner
def test_without_rho_what_can_be_held_is_held(learner):
    goal = {"constraints": "fpr <= 1%", "objective": "recall"}
    model = ConstrainedClassifier(make(learner), **goal).fit(X, BINARY)
    assert model.rho is None
    assert model.status_ == "satisfied"
    point = 5 / BINARY.mean()  # 5 points of accuracy are that many of recall
    assert model.report_.to_dict()["rho"] in [pytest.approx(k * point, rel=0.005) for k in (1, 10)]
    assert model.recalibrate(goal["constraints"], rho=0.1).status_ == "violated"
    other = model.recalibrate("fpr <= 2%")
    assert other.status_ == "satisfied"
    assert other.report_.to_dict()["objective"] >= model.report_.to_dict()["objective"]
    frontier = model.frontier(X, BINARY, bounds=[0.01, 0.02, 0.1])
    assert (frontier.frame["total_violation"] == 0).all()
    assert frontier.points[0].rho == model.report_.to_dict()["rho"]
    # No decision holds both, so that one gives way.
    both = ConstrainedClassifier(make(learner), ["fnr <= 1%", "fpr <= 1%"]).fit(X, BINARY)
    assert both.status_ == "violated"
    assert both.report_.to_dict()["rho"] == 5


@every_learner
def test_a_slack_gap_does_not_keep_other_limits_from_being_held(learner):
    goal = {"objective": "recall", "random_state": 1}
    for limit in ("max(fpr, by=sex) <= 1%", "fpr(sex=F) <= 1%"):
        for limits in ([limit], [limit, "gap(fnr, by=sex) <= 90%"]):
            model = ConstrainedClassifier(make(learner), limits, **goal)
            model.fit(X, BINARY, sensitive_features={"sex": SEX})
            assert model.status_ == "satisfied", limits


@every_learner
@pytest.mark.parametrize("limits", ["fnr <= 0.1%", "gap(selection_rate, by=sex) <= 0.1%"])
def test_broken_limits_are_charged_rho(learner, limits):
    model = ConstrainedClassifier(make(learner), limits, rho=0.01)
    model.fit(X, BINARY, sensitive_features={"sex": SEX})
    assert model.status_ == "violated"
    [price] = model.report_.to_dict()["prices"]
    assert price["price"] == 0.01
    assert "each point over is charged 0.01 points of accuracy" in str(model.report_)


@pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])
def test_a_model_trained_anew_has_the_trees_of_one(learner):
    trees = {}
    for deploy in ("fold_mean", "refit"):
        model = ConstrainedClassifier(
            make(learner),
            "fnr <= 15%",
            deploy=deploy,
            n_folds=3,
            validation="folds",
            all_rounds=True,
        ).fit(X, BINARY)
        trees[deploy] = TREE_COUNT[learner](model.estimator_)
        assert model.report_.to_dict()["deploy"] == deploy
        assert model.score(X, BINARY) > 0.75
    assert trees["fold_mean"] in (60, 61)  # of XGBoost, one more may hold the start
    assert trees["refit"] in (20, 21)


@pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])
@pytest.mark.parametrize(
    "limits",
    [
        "fnr <= 15%",  # held by offsets of a plain training
        ["gap(fnr, by=sex) <= 10%", "gap(fpr, by=sex) <= 10%"],  # by the average of later iterates
    ],
)
@pytest.mark.parametrize(
    ("parameters", "models"),
    [({"validation": "folds", "n_folds": 3}, 3), ({"validation": "holdout"}, 1)],
)
def test_odd_numbers_of_rounds_are_trained_exactly(learner, limits, parameters, models):
    for rounds in (1, 7):
        estimator = make(learner, n_estimators=rounds)
        model = ConstrainedClassifier(estimator, limits, all_rounds=True, **parameters)
        model.fit(X, BINARY, sensitive_features={"sex": SEX})
        assert model.report_.to_dict()["rounds_kept"] == rounds
        trees = TREE_COUNT[learner](model.estimator_)
        assert trees - models * rounds <= (learner == "xgboost")  # one more may hold the start
        assert trees >= models * rounds


@pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])
def test_rounds_that_unseen_rows_do_not_gain_by_are_not_kept(learner):
    def fitted(limits, **parameters):
        estimator = make(learner, n_estimators=150)
        model = ConstrainedClassifier(
            estimator, limits, n_folds=3, validation="folds", **parameters
        )
        model.fit(X, BINARY)
        trees = TREE_COUNT[learner](model.estimator_)
        rounds = model.report_.to_dict()["rounds_kept"]
        assert trees - 3 * rounds in (0, 1)  # of XGBoost, one more may hold the start
        return rounds, str(model.report_)

    kept, text = fitted("fnr <= 15%")
    assert kept < 150
    assert f"{kept // 2} of 75 steps kept" in text  # of two rounds each
    every, text = fitted("fnr <= 15%", all_rounds=True)
    assert every == 150
    assert "limit, 75 steps kept" in text


@every_learner
def test_which_rows_count_as_unseen(learner):
    found = {}
    for validation in ("auto", "folds", "holdout"):
        model = ConstrainedClassifier(make(learner), "fnr <= 15%", validation=validation)
        report = model.fit(X, BINARY).report_.to_dict()
        found[validation] = (report["validation"], report["rows"]["unseen"])
    assert found["auto"] == found["folds"] == ("folds", len(X))
    assert found["holdout"][0] == "hold_out"
    assert found["holdout"][1] == pytest.approx(0.2 * len(X), abs=5)


@every_learner
def test_the_same_seed_makes_the_same_model(learner):
    def fitted(seed: Any) -> Any:
        model = ConstrainedClassifier(make(learner), "gap(error, by=sex) <= 6%", random_state=seed)
        return model.fit(X, BINARY, sensitive_features={"sex": SEX})

    first, second, other = fitted(1), fitted(1), fitted(2)
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    assert (first.decision_function(X) != other.decision_function(X)).any()
    np.testing.assert_array_equal(
        fitted(np.random.RandomState(3)).decision_function(X),
        fitted(np.random.RandomState(3)).decision_function(X),
    )


@every_learner
def test_evaluation_rows_have_groups_and_weights_of_their_own(learner):
    pandas = pytest.importorskip("pandas")
    limit = "gap(selection_rate, by=sex) <= 5%"
    models = []
    for order in (["F", "M"], ["M", "F"]):
        frames = [
            pandas.DataFrame({"sex": pandas.Categorical(SEX[rows], categories=order)})
            for rows in (TRAIN, TEST)
        ]
        model = ConstrainedClassifier(make(learner), limit, rho=50.0)
        model.fit(
            X[TRAIN],
            BINARY[TRAIN],
            sensitive_features=frames[0],
            eval_set=(X[TEST], BINARY[TEST]),
            eval_sensitive_features=frames[1],
            eval_sample_weight=WEIGHTS[TEST],
        )
        models.append(model)
    np.testing.assert_array_equal(models[0].decision_function(X), models[1].decision_function(X))
    predicted, sex = models[0].predict(X[TEST]), SEX[TEST]
    selected = [
        np.average(predicted[sex == group], weights=WEIGHTS[TEST][sex == group])
        for group in ("F", "M")
    ]
    row = models[0].report_.to_dict()["constraints"][0]
    assert row["value"] == pytest.approx(np.ptp(selected), abs=1e-12)


def test_groups_of_the_features_and_beside_them():
    pandas = pytest.importorskip("pandas")
    limit = "gap(selection_rate, by=sex) <= 5%"
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(sex=(SEX == "F").astype(float))
    beside = ConstrainedClassifier(make("linear"), limit).fit(
        frame, BINARY, sensitive_features=frame[["sex"]]
    )
    among = ConstrainedClassifier(make("linear"), limit).fit(frame, BINARY)
    np.testing.assert_array_equal(among.decision_function(frame), beside.decision_function(frame))
    # What is given beside the features comes first.
    shuffled = {"sex": np.random.default_rng(0).permutation(SEX)}
    other = ConstrainedClassifier(make("linear"), limit).fit(
        frame, BINARY, sensitive_features=shuffled
    )
    assert (other.decision_function(frame) != among.decision_function(frame)).any()


def test_missing_groups_are_a_group():
    sex = SEX.astype(object)
    sex[:150] = None
    model = ConstrainedClassifier(make("linear"), "max(error, by=sex) <= 30%")
    model.fit(X, BINARY, sensitive_features={"sex": sex})
    groups = model.report_.to_dict()["constraints"][0]["groups"]
    assert [group["group"] for group in groups] == ["sex=F", "sex=M", "sex=<missing>"]
    assert all(0 <= group["value"] <= 0.3 for group in groups)


def test_indices_that_disagree_are_a_warning():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X)
    frame.columns = list("abcd")
    y = pandas.Series(BINARY, index=np.arange(len(X))[::-1])
    model = ConstrainedClassifier(make("linear"))
    with pytest.warns(UserWarning, match="X and y have different indices") as caught:
        model.fit(frame, y)
    assert caught[0].filename == __file__
