"""The stock libraries, which know nothing of limits; and the same with thresholds tuned out of
fold."""

import time
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from benchmarks.common.rate_limits import Limit, Outcome, total_violation
from benchmarks.common.rows import Rows
from benchmarks.common.trees import estimator
from benchmarks.peers.method import RHO, Answer, Method, Problem

FOLDS = 5
SMALLEST_PROBABILITY = 1e-15
TREES = ("lightgbm", "xgboost")


class Plain(Method):
    title = "plain"
    learners = TREES

    def can_do(self, limits: tuple[Limit, ...]) -> bool:
        return True

    def fit(self, problem: Problem, learner: str) -> Answer:
        model = estimator(learner, problem.threads)
        training = problem.split.training
        start = time.perf_counter()
        model.fit(training.features, training.labels)
        seconds = time.perf_counter() - start
        return Answer(log_scores(model, problem.split.test.features).argmax(axis=1), seconds)


class TunedOffsets(Method):
    """What a careful user does by hand: out-of-fold scores, offsets that minimise the merit there,
    a model of all rows with these offsets."""

    title = "plain + offsets tuned out of fold"
    learners = TREES
    has_settings = True

    def can_do(self, limits: tuple[Limit, ...]) -> bool:
        return True

    def fit(self, problem: Problem, learner: str) -> Answer:
        model = estimator(learner, problem.threads)
        training = problem.split.training
        start = time.perf_counter()
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=problem.seed)
        probabilities = cross_val_predict(
            model, training.features, training.labels, cv=folds, method="predict_proba"
        )
        merit = Merit(training, problem.limits, RHO if problem.rho is None else problem.rho)
        offsets = tuned_offsets(logarithms(probabilities), merit)
        model.fit(training.features, training.labels)
        seconds = time.perf_counter() - start
        scores = log_scores(model, problem.split.test.features)
        return Answer((scores + offsets).argmax(axis=1), seconds)


def logarithms(probabilities: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(probabilities, SMALLEST_PROBABILITY))


def log_scores(model: object, features: np.ndarray) -> np.ndarray:
    return logarithms(np.asarray(model.predict_proba(features), dtype=float))


@dataclass(frozen=True)
class Merit:
    """error + rho * violation of decisions on known rows: the smaller, the better."""

    rows: Rows
    limits: tuple[Limit, ...]
    rho: float

    def __call__(self, predicted: np.ndarray) -> float:
        outcome = Outcome(predicted, self.rows.labels, self.rows.groups)
        return 1.0 - outcome.accuracy + self.rho * total_violation(self.limits, outcome)


POINTS = 400  # places tried for an offset, shared among the true classes
SWEEPS = 6


def tuned_offsets(scores: np.ndarray, merit: Merit) -> np.ndarray:
    """Coordinate search: each class's offset in turn is moved to the best of the places where rows
    enter or leave the class. With two classes, one of them is enough."""
    classes = scores.shape[1]
    offsets = np.zeros(classes)
    best = merit(scores.argmax(axis=1))
    for _ in range(1 if classes == 2 else SWEEPS):
        before = best
        for moved in [1] if classes == 2 else range(classes):
            shifted = scores + offsets
            own = shifted[:, moved].copy()
            shifted[:, moved] = -np.inf
            others, lead = shifted.argmax(axis=1), shifted.max(axis=1) - own
            step = 0.0
            for point in turning_points(lead, merit.rows.labels):
                value = merit(np.where(lead < point, moved, others))
                if value < best:
                    best, step = value, point
            if step:
                offsets[moved] += step
        if best >= before:
            break
    return offsets


def turning_points(lead: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Quantiles of `lead` by true class, so that rare classes are seen as finely as common ones."""
    classes = np.unique(labels)
    shares = np.linspace(0.0, 1.0, POINTS // len(classes))
    points = [np.quantile(lead[labels == label], shares) for label in classes]
    beyond = 1e-9  # rows at a point are on its near side
    return np.unique(np.concatenate(points)) + beyond
