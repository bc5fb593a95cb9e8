"""fairlearn: its reduction to weighted learning, and thresholds by group."""

from collections.abc import Callable

import numpy as np
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.reductions import (
    DemographicParity,
    EqualizedOdds,
    ErrorRateParity,
    ExponentiatedGradient,
)

from benchmarks.common.trees import estimator
from benchmarks.peers.apart.deviation import deviation_bound
from benchmarks.peers.apart.request import Request

Predict = Callable[[], np.ndarray]
MOMENTS = {"error": ErrorRateParity, "fnr": EqualizedOdds, "selection_rate": DemographicParity}
PARITIES = {"fnr": "equalized_odds", "selection_rate": "selection_rate_parity"}


def reduction(request: Request) -> Predict:
    """The package bounds how far each group is from all rows; two groups whose gap is at the bound
    are nearer to all rows than that. The bound it is given is the one that says the same."""
    bounds = [deviation_bound(limit, request.training) for limit in request.limits]
    return fitted_reduction(request, min(bounds))


def reduction_as_given(request: Request) -> Predict:
    """The bound of the gap, as it stands."""
    return fitted_reduction(request, request.limits[0].bound)


def fitted_reduction(request: Request, bound: float) -> Predict:
    rows = request.training
    moment = MOMENTS[request.limits[0].name](difference_bound=bound)
    model = ExponentiatedGradient(estimator("lightgbm", request.threads), moment)
    model.fit(rows.features, rows.labels, sensitive_features=rows.groups)
    return lambda: model.predict(request.test_features, random_state=request.seed)


def thresholds(request: Request) -> Predict:
    """Equalised odds can only be asked for exactly."""
    rows, limit = request.training, request.limits[0]
    model = ThresholdOptimizer(
        estimator=estimator("lightgbm", request.threads),
        constraints=PARITIES[limit.name],
        objective="accuracy_score",
        predict_method="predict_proba",
        tol=None if limit.name == "fnr" else limit.bound,
    )
    model.fit(rows.features, rows.labels, sensitive_features=rows.groups)
    return lambda: model.predict(
        request.test_features,
        sensitive_features=request.test_groups,
        random_state=request.seed,
    )
