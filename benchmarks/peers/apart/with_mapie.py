"""MAPIE: a threshold whose recall is guaranteed with confidence 0.9, chosen on held-out rows."""

from collections.abc import Callable

import numpy as np
from mapie.risk_control import BinaryClassificationController

from benchmarks.peers.apart.held_out import model_and_rows
from benchmarks.peers.apart.request import Request

CONFIDENCE = 0.9  # bregboost's default for certificates is the same
THRESHOLDS = 200


def risk_control(request: Request) -> Callable[[], np.ndarray]:
    """Thresholds are quantiles of the scores that the model was fitted with: those of the package,
    0 to 0.99 by hundredths, are too coarse for a rare class."""
    model, seen, unseen = model_and_rows(request)
    scores = model.predict_proba(seen.features)[:, 1]
    thresholds = np.unique(np.quantile(scores, np.linspace(0.0, 1.0, THRESHOLDS)))
    controller = BinaryClassificationController(
        model.predict_proba,
        risk="recall",
        target_level=1.0 - request.limits[0].bound,
        confidence_level=CONFIDENCE,
        best_predict_param_choice="accuracy",
        list_predict_params=thresholds,
        fwer_method="fixed_sequence",
    )
    controller.calibrate(unseen.features, unseen.labels)
    return lambda: controller.predict(request.test_features)
