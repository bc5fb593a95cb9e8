"""Draws the figures of the documentation into docs/figures. Run by `make figures`."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import lightgbm as lgb
import matplotlib
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

matplotlib.use("svg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples"))
import price_of_a_limit as limits_on_training_rows  # noqa: E402

LIMITS = [0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3]


def price_of_a_limit(target: Path) -> None:
    """What a limit on misses costs in false alarms, and its multiplier."""
    rows, unseen = limits_on_training_rows.load()
    models = [limits_on_training_rows.train(rows, f"fnr <= {limit:.0%}") for limit in LIMITS]
    percent = [100 * limit for limit in LIMITS]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.2), layout="constrained")
    series = (("misses", 0, "#b2182b"), ("false alarms", 1, "#2166ac"))
    for name, index, color in series:
        for data, style, where in ((rows, "--", "training"), (unseen, "-", "unseen")):
            values = [limits_on_training_rows.rates(model, data)[index] for model in models]
            left.plot(percent, values, style, color=color, label=f"{name}, {where} rows")
    left.plot(percent, percent, ":", color="grey", label="the limit on misses")
    left.set(xlabel="limit on misses, %", ylabel="rate, %", ylim=(0, 31))
    left.legend(fontsize=7, frameon=False)
    right.plot(percent, [model["multipliers"][0] for model in models], "o-", color="#4d4d4d")
    right.set(xlabel="limit on misses, %", ylabel="price (multiplier)", ylim=(0, None))
    save(figure, target)


ROUNDS = 200
FOLDS = 5
MISSES = 10  # the limit, in percent
SETTINGS = f"--rounds {ROUNDS} --surrogate sigmoid --dual-step 0.03 --param num_leaves=15"


def boost(folder: Path, *arguments: str) -> list[dict]:
    """Trains LightGBM on train.csv of the folder and returns a row for every round."""
    program = limits_on_training_rows.BUILD / "examples" / "constrained_boosting"
    command = [program, "--data", "train.csv", "--label", "label", *SETTINGS.split(), "--json"]
    command += ["--constraint", f"fnr <= {MISSES}%", *arguments]
    libraries = {"VIRTUAL_ENV": sys.prefix, "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, cwd=folder, env=os.environ | libraries
    )
    return json.loads(done.stdout)["history"][1:]


def unseen_rows(target: Path) -> None:
    """Misses over rounds: of one booster that is held to the limit on its training rows, and of
    folds that are held to it on rows that they have not seen."""
    features, labels = make_classification(
        n_samples=6000,
        n_informative=8,
        n_redundant=4,
        n_clusters_per_class=3,
        weights=[0.7],
        flip_y=0.06,
        class_sep=0.8,
        random_state=0,
    )
    rows = pd.DataFrame(features).add_prefix("f").assign(label=labels)
    train, unseen = rows[::2], rows[1::2]

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train.to_csv(folder / "train.csv", index=False)
        unseen.to_csv(folder / "unseen.csv", index=False)
        alone = boost(folder, "--held-out", "unseen.csv")
        together = boost(folder, "--folds", str(FOLDS), "--out-model", "model.txt")
        model = lgb.Booster(model_file=folder / "model.txt")

    def misses(table: pd.DataFrame) -> list[float]:
        """Of the mean of the fold models after each round, in percent; trees are interleaved."""
        positives = table[table["label"] == 1].drop(columns="label").to_numpy()
        scores = [
            model.predict(positives, raw_score=True, num_iteration=FOLDS * (k + 1))
            for k in range(ROUNDS)
        ]
        return [100 * np.mean(score <= 0) for score in scores]

    def measured(history: list[dict], where: str) -> list[float]:
        return [100 * row[where][0] for row in history]

    panels = {
        "one booster, limit on its training rows": [
            ("training rows", measured(alone, "training"), "--", "#2166ac"),
            ("unseen rows", measured(alone, "held_out"), "-", "#b2182b"),
        ],
        "five folds, limit on out-of-fold rows": [
            ("training rows", misses(train), "--", "#2166ac"),
            ("unseen rows", misses(unseen), "-", "#b2182b"),
            ("out of fold", measured(together, "out_of_fold"), "-", "#4d4d4d"),
        ],
    }
    figure, both = plt.subplots(1, 2, figsize=(8.5, 3.2), sharey=True, layout="constrained")
    for axes, (title, series) in zip(both, panels.items(), strict=True):
        for label, values, style, color in series:
            axes.plot(range(1, ROUNDS + 1), values, style, color=color, label=label)
        axes.axhline(MISSES, linestyle=":", color="grey", label="the limit")
        axes.set_title(title, fontsize=10)
        axes.set(xlabel="round", ylim=(0, 50))
        axes.legend(fontsize=7, frameon=False)
    both[0].set_ylabel("misses, %")
    save(figure, target)


def save(figure: plt.Figure, target: Path) -> None:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    plt.rcParams["svg.hashsalt"] = "bregboost"  # the same drawing gives the same file
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    folder = ROOT / "docs" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    price_of_a_limit(folder / "price_of_a_limit.svg")
    unseen_rows(folder / "unseen_rows.svg")
