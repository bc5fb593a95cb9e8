"""A linear model under limits on class or group losses, as one convex problem:

    minimise   f = sum_i a_i loss_i + l2 / 2 ||coefficients||^2        (no penalty on intercepts)
    subject to g_j = sum_i c_ji loss_i - bound_j <= 0

A class's or group's mean loss puts 1 / (its weight) on its rows, so a and c are rows of shares that
sum to 1. Solved here by cvxpy, checked here in numpy, and written as the command line of
`constrained_linear`, which finds the same rows from its own reading of the constraint texts.
"""

from dataclasses import dataclass, field

import cvxpy as cp
import numpy as np
import pandas as pd
from scipy.special import logsumexp, softmax


def standardise(values: np.ndarray) -> np.ndarray:
    return (values - values.mean(axis=0)) / values.std(axis=0)


@dataclass(frozen=True)
class Limit:
    """A constraint text and what it means: one g_j for each set of rows, all with this bound."""

    text: str
    rows: tuple[np.ndarray, ...]  # boolean, one entry per row of the data
    bound: float


@dataclass(frozen=True)
class Solution:
    objective: float
    values: np.ndarray  # g
    multipliers: np.ndarray
    stationarity: float  # || df + sum_j y_j dg_j ||


@dataclass(frozen=True)
class LinearProblem:
    features: np.ndarray
    outcome: np.ndarray  # class names, or numbers for squared and huber
    limits: tuple[Limit, ...]
    loss: str = "cross_entropy"
    l2: float = 0.01
    weights: np.ndarray | None = None
    class_balanced: bool = False
    groups: dict[str, np.ndarray] = field(default_factory=dict)
    positive: str | None = None

    @property
    def is_regression(self) -> bool:
        return self.loss != "cross_entropy"

    @property
    def classes(self) -> np.ndarray:
        return np.unique(self.outcome)

    @property
    def num_scores(self) -> int:
        return 1 if self.is_regression or len(self.classes) == 2 else len(self.classes)

    def shares(self, rows: np.ndarray) -> np.ndarray:
        weights = np.ones(len(rows)) if self.weights is None else self.weights
        return np.where(rows, weights, 0.0) / weights[rows].sum()

    @property
    def objective_shares(self) -> np.ndarray:
        if self.class_balanced:
            return np.mean([self.shares(self.outcome == c) for c in self.classes], axis=0)
        return self.shares(np.full(len(self.outcome), True))

    @property
    def limit_shares(self) -> np.ndarray:
        return np.array([self.shares(rows) for limit in self.limits for rows in limit.rows])

    @property
    def bounds(self) -> np.ndarray:
        return np.array([limit.bound for limit in self.limits for _ in limit.rows])

    def frame(self) -> pd.DataFrame:
        columns = {f"feature{j}": column for j, column in enumerate(self.features.T)}
        columns |= {"outcome": self.outcome} | self.groups
        return pd.DataFrame(columns if self.weights is None else columns | {"weight": self.weights})

    def arguments(self) -> list[str]:
        """Of `constrained_linear`, for the file that `frame` fills."""
        words = ["--target" if self.is_regression else "--label", "outcome"]
        words += ["--loss", self.loss, "--l2", str(self.l2)]
        words += [word for limit in self.limits for word in ("--constraint", limit.text)]
        words += [word for name in self.groups for word in ("--group", name)]
        words += ["--class-balanced"] if self.class_balanced else []
        words += ["--weight", "weight"] if self.weights is not None else []
        words += ["--positive", self.positive] if self.positive is not None else []
        return words

    def check(
        self, coefficients: np.ndarray, intercept: np.ndarray, multipliers: np.ndarray
    ) -> Solution:
        """What (x, y) amounts to, from the definitions above."""
        losses, slopes = self._losses(self.features @ coefficients + intercept)
        lagrangian = self.objective_shares + multipliers @ self.limit_shares
        by_score = lagrangian[:, None] * slopes
        gradient = self.features.T @ by_score + self.l2 * coefficients
        return Solution(
            objective=self.objective_shares @ losses + self.l2 / 2 * np.sum(coefficients**2),
            values=self.limit_shares @ losses - self.bounds,
            multipliers=multipliers,
            stationarity=float(np.hypot(np.linalg.norm(gradient), np.linalg.norm(by_score.sum(0)))),
        )

    def _losses(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each row's loss, and its slope along each of the row's scores."""
        if self.is_regression:
            residual = scores[:, 0] - self.outcome
            if self.loss == "squared":
                return residual**2, 2 * residual[:, None]
            inside = np.clip(residual, -1.0, 1.0)  # the Huber loss with delta = 1
            return inside * (residual - inside / 2), inside[:, None]
        if self.num_scores == 1:  # the log-odds of the second class
            scores = np.column_stack([np.zeros(len(scores)), scores[:, 0]])
        label = self.outcome[:, None] == self.classes
        slopes = softmax(scores, axis=1) - label
        return logsumexp(scores, axis=1) - scores[label], slopes[:, -self.num_scores :]

    def solve_conic(self) -> Solution:
        """The same problem by Clarabel, an interior-point method that shares nothing with ABPP."""
        count, width = self.features.shape
        coefficients = cp.Variable((width, self.num_scores))
        intercept = cp.Variable((1, self.num_scores))
        losses = cp.Variable(count)  # at least each row's loss; equal to it at the solution
        scores = self.features @ coefficients + np.ones((count, 1)) @ intercept
        limits = self.limit_shares @ losses <= self.bounds
        rules = [limits, self._conic_losses(scores) <= losses]
        if self.num_scores > 1:
            rules.append(cp.sum(intercept) == 0)  # adding a number to every class changes nothing
        penalty = self.l2 / 2 * cp.sum_squares(coefficients)
        problem = cp.Problem(cp.Minimize(self.objective_shares @ losses + penalty), rules)
        problem.solve(solver=cp.CLARABEL)
        assert problem.status == cp.OPTIMAL
        return self.check(coefficients.value, intercept.value[0], limits.dual_value)

    def _conic_losses(self, scores: cp.Expression) -> cp.Expression:
        if self.is_regression:
            residual = scores[:, 0] - self.outcome
            # cvxpy's Huber function is twice ours.
            return cp.square(residual) if self.loss == "squared" else cp.huber(residual) / 2
        label = self.outcome[:, None] == self.classes
        if self.num_scores == 1:
            return cp.logistic(cp.multiply(np.where(label[:, 1], -1, 1), scores[:, 0]))
        return cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(label, scores), axis=1)
