"""Models along a frontier of group limits: no point is beaten by the model of another."""

import numpy as np
from bregboost import ConstrainedClassifier
from lightgbm import LGBMClassifier

BOUNDS = [0.03, 0.08, 0.15, 0.3]


def test_every_point_has_the_best_of_the_trainings() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1200, 4))
    group = rng.choice(["a", "b"], 1200)
    y = (X[:, 0] + 0.8 * (group == "a") + 0.7 * rng.logistic(size=1200) > 0.4).astype(int)
    model = ConstrainedClassifier(
        LGBMClassifier(n_estimators=20, num_leaves=7, verbose=-1),
        "gap(selection_rate, by=group) <= 5%",
    )
    X = np.column_stack([X, group == "a"])
    sweep = model.frontier(X, y, bounds=BOUNDS, sensitive_features={"group": group})
    accuracy = [point.objective for point in sweep.points]
    for point, other in zip(sweep.points, sweep.points[1:], strict=False):
        if point.model.report_.satisfied:  # what holds a tighter bound holds a looser one
            assert other.objective >= point.objective
    assert accuracy[-1] >= accuracy[0]
    for point, bound in zip(sweep.points, BOUNDS, strict=True):
        text = str(point.model.constraints_[0])
        assert text == f"gap(selection_rate, by=group) <= {100 * bound:g}%"
        measured = point.model.report_.to_dict()["constraints"][0]
        assert measured["satisfied"] == (measured["value"] <= bound + 1e-12)
