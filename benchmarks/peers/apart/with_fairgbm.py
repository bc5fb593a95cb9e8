"""FairGBM, a fork of LightGBM. Its words are the groups' FNR and FPR, and the two rates overall."""

from collections.abc import Callable

import numpy as np
from fairgbm import FairGBMClassifier

from benchmarks.common.rate_limits import GapLimit
from benchmarks.common.trees import LEARNING_RATE, LEAVES, ROUNDS
from benchmarks.peers.apart.request import Request


def train(request: Request) -> Callable[[], np.ndarray]:
    """A limit on the gap of errors becomes the same limit on both kinds of errors: there is no
    nearer word."""
    rows = request.training
    groups = rows.groups
    if isinstance(request.limits[0], GapLimit):
        bounds = {limit.name: limit.bound for limit in request.limits}
        words = {
            "constraint_type": "FNR,FPR",
            "constraint_fnr_tolerance": bounds.get("fnr", bounds.get("error")),
            "constraint_fpr_tolerance": bounds.get("fpr", bounds.get("error")),
        }
    else:
        words = {
            "constraint_type": "",
            "global_constraint_type": "FNR",
            "global_target_fnr": request.limits[0].bound,
        }
        groups = np.zeros(len(rows.labels), dtype=int)
    model = FairGBMClassifier(
        n_estimators=ROUNDS,
        learning_rate=LEARNING_RATE,
        num_leaves=LEAVES,
        n_jobs=request.threads,
        random_state=request.seed,
        verbose=-1,
        **words,
    )
    model.fit(rows.features, rows.labels, constraint_group=groups)
    return lambda: model.predict_proba(request.test_features)[:, 1] > 0.5
