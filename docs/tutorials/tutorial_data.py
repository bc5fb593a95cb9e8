"""The tables of the tutorials.

They are read from the folder that the environment variable BREGBOOST_DATA names. Without it, small
generated tables with the same columns take their place: every page runs, with other numbers.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = "BREGBOOST_DATA"
_CREDIT_ROWS = 16000
_ADULT_ROWS = 6000
_DRYBEAN_ROWS = 6000


def is_real() -> bool:
    """Whether the tables are the real ones."""
    return bool(os.environ.get(FOLDER))


def read_credit() -> pd.DataFrame:
    """Card payments; `Class` is 1 for a fraud."""
    return _table("creditcard_sample", _make_credit)


def read_adult() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Answers to a census, the official training and test rows; `income` is ``>50K`` or not.

    Texts are categories, alike in both tables; ``?`` is missing. The survey's weight is left out.
    """
    train = _table("adult_train", lambda: _make_adult(_ADULT_ROWS, seed=1))
    test = _table("adult_test", lambda: _make_adult(_ADULT_ROWS // 2, seed=2))
    both = pd.concat([train, test], ignore_index=True).replace("?", None)
    both = both.drop(columns="fnlwgt")
    for name in both.columns.difference(["income"]):
        if not pd.api.types.is_numeric_dtype(both[name]):
            both[name] = both[name].astype("category")
    return both.iloc[: len(train)], both.iloc[len(train) :]


def read_drybean() -> pd.DataFrame:
    """Shapes of beans in pictures; `Class` is one of seven varieties."""
    return _table("drybean", _make_drybean)


def _table(name: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    if not is_real():
        return make()
    path = Path(os.environ[FOLDER]) / f"{name}.csv.xz"
    if not path.is_file():
        raise FileNotFoundError(f"{FOLDER}: no {path.name} there; allowed: a folder that has it")
    return pd.read_csv(path)


def _make_credit() -> pd.DataFrame:
    """Frauds are 0.9% of the rows; five columns tell most of them, and a few look normal."""
    random = np.random.default_rng(0)
    fraud = random.random(_CREDIT_ROWS) < 0.009
    plain_to_see = fraud & (random.random(_CREDIT_ROWS) < 0.97)
    hidden = random.normal(size=(_CREDIT_ROWS, 28))
    hidden[:, [2, 3, 9, 11, 13]] += np.outer(plain_to_see, [-2.5, 2.5, -2.5, -2.5, -3.0])
    columns: dict[str, object] = {"Time": np.sort(random.integers(0, 172800, _CREDIT_ROWS))}
    columns |= {f"V{j + 1}": hidden[:, j] for j in range(28)}
    columns["Amount"] = random.lognormal(3.0, 1.3, _CREDIT_ROWS).round(2)
    return pd.DataFrame({**columns, "Class": fraud.astype(int)})


def _make_adult(rows: int, seed: int) -> pd.DataFrame:
    """Incomes follow age, schooling, hours and marriage; men's are harder to predict."""
    random = np.random.default_rng(seed)
    male = random.random(rows) < 0.67
    age = random.integers(17, 80, rows)
    schooling = np.clip(random.normal(10, 2.6, rows).round(), 1, 16).astype(int)
    hours = np.clip(random.normal(np.where(male, 42, 36), 11).round(), 1, 99).astype(int)
    married = random.random(rows) < np.where(male, 0.6, 0.3)
    gain = np.where(random.random(rows) < 0.08, random.integers(1000, 20000, rows), 0)
    score = 0.4 * (schooling - 10) + 0.04 * (hours - 40) + 2.0 * married + gain / 4000
    score -= 0.002 * (age - 48) ** 2 + np.where(male, 1.5, 3.0)
    rich = random.random(rows) < 1 / (1 + np.exp(-1.5 * score))
    works = random.choice(
        ["Private", "Self-emp-inc", "State-gov", "?"], rows, p=[0.7, 0.2, 0.05, 0.05]
    )
    return pd.DataFrame({
        "age": age,
        "workclass": works,
        "fnlwgt": random.integers(20000, 400000, rows),
        "education": np.where(schooling >= 13, "Bachelors", "HS-grad"),
        "education_num": schooling,
        "marital_status": np.where(married, "Married-civ-spouse", "Never-married"),
        "occupation": random.choice(["Sales", "Craft-repair", "Exec-managerial", "?"], rows),
        "relationship": np.where(married, np.where(male, "Husband", "Wife"), "Not-in-family"),
        "race": random.choice(["White", "Black", "Other"], rows, p=[0.86, 0.1, 0.04]),
        "sex": np.where(male, "Male", "Female"),
        "capital_gain": gain,
        "capital_loss": np.where(random.random(rows) < 0.05, 1800, 0),
        "hours_per_week": hours,
        "native_country": random.choice(["United-States", "Mexico", "?"], rows, p=[0.9, 0.1, 0]),
        "income": np.where(rich, ">50K", "<=50K"),
    })  # fmt: skip


# Share of the rows, then typical length, elongation and roundness.
_BEANS = {
    "BARBUNYA": (0.10, 370.0, 1.54, 0.80),
    "BOMBAY": (0.04, 593.0, 1.59, 0.86),
    "CALI": (0.12, 410.0, 1.73, 0.85),
    "DERMASON": (0.26, 247.0, 1.49, 0.91),
    "HOROZ": (0.14, 373.0, 2.03, 0.79),
    "SEKER": (0.15, 251.0, 1.25, 0.945),
    "SIRA": (0.19, 299.0, 1.57, 0.885),
}


def _make_drybean() -> pd.DataFrame:
    """Ellipses whose length, elongation and roundness scatter around those of their variety."""
    random = np.random.default_rng(0)
    shares = [bean[0] for bean in _BEANS.values()]
    names = random.choice(list(_BEANS), _DRYBEAN_ROWS, p=shares)
    centres = np.array([_BEANS[name][1:] for name in names])
    length, elongation, roundness = (
        centres * random.normal(1, [0.07, 0.05, 0.02], centres.shape)
    ).T
    elongation = np.maximum(elongation, 1.02)
    width = length / elongation
    area = np.pi / 4 * length * width
    diameter = np.sqrt(length * width)
    solidity = np.clip(random.normal(0.987, 0.003, _DRYBEAN_ROWS), 0.9, 0.999)
    return pd.DataFrame({
        "Area": area.astype(int),
        "Perimeter": np.sqrt(4 * np.pi * area / roundness),
        "MajorAxisLength": length,
        "MinorAxisLength": width,
        "AspectRation": elongation,
        "Eccentricity": np.sqrt(1 - elongation**-2),
        "ConvexArea": (area / solidity).astype(int),
        "EquivDiameter": diameter,
        "Extent": np.clip(random.normal(0.75, 0.04, _DRYBEAN_ROWS), 0.5, 0.9),
        "Solidity": solidity,
        "roundness": roundness,
        "Compactness": diameter / length,
        "ShapeFactor1": length / area,
        "ShapeFactor2": width / area,
        "ShapeFactor3": area / (np.pi / 4 * length**2),
        "ShapeFactor4": random.normal(0.995, 0.003, _DRYBEAN_ROWS),
        "Class": names,
    })  # fmt: skip
