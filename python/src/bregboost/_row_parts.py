"""A table whose rows lie in several parts, as on a worker of a cluster.

Joining them makes a second copy of the rows, so it is left to those who need it.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from narwhals import dependencies as nwd
from scipy import sparse


class RowParts:
    """Parts of one collection, which have the same columns.

    Parameters
    ----------
    parts : sequence of tables
        At least one; those without rows are left out unless all are.
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = [part for part in parts if part.shape[0]] or list(parts[:1])

    @cached_property
    def whole(self) -> Any:
        """All rows in one table."""
        first, *others = self.parts
        if not others:
            return first
        if nwd.is_pandas_dataframe(first) or nwd.is_pandas_series(first):
            import pandas as pd

            return pd.concat(self.parts)
        if sparse.issparse(first):
            return sparse.vstack(self.parts, format="csr")
        return np.concatenate(self.parts)

    @property
    def row_names(self) -> Any:
        """A table without columns, whose index is that of all rows; None without an index."""
        if not nwd.is_pandas_dataframe(self.parts[0]):
            return None
        return RowParts([part.iloc[:, :0] for part in self.parts]).whole


def parts_of(table: Any) -> list[Any]:
    """The table itself, if it is not in parts."""
    return table.parts if isinstance(table, RowParts) else [table]


def whole(table: Any) -> Any:
    """All rows in one table, made now if need be."""
    return table.whole if isinstance(table, RowParts) else table
