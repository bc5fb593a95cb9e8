"""Real fits, one for each kind of report that people meet; small enough to train in no time."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from bregboost import ConstrainedClassifier
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression
from xgboost import XGBClassifier

# Names that would set `ran` if they were not escaped, by where they occur.
EVIL = {
    "title": "<script>window.ran='title'</script>",
    "feature": "</script><img src=x onerror=window.ran='feature'>",
    "other feature": "\"><svg onload=window.ran='other_feature'>",
    "group column": "</script><script>window.ran='group_column'</script>",
    "group": "\"><img src=x onerror=window.ran='group'>",
    "other group": "'><iframe srcdoc='<script>parent.ran=1</script>'>",
    "class": "<img src=x onerror=window.ran='class'>",
    "other class": "<!--<script>window.ran='other_class'</script>",
    "file": "\"><img src=x onerror=window.ran='file'>.csv",
}
BEANS = np.array(["BARBUNYA", "BOMBAY", "CALI", "DERMASON", "HOROZ", "SEKER", "SIRA"])


@dataclass(frozen=True)
class Run:
    """A report on disk, and the model it is about."""

    path: Path
    model: Any

    @property
    def url(self) -> str:
        return self.path.as_uri()


def loans(rows: int) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Applications: features, who pays back, and groups of which one is small."""
    random = np.random.default_rng(3)
    sex = random.choice(["female", "male"], rows, p=[0.4, 0.6])
    region = random.choice(["north", "south", "east", "islands"], rows, p=[0.45, 0.35, 0.19, 0.01])
    X = random.normal(size=(rows, 4))
    score = X[:, 0] + 0.7 * X[:, 1] + 0.5 * (sex == "male") + 0.3 * (region == "south") - 0.9
    y = (score + 0.8 * random.normal(size=rows) > 0.4).astype(int)
    frame = pd.DataFrame(X, columns=["income", "history", "age", "amount"])
    return frame, y, pd.DataFrame({"sex": sex, "region": region})


def _boosted(rounds: int = 40) -> LGBMClassifier:
    return LGBMClassifier(n_estimators=rounds, num_leaves=7, verbose=-1, n_jobs=2)


def binary(path: Path) -> Run:
    """Two limits, certified together, compared with no limits, and a frontier."""
    X, y, groups = loans(4000)
    limits = ["fnr <= 30%", "gap(selection_rate, by=sex) <= 10%"]
    model = ConstrainedClassifier(_boosted(), limits, certify=0.4, rho=20.0)
    model.fit(X, y, sensitive_features=groups)
    model.report_.to_html(
        path,
        title="Loan approval",
        unconstrained=model.unconstrained(X, y, sensitive_features=groups),
        frontier=model.frontier(
            X, y, sensitive_features=groups, constraint=1, models=False,
            bounds=[0.01, 0.02, 0.04, 0.07, 0.1, 0.15],
        ),
    )  # fmt: skip
    return Run(path, model)


def seven_classes(path: Path) -> Run:
    """Errors of classes: held by offsets, each point of the frontier with its price."""
    random = np.random.default_rng(5)
    code = random.integers(0, 7, 2100)
    angle = 2 * np.pi * code / 7
    X = np.c_[2 * np.cos(angle), 2 * np.sin(angle)] + 0.7 * random.normal(size=(2100, 2))
    limits = [
        "error(class=SEKER) <= 20%",
        "recall(class=CALI) >= 70%",
        "max(error, by=class) <= 60%",
    ]
    estimator = XGBClassifier(n_estimators=20, max_depth=3, n_jobs=2)
    model = ConstrainedClassifier(estimator, limits).fit(X, BEANS[code])
    frontier = model.frontier(X, BEANS[code], bounds=[0.1, 0.2, 0.3])
    model.report_.to_html(path, title="Dry beans", frontier=frontier)
    return Run(path, model)


def infeasible(path: Path) -> Run:
    """Misses and false alarms of at most 1% each, which no threshold has."""
    X, y, groups = loans(2000)
    limits = ["fnr <= 1%", "fpr <= 1%", "max(error, by=region) <= 40%"]
    model = ConstrainedClassifier(_boosted(), limits, certify=0.3)
    model.fit(X, y, sensitive_features=groups)
    model.report_.to_html(path, title="Out of reach")
    return Run(path, model)


def two_hundred(path: Path) -> Run:
    """Two limits for each of a hundred branches."""
    random = np.random.default_rng(7)
    branch = np.array([f"b{code:03d}" for code in random.integers(0, 100, 4000)])
    X = random.normal(size=(4000, 4))
    y = (X[:, 0] + 0.6 * random.normal(size=4000) > 0).astype(int)
    limits = [
        f"{rate}(branch=b{code:03d}) <= 30%" for rate in ("fnr", "fpr") for code in range(100)
    ]
    model = ConstrainedClassifier(LogisticRegression(), limits)
    model.fit(X, y, sensitive_features={"branch": branch})
    model.report_.to_html(path, title="Two hundred limits")
    return Run(path, model)


def quoted(name: str) -> str:
    """As the language of limits has it."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def evil_names(path: Path) -> Run:
    """Columns, groups, classes, limits and a title that would run if they were not escaped."""
    X, y, groups = loans(800)
    X.columns = [EVIL["feature"], EVIL["other feature"], "age", 'it\'s "quoted"']
    who = np.where(groups["sex"] == "male", EVIL["group"], EVIL["other group"])
    column = quoted(EVIL["group column"])
    limits = [
        f"gap(error, by={column}) <= 20%",
        f"error({column}={quoted(EVIL['group'])}) <= 40%",
        f"error(class={quoted(EVIL['class'])}) <= 60%",
        f"error(class={quoted(EVIL['other class'])}) <= 60%",
    ]
    model = ConstrainedClassifier(LogisticRegression(), limits, certify=0.2)
    labels = np.where(y == 1, EVIL["class"], EVIL["other class"])
    model.fit(X, labels, sensitive_features={EVIL["group column"]: who})
    model.report_.to_html(path, title=EVIL["title"])
    return Run(path, model)


def paper(path: Path) -> Run:
    """The paper's solver: training rows, no certificate, no prices."""
    X, y, _ = loans(800)
    model = ConstrainedClassifier(LogisticRegression(), "fnr <= 30%", solver="abpp").fit(X, y)
    model.report_.to_html(path, title="As in the paper")
    return Run(path, model)


KINDS = {
    "binary": binary,
    "seven_classes": seven_classes,
    "infeasible": infeasible,
    "two_hundred": two_hundred,
    "evil_names": evil_names,
    "paper": paper,
}
