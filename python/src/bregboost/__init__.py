"""Train LightGBM, XGBoost and linear models under limits on error rates.

Examples
--------
>>> from bregboost import parse, rate
>>> parse("fnr <= 5%") == (rate.fnr() <= 0.05)
True
"""

from bregboost import rate
from bregboost._certificate import Certificate
from bregboost._certify import certify
from bregboost._classifier import ConstrainedClassifier
from bregboost._constraints import as_constraints, parse
from bregboost._core import Constraint
from bregboost._core import version as __version__
from bregboost._errors import CheckpointError, ConstraintError, LibraryError
from bregboost._expression import RateAggregate, RateExpression
from bregboost._frontier import FrontierResult
from bregboost._plots import plot_frontier, plot_history, plot_rates
from bregboost._regressor import ConstrainedRegressor
from bregboost._report import Report

__all__ = [
    "Certificate",
    "CheckpointError",
    "ConstrainedClassifier",
    "ConstrainedRegressor",
    "Constraint",
    "ConstraintError",
    "FrontierResult",
    "LibraryError",
    "RateAggregate",
    "RateExpression",
    "Report",
    "__version__",
    "as_constraints",
    "certify",
    "parse",
    "plot_frontier",
    "plot_history",
    "plot_rates",
    "rate",
]

# Where users find them, in messages, pickles and documentation.
for _name in set(__all__) - {"__version__", "rate"}:
    globals()[_name].__module__ = __name__
del _name
