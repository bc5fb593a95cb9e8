"""The trees that all methods grow."""

from typing import Any

ROUNDS = 100
LEARNING_RATE = 0.1
LEAVES = 31  # LightGBM
DEPTH = 5  # XGBoost

LIGHTGBM = {
    "n_estimators": ROUNDS,
    "learning_rate": LEARNING_RATE,
    "num_leaves": LEAVES,
    "deterministic": True,
    "force_col_wise": True,
    "verbose": -1,
}
XGBOOST = {
    "n_estimators": ROUNDS,
    "learning_rate": LEARNING_RATE,
    "max_depth": DEPTH,
    "tree_method": "hist",
    "verbosity": 0,
}


def estimator(learner: str, threads: int) -> Any:
    """An estimator that is not fitted yet."""
    if learner == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(**LIGHTGBM, n_jobs=threads)
    if learner == "xgboost":
        from xgboost import XGBClassifier

        return XGBClassifier(**XGBOOST, n_jobs=threads)
    raise ValueError(f"learner: '{learner}'; allowed: lightgbm, xgboost")
