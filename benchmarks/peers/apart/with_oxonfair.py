"""OxonFair: a threshold for each group, chosen on held-out rows."""

from collections.abc import Callable

import numpy as np
import oxonfair
from oxonfair import group_metrics

from benchmarks.peers.apart.held_out import model_and_rows
from benchmarks.peers.apart.request import Request

MEASURES = {
    "error": group_metrics.accuracy.diff,
    "fnr": group_metrics.equalized_odds_max,
    "selection_rate": group_metrics.demographic_parity,
}


def thresholds(request: Request) -> Callable[[], np.ndarray]:
    """Without groups, one threshold for all under a floor of recall."""
    model, _, unseen = model_and_rows(request)
    limit = request.limits[0]
    fair = oxonfair.FairPredictor(
        model, oxonfair.DataDict(unseen.labels, unseen.features, unseen.groups)
    )
    if unseen.groups is None:
        fair.fit(group_metrics.accuracy, group_metrics.recall, 1.0 - limit.bound)
    else:
        fair.fit(group_metrics.accuracy, MEASURES[limit.name], limit.bound)
    unknown = np.zeros(len(request.test_features))  # labels have to be there, and are not used
    test = oxonfair.DataDict(unknown, request.test_features, request.test_groups)
    return lambda: fair.predict(test)
