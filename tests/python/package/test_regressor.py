"""Regressors under limits on the losses of groups."""

from typing import Any

import numpy as np
import pytest
from bregboost import ConstrainedRegressor
from small_learners import SEX, X, every_learner, make

_generator = np.random.default_rng(2)
# The slope is not the same for both groups, which no model of X alone can know.
Y = X[:, 0] * np.where(SEX == "F", 1.0, 2.0) + 0.1 * _generator.normal(size=len(X))
TRAIN, TEST = np.arange(0, 400), np.arange(400, 600)
HUBER = {"lightgbm": {"objective": "huber", "alpha": 0.5}}


def fitted(learner: str, limits: Any, rho: float = 50.0, **parameters: Any) -> Any:
    model = ConstrainedRegressor(make(learner, "regression"), limits, rho=rho, **parameters)
    return model.fit(
        X[TRAIN],
        Y[TRAIN],
        sensitive_features={"sex": SEX[TRAIN]},
        eval_set=(X[TEST], Y[TEST]),
        eval_sensitive_features={"sex": SEX[TEST]},
    )


def losses(model: Any) -> dict[str, float]:
    of_row = (model.predict(X[TEST]) - Y[TEST]) ** 2
    return {group: float(of_row[SEX[TEST] == group].mean()) for group in ("F", "M")}


@every_learner
def test_the_worst_group_is_what_the_report_says(learner):
    free = fitted(learner, "loss <= 100")
    worst = max(losses(free).values())
    limit = f"max(loss, by=sex) <= {0.85 * worst:.4f}"
    model = fitted(learner, limit)
    row = model.report_.to_dict()["constraints"][0]
    assert row["value"] == pytest.approx(max(losses(model).values()), rel=1e-5)
    assert max(losses(model).values()) < worst
    assert row["satisfied"] == (row["value"] <= row["bound"])
    assert model.status_ == ("satisfied" if row["satisfied"] else "violated")
    np.testing.assert_allclose(model.estimator_.predict(X), model.predict(X), rtol=0, atol=1e-6)
    assert model.score(X, Y) > 0.5


@every_learner
def test_a_group_can_be_favoured(learner):
    free = fitted(learner, "loss <= 100")
    bound = 0.5 * losses(free)["F"]
    model = fitted(learner, f"loss(sex=F) <= {bound:.5f}", rho=100.0)
    assert losses(model)["F"] < 0.8 * losses(free)["F"]
    assert losses(model)["M"] > losses(free)["M"]
    assert not hasattr(model, "classes_")
    with pytest.raises(ValueError, match="allowed: a classifier"):
        model.recalibrate("loss <= 1")


@every_learner
def test_a_certificate_of_a_loss(learner):
    rows = np.random.default_rng(3).uniform(-1, 1, size=(2000, 2))
    y = np.clip(rows[:, 0] + 0.1 * rows[:, 1], -1, 1)
    model = ConstrainedRegressor(
        make(learner, "regression"), "loss <= 0.3", certify=0.3, loss_range=(0.0, 4.0)
    ).fit(rows, y)
    assert model.status_ == "certified"
    verdict = model.certificate_.get("loss <= 0.3")
    assert verdict.value < verdict.confidence_bound <= 0.3
    with pytest.raises(ValueError, match="loss_range: unset; allowed: the smallest"):
        model.set_params(loss_range=None).fit(rows, y)


def test_hubers_loss_is_the_estimators():
    model = ConstrainedRegressor(
        make("lightgbm", "regression", **HUBER["lightgbm"]), "loss <= 100"
    ).fit(X[TRAIN], Y[TRAIN], eval_set=(X[TEST], Y[TEST]))
    error = np.abs(model.predict(X[TEST]) - Y[TEST])
    huber = np.where(error <= 0.5, error**2 / 2, 0.5 * (error - 0.25))
    value = model.report_.to_dict()["constraints"][0]["value"]
    assert value == pytest.approx(huber.mean(), rel=1e-6)


@every_learner
def test_the_papers_solver(learner):
    free = ConstrainedRegressor(make(learner, "regression"), "loss <= 100", solver="abpp")
    free.fit(X, Y)
    of_row = (free.predict(X) - Y) ** 2
    bound = 0.9 * of_row[SEX == "M"].mean()
    model = ConstrainedRegressor(
        make(learner, "regression"), f"loss(sex=M) <= {bound:.5f}", solver="abpp"
    ).fit(X, Y, sensitive_features={"sex": SEX})
    row = model.report_.to_dict()["constraints"][0]
    of_group = ((model.predict(X) - Y) ** 2)[SEX == "M"].mean()
    assert row["value"] == pytest.approx(of_group, rel=1e-5)
    assert of_group < of_row[SEX == "M"].mean()
    assert model.history_["max_multiplier"].max() > 0


@every_learner
@pytest.mark.parametrize("models", [True, False])
def test_a_frontier_of_losses_knows_that_less_is_better(learner, models):
    model = ConstrainedRegressor(make(learner, "regression"), "loss(sex=F) <= 0.2", rho=20.0)
    sweep = model.frontier(X, Y, bounds=[0.1, 0.4], models=models, sensitive_features={"sex": SEX})
    assert (sweep.maximise, sweep.objective_name) == (False, "loss")
    assert sweep.points[0].objective >= sweep.points[1].objective - 1e-12
