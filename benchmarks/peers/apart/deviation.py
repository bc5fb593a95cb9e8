"""Gaps between two groups in the words of packages that compare each group with all rows."""

import numpy as np

from benchmarks.common.rate_limits import GapLimit
from benchmarks.common.rows import Rows


def deviation_bound(limit: GapLimit, rows: Rows) -> float:
    """A group with share s of the rows is (1 - s) gaps away from all of them: the smaller group
    is the one that decides."""
    counted = rows.groups if limit.label is None else rows.groups[rows.labels == limit.label]
    shares = np.bincount(counted) / len(counted)
    return float((1.0 - shares).max() * limit.bound)
