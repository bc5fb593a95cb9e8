"""Random forests under bounds on class errors: the two estimators of Tian and Feng.

    minimise   sum_k w_k R_k(phi)      subject to   R_k(phi) <= alpha_k  for the bounded classes

with R_k(phi) = P(phi(X) != k | Y = k). For multipliers lambda >= 0 the Lagrangian is minimised by

    phi_lambda(x) = argmax_k c_k P(Y = k | x),    c_k = (w_k + lambda_k) / pi_k,

pi_k the share of class k, and lambda maximises the dual

    G(lambda) = min_phi sum_k w_k R_k(phi) + sum_k lambda_k (R_k(phi) - alpha_k).

CX puts estimated probabilities into G, which is then concave: 1 - R_k is the mean of
1[phi = k] P(Y = k | x) / pi_k. ER counts the errors R_k of phi_lambda on rows that the
probabilities were not estimated from. Weights w = pi make the objective the error rate.

Y. Tian, Y. Feng: Neyman-Pearson multi-class classification via cost-sensitive learning. 2021.
"""

import time
from collections.abc import Callable

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from benchmarks.common.rate_limits import ClassLimit, Limit, are_class_bounds
from benchmarks.peers.method import Answer, Method, Problem

TREES = 100  # as many as the boosters have rounds
LARGEST_LOG_COST = 10.0  # where no multiplier holds a bound, the dual grows for ever
FIRST_STEP, LAST_STEP = 1.0, 1e-3

Dual = Callable[[np.ndarray], float]


def new_forest(problem: Problem, **options: bool) -> RandomForestClassifier:
    return RandomForestClassifier(
        TREES, n_jobs=problem.threads, random_state=problem.seed, **options
    )


class Forest(Method):
    learners = ("forest",)

    def can_do(self, limits: tuple[Limit, ...]) -> bool:
        return are_class_bounds(limits)


class ForestCX(Forest):
    """On out-of-bag probabilities: on its own rows a forest is nearly always right, and no bound
    would be seen as broken."""

    title = "random forest, CX"

    def fit(self, problem: Problem, learner: str) -> Answer:
        training = problem.split.training
        start = time.perf_counter()
        forest = new_forest(problem, oob_score=True)
        forest.fit(training.features, training.labels)
        shares = class_shares(training.labels)
        dual = concave_dual(forest.oob_decision_function_, shares, problem.limits)
        costs = maximising_costs(dual, problem.limits, len(shares))
        seconds = time.perf_counter() - start
        return Answer(decide(forest, problem.split.test.features, costs), seconds)


class ForestER(Forest):
    """Half of the rows for probabilities, half for errors, then a forest of all rows."""

    title = "random forest, ER"

    def fit(self, problem: Problem, learner: str) -> Answer:
        training = problem.split.training
        start = time.perf_counter()
        places = np.arange(len(training.labels))
        seen, counted = train_test_split(
            places, test_size=0.5, random_state=problem.seed, stratify=training.labels
        )
        forest = new_forest(problem).fit(training.features[seen], training.labels[seen])
        dual = counted_dual(
            forest.predict_proba(training.features[counted]),
            training.labels[counted],
            class_shares(training.labels),
            problem.limits,
        )
        costs = maximising_costs(dual, problem.limits, len(forest.classes_))
        forest = new_forest(problem).fit(training.features, training.labels)
        seconds = time.perf_counter() - start
        return Answer(decide(forest, problem.split.test.features, costs), seconds)


def class_shares(labels: np.ndarray) -> np.ndarray:
    return np.bincount(labels) / len(labels)


def decide(forest: RandomForestClassifier, features: np.ndarray, costs: np.ndarray) -> np.ndarray:
    return (forest.predict_proba(features) * costs).argmax(axis=1)


def bounds_by_class(limits: tuple[ClassLimit, ...], classes: int) -> np.ndarray:
    """NaN where there is none."""
    bounds = np.full(classes, np.nan)
    for limit in limits:
        bounds[limit.label] = limit.bound
    return bounds


def lagrangian(
    errors: np.ndarray, costs: np.ndarray, shares: np.ndarray, bounds: np.ndarray
) -> float:
    """With w = pi, a cost c_k stands for the multiplier lambda_k = pi_k (c_k - 1)."""
    multipliers = shares * (costs - 1.0)
    excess = np.where(np.isnan(bounds), 0.0, errors - bounds)
    return float(shares @ errors + multipliers @ excess)


def concave_dual(
    probabilities: np.ndarray, shares: np.ndarray, limits: tuple[ClassLimit, ...]
) -> Dual:
    """CX. Rows without an out-of-bag tree have no probabilities and do not count."""
    probabilities = probabilities[~np.isnan(probabilities).any(axis=1)]
    classes = len(shares)
    bounds = bounds_by_class(limits, classes)

    def dual(costs: np.ndarray) -> float:
        chosen = (probabilities * costs).argmax(axis=1)
        given = probabilities[np.arange(len(chosen)), chosen]
        hits = np.bincount(chosen, given, minlength=classes) / len(chosen)
        return lagrangian(1.0 - hits / shares, costs, shares, bounds)

    return dual


def counted_dual(
    probabilities: np.ndarray,
    labels: np.ndarray,
    shares: np.ndarray,
    limits: tuple[ClassLimit, ...],
) -> Dual:
    """ER."""
    classes = len(shares)
    bounds = bounds_by_class(limits, classes)
    rows = np.bincount(labels, minlength=classes)

    def dual(costs: np.ndarray) -> float:
        wrong = labels[(probabilities * costs).argmax(axis=1) != labels]
        return lagrangian(np.bincount(wrong, minlength=classes) / rows, costs, shares, bounds)

    return dual


def maximising_costs(dual: Dual, limits: tuple[ClassLimit, ...], classes: int) -> np.ndarray:
    """Hooke and Jeeves' pattern search over log c_k >= 0 of the bounded classes."""
    bounded = np.array([limit.label for limit in limits])

    def value(point: np.ndarray) -> float:
        costs = np.ones(classes)
        costs[bounded] = np.exp(point)
        return dual(costs)

    def explored(point: np.ndarray, best: float) -> tuple[np.ndarray, float]:
        """A step up or down along each coordinate that gains by it."""
        for j in range(len(point)):
            for sign in (1.0, -1.0):
                trial = point.copy()
                trial[j] = np.clip(trial[j] + sign * step, 0.0, LARGEST_LOG_COST)
                trial_value = value(trial)
                if trial_value > best:
                    point, best = trial, trial_value
                    break
        return point, best

    step = FIRST_STEP
    point = np.zeros(len(bounded))
    best = value(point)
    while step > LAST_STEP:
        moved, moved_best = explored(point, best)
        while moved_best > best:
            # On in the same direction, as long as that gains.
            ahead = np.clip(2.0 * moved - point, 0.0, LARGEST_LOG_COST)
            point, best = moved, moved_best
            moved, moved_best = explored(ahead, value(ahead))
        step /= 2.0
    costs = np.ones(classes)
    costs[bounded] = np.exp(point)
    return costs
