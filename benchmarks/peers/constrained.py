"""bregboost with solver "auto" and default settings."""

import time

import pandas as pd

from benchmarks.common.rate_limits import Limit
from benchmarks.common.trees import estimator
from benchmarks.peers.method import Answer, Method, Problem


class Constrained(Method):
    title = "bregboost"
    learners = ("lightgbm", "xgboost")
    has_settings = True

    def can_do(self, limits: tuple[Limit, ...]) -> bool:
        return True

    def fit(self, problem: Problem, learner: str) -> Answer:
        from bregboost import ConstrainedClassifier

        training = problem.split.training
        groups = None if training.groups is None else pd.DataFrame({"group": training.groups})
        model = ConstrainedClassifier(
            estimator(learner, problem.threads),
            [limit.text for limit in problem.limits],
            rho=problem.rho,
            random_state=problem.seed,
            verbose=False,
        )
        start = time.perf_counter()
        model.fit(training.features, training.labels, sensitive_features=groups)
        seconds = time.perf_counter() - start
        return Answer(model.predict(problem.split.test.features), seconds)
