"""A model and rows that it has not seen, for peers that choose thresholds on such rows."""

from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.common.rows import Rows
from benchmarks.common.trees import estimator
from benchmarks.peers.apart.request import Request

HELD_OUT_SHARE = 0.3


def model_and_rows(request: Request) -> tuple[Any, Rows, Rows]:
    """The model, the rows that it was fitted to, and the others."""
    rows = request.training
    cells = rows.labels if rows.groups is None else 2 * rows.groups + rows.labels
    seen, unseen = train_test_split(
        np.arange(len(rows.labels)),
        test_size=HELD_OUT_SHARE,
        random_state=request.seed,
        stratify=cells,
    )
    model = estimator("lightgbm", request.threads)
    model.fit(rows.features[seen], rows.labels[seen])
    return model, rows[seen], rows[unseen]
