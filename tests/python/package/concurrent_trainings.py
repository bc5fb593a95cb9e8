"""Trainings to run side by side, and what they leave behind; also what child processes run."""

import hashlib
from typing import Any

import numpy as np
from bregboost import ConstrainedClassifier
from small_learners import make

# Learner, solver, limits: four of each library that have nothing in common.
TRAININGS = {
    learner: [
        (learner, "auto", "gap(error, by=sex) <= 5%"),
        (learner, "auto", "fnr <= 20%"),
        (learner, "abpp", "fpr <= 25%"),
        (learner, "abpp", "error(sex=F) <= 20%"),
    ]
    for learner in ("lightgbm", "xgboost")
}
NUM_ROWS = 12_000  # row loops of the core run on several threads from 4,096 on


def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(NUM_ROWS, 4))
    sex = rng.choice(["F", "M"], NUM_ROWS)
    score = X[:, 0] + 0.5 * X[:, 1] + 0.4 * (sex == "F") + 0.6 * rng.normal(size=NUM_ROWS)
    return X, (score > 0.3).astype(int), sex


def train(learner: str, solver: str, limit: str, **parameters: Any) -> ConstrainedClassifier:
    X, y, sex = rows()
    model = ConstrainedClassifier(make(learner, **parameters), limit, solver=solver)
    return model.fit(X, y, sensitive_features={"sex": sex})


def digest(learner: str, solver: str, limit: str, **parameters: Any) -> str:
    """Of the model, every bit of its file, and of its multipliers."""
    model = train(learner, solver, limit, **parameters)
    content = model._model
    hashed = hashlib.sha256(content.encode() if isinstance(content, str) else content)
    hashed.update(np.asarray(model.multipliers_).tobytes())
    return hashed.hexdigest()
