"""What an audit asks of a run: settings, data, versions."""

import sys
from dataclasses import asdict
from typing import Any

import numpy as np
import sklearn

from bregboost import _core

_PACKAGES = {"lightgbm": "lightgbm", "xgboost": "xgboost", "linear": "sklearn"}


def facts_of_run(prepared: Any) -> dict[str, Any]:
    """The keys of a report that are about the run, whatever came out."""
    trainer, columns = prepared.trainer, prepared.training.data.columns
    options = asdict(trainer.settings)
    seed = options.pop("seed")
    del options["initial_multipliers"], options["checkpoint"]
    groups = dict.fromkeys(
        name for constraint in prepared.constraints for name in constraint.group_columns
    )
    return {
        "learner": trainer.backend.name,
        "settings": {
            "learner": trainer.backend.name,
            "parameters": trainer.parameters(columns),
            "options": options,
            "seed": seed,
        },
        "data": {
            "file": "",
            "label": "",
            "rows": prepared.training.data.n_rows,
            "features": list(map(str, columns.names or ())),
            "groups": list(groups),
            "weight": None,
        },
        "versions": _versions(trainer.backend.name),
    }


def _versions(learner: str) -> dict[str, str]:
    package = _PACKAGES[learner]
    library = sys.modules.get(package)
    return {
        "bregboost": _core.version,
        "numpy": np.__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "scikit-learn": sklearn.__version__,
    } | ({} if package == "sklearn" or library is None else {package: library.__version__})
