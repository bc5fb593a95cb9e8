"""Reports as the core writes them, for the tests of what users see."""

import copy
from typing import Any

FNR, GAP = "fnr <= 5%", "gap(error, by=sex) <= 2%"

SMALL: dict[str, Any] = {
    "solver": "auto",
    "learner": "lightgbm",
    "path": "calibration",
    "validation": "folds",
    "deploy": "fold_mean",
    "models": 5,
    "rows": {"training": 9000, "unseen": 9000, "certification": 1800},
    "reason": "iteration_limit",
    "detail": "",
    "steps_kept": 100,
    "objective": 0.912,
    "objective_name": "accuracy",
    "maximise": True,
    "violation": 0.0031,
    "rho": 5.0,
    "delta": 0.1,
    "temperature": 1.31,
    "offsets": [-0.41],
    "positive_class": "1",
    "classes": ["0", "1"],
    "multipliers": [0.4, 5.0],
    "constraints": [
        {
            "text": FNR,
            "value": 0.0487,
            "bound": 0.05,
            "relation": "<=",
            "violation": 0.0,
            "satisfied": True,
            "groups": [],
            "rows": 2180,
            "interval": [0.0401, 0.0586],
            "small": False,
        },
        {
            "text": GAP,
            "value": 0.0231,
            "bound": 0.02,
            "relation": "<=",
            "violation": 0.0031,
            "satisfied": False,
            "groups": [
                {"group": "sex=M", "value": 0.1462, "rows": 5000, "interval": [0.1365, 0.1563]},
                {"group": "sex=F", "value": 0.1231, "rows": 4000, "interval": None},
            ],
        },
    ],
    "prices": [
        {"text": FNR, "price": 0.4, "standard_error": 0.05, "binding": True},
        {"text": GAP, "price": 5.0, "standard_error": 0.0, "binding": True},
    ],
    "certificate": [
        {
            "text": FNR,
            "verdict": "certified",
            "value": 0.03,
            "bound": 0.05,
            "confidence_bound": 0.0498,
            "other_bound": 0.02,
            "confidence": 0.9,
            "rows": 404,
            "method": "binomial",
            "needs": "",
            "rows_needed": None,
            "too_small": [],
        },
        {
            "text": GAP,
            "verdict": "not certified",
            "value": 0.021,
            "bound": 0.02,
            "confidence_bound": 0.041,
            "other_bound": 0.001,
            "confidence": 0.9,
            "rows": 1800,
            "method": "two binomials",
            "needs": "sex=F",
            "rows_needed": 5200,
            "too_small": [{"subset": "sex=F", "rows": 800, "rows_needed": 1000}],
        },
    ],
    "all_certified": False,
    "cautious_path": [{"caution": 0.5, "objective": 0.71}, {"caution": 0.0, "objective": 0.912}],
    "certified_point": None,
    "too_small": [{"text": FNR, "group": "", "rows": 12}],
    "diagnosis": {
        "feasible": False,
        "relaxation": 0.0031,
        "binding": [FNR, GAP],
        "alone": [{"text": FNR, "value": 0.0}, {"text": GAP, "value": 0.001}],
        "blocking": [{"cell": "class=1, sex=F", "rows": 418, "share": 0.64}],
        "exact": True,
    },
    "history": [
        {
            "k": k,
            "phase": "main",
            "outer": 0,
            "objective": 0.6 - 0.1 * k,
            "surrogate_violation": 0.03,
            "exact_violation": 0.02 / (1 + k),
            "max_multiplier": 0.2 * k,
            "multiplier_sum": 0.3 * k,
            "tau": 20.0,
            "sigma": 0.1,
            "seconds": 0.5 * k,
            "multipliers": [0.1 * k, 0.2 * k],
            "values": [0.09 - 0.02 * k, 0.04 - 0.01 * k],
        }
        for k in range(3)
    ],
    "warnings": ["3 rows have no sex"],
    "seconds": {"training": 3.21, "calibration": 0.1, "certification": 0.4},
}


def small(**changes: object) -> dict[str, Any]:
    """A copy, with some keys replaced."""
    return copy.deepcopy(SMALL) | changes


def with_limits(texts: list[str], **changes: object) -> dict[str, Any]:
    """As many limits, each 1 point over its bound of 2%, 4%, ...; measured, certified, traced."""
    bounds = [0.02 * (j + 1) for j in range(len(texts))]
    limits = [
        {"text": text, "value": bound + 0.01, "bound": bound, "violation": 0.01, "satisfied": False}
        for text, bound in zip(texts, bounds, strict=True)
    ]
    verdicts = [
        limit
        | {
            "verdict": "violated",
            "confidence_bound": limit["value"] + 0.004,
            "other_bound": limit["value"] - 0.004,
            "confidence": 0.9,
            "rows": 900,
        }
        for limit in limits
    ]
    history = [
        {"k": k, "objective": 0.5, "values": [bound + 0.1 / (1 + k) for bound in bounds]}
        for k in range(20)
    ]
    return (
        small(
            constraints=limits,
            certificate=verdicts,
            history=history,
            prices=[],
            multipliers=[],
            diagnosis=None,
            too_small=[],
        )
        | changes
    )


def long_texts(count: int) -> list[str]:
    """Limits of 200 characters, none of them twice."""
    texts = []
    for j in range(count):
        end = f" <= {2 * (j + 1)}%"
        terms = " + ".join(f"0.5 * error(class=C{j}, region=north-{i})" for i in range(9))
        texts.append(terms[: 200 - len(end)] + end)
    return texts


def without_numbers(value: object) -> Any:
    """Every number undefined; texts, truth values and lists as they are."""
    if isinstance(value, dict):
        return {key: without_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_numbers(item) for item in value]
    return value if isinstance(value, (str, bool)) else None
