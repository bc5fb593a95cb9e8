"""Train LightGBM, XGBoost and linear models under limits on error rates.

Examples
--------
>>> from bregboost import parse, rate
>>> parse("fnr <= 5%") == (rate.fnr() <= 0.05)
True
"""

from bregboost import rate
from bregboost._constraints import as_constraints, parse
from bregboost._core import Constraint
from bregboost._core import version as __version__
from bregboost._errors import ConstraintError, LibraryError
from bregboost._expression import RateAggregate, RateExpression

__all__ = [
    "Constraint",
    "ConstraintError",
    "LibraryError",
    "RateAggregate",
    "RateExpression",
    "__version__",
    "as_constraints",
    "parse",
    "rate",
]

# Where users find them, in messages, pickles and documentation.
for _name in set(__all__) - {"__version__", "rate"}:
    globals()[_name].__module__ = __name__
del _name
