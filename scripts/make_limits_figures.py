"""Draws the figures of docs/limits.md into docs/figures, from generated data; those named, or all.

The programs are those of build/release, or of the folder that BREGBOOST_BUILD_DIR names.
Takes about six minutes.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks.common.rate_limits import ClassLimit, GapLimit, Limit, Outcome, total_violation  # noqa: E402
from benchmarks.common.tasks import Rows, Split, merit_and_giveaway  # noqa: E402
from benchmarks.limits.program import Answer, train, write  # noqa: E402

PROGRAMS = ROOT / os.environ.get("BREGBOOST_BUILD_DIR", "build/release") / "examples"
SEEDS = range(8)  # figures are means over them
RED, BLUE, GREY = "#b2182b", "#2166ac", "#4d4d4d"
FRESH_ROWS = 20000
LEAVES = 15


def parameters(rounds: int) -> tuple[str, ...]:
    fixed = ("verbosity=-1", "deterministic=true", "force_col_wise=true")
    return (f"num_iterations={rounds}", f"num_leaves={LEAVES}", *fixed)


def auto(split: Split, limits: tuple[Limit, ...], rounds: int, *arguments: str) -> Answer:
    program = PROGRAMS / "constrained_auto"
    threads = os.cpu_count() or 1
    return train(program, split, "lightgbm", limits, arguments, threads, parameters(rounds))


def save(figure: plt.Figure, name: str) -> None:
    for axes in figure.axes:
        axes.spines["top"].set_visible(False)
    plt.rcParams["svg.hashsalt"] = "bregboost"  # the same drawing gives the same file
    figure.savefig(ROOT / "docs" / "figures" / f"limits_{name}.svg", metadata={"Date": None})


# ---- why training rows mislead

GAP = GapLimit("error", "error", None, 0.05)
ROUNDS = 200


def two_groups(count: int, random: np.random.Generator) -> Rows:
    """Labels of group 1 are noisier, so that a plain model errs more there."""
    groups = (random.random(count) < 0.4).astype(int)
    noisy = groups == 1
    features = random.normal(size=(count, 4))
    features[:, 0] += 0.5 * noisy
    slopes = np.full((count, 4), 0.8)
    slopes[noisy, 1] = -0.3
    log_odds = np.where(noisy, 0.7, 2.0) * (0.2 + np.sum(slopes * features, axis=1))
    labels = (random.random(count) < 1.0 / (1.0 + np.exp(-log_odds))).astype(int)
    return Rows(features, labels, groups)


def joined(first: Rows, second: Rows) -> Rows:
    pairs = (
        (first.features, second.features),
        (first.labels, second.labels),
        (first.groups, second.groups),
    )
    return Rows(*(np.concatenate(pair) for pair in pairs))


def on_training_rows(split: Split) -> list[dict]:
    """The paper's solver on surrogates of the training rows: one booster, a row per round."""
    with tempfile.TemporaryDirectory() as name:
        data, fresh = Path(name) / "rows.csv", Path(name) / "fresh.csv"
        write(split.training, data)
        write(split.test, fresh)
        command = [PROGRAMS / "constrained_boosting", "--data", data, "--held-out", fresh]
        command += ["--label", "label", "--group", "group", "--constraint", GAP.text, "--json"]
        command += ["--rounds", str(ROUNDS), "--surrogate", "sigmoid", "--dual-step", "0.03"]
        command += ["--param", f"num_leaves={LEAVES}"]
        libraries = {"VIRTUAL_ENV": sys.prefix, "OMP_WAIT_POLICY": "passive"}
        done = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, env=os.environ | libraries
        )
    return json.loads(done.stdout)["history"][1:]


def of_auto(split: Split, rounds: int, seed: int) -> dict[str, float]:
    """The gap of what is deployed, on three sets of rows."""
    count = len(split.training.labels)
    both = Split(split.training, joined(split.training, split.test))
    answer = auto(both, (GAP,), rounds, "--seed", str(seed))
    seen = answer.outcome

    def gap(rows: slice) -> float:
        return GAP.value(Outcome(seen.predicted[rows], seen.labels[rows], seen.groups[rows]))

    return {
        "training rows": gap(slice(count)),
        "fresh rows": gap(slice(count, None)),
        "out of fold": answer.report["constraints"][0]["value"],
    }


def training_rows_mislead() -> None:
    splits = []
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        splits.append(Split(two_groups(3000, random), two_groups(FRESH_ROWS, random)))
    histories = [on_training_rows(split) for split in splits]
    budgets = range(25, ROUNDS + 1, 25)
    runs = [
        [of_auto(split, rounds, seed) for seed, split in enumerate(splits)] for rounds in budgets
    ]

    styles = {"training rows": ("--", BLUE), "fresh rows": ("-", RED), "out of fold": ("-", GREY)}
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8.5, 3.2), sharey=True, layout="constrained"
    )
    for label, where in (("training rows", "training"), ("fresh rows", "held_out")):
        style, color = styles[label]
        values = np.mean([[row[where][0] for row in history] for history in histories], axis=0)
        left.plot(range(1, ROUNDS + 1), 100 * values, style, color=color, label=label)
    for label, (style, color) in styles.items():
        values = np.array([np.mean([run[label] for run in budget]) for budget in runs])
        right.plot(budgets, 100 * values, style, color=color, marker=".", label=label)
    left.set_title("one booster, limit on its training rows", fontsize=10)
    right.set_title("solver auto, limit on out-of-fold rows", fontsize=10)
    left.set(xlabel="round", ylabel="gap of errors, points", ylim=(0, None))
    right.set(xlabel="rounds asked for")
    for axes in (left, right):
        axes.axhline(100 * GAP.bound, linestyle=":", color="grey", label="the limit")
        axes.spines["right"].set_visible(False)
    right.legend(fontsize=7, frameon=False)
    save(figure, "training_rows")


# ---- rho

RHOS = (1, 2, 5, 10, 20, 50)
CLASS_LIMITS = (
    ClassLimit("error(class=1)", 1, 0.05),
    ClassLimit("error(class=2)", 2, 0.05),
)


def three_classes(count: int, random: np.random.Generator) -> Rows:
    """Around the corners of a triangle, overlapping: the two limits cannot both be met."""
    labels = np.arange(count) % 3
    angle = 2.0 * np.pi / 3.0 * labels
    corners = 1.7 * np.column_stack([np.cos(angle), np.sin(angle)])
    return Rows(corners + random.normal(size=(count, 2)), labels)


def choosing_rho() -> None:
    names = ("fresh rows", "out of fold")
    points = {name: [] for name in names}
    for rho in RHOS:
        accuracies, violations = {name: [] for name in names}, {name: [] for name in names}
        for seed in SEEDS:
            random = np.random.default_rng(seed)
            split = Split(three_classes(1500, random), three_classes(FRESH_ROWS, random))
            answer = auto(split, CLASS_LIMITS, 60, "--rho", str(rho), "--seed", str(seed))
            accuracies["fresh rows"].append(answer.outcome.accuracy)
            violations["fresh rows"].append(total_violation(CLASS_LIMITS, answer.outcome))
            accuracies["out of fold"].append(answer.report["objective"])
            violations["out of fold"].append(answer.report["violation"])
        for name in names:
            points[name].append((np.mean(violations[name]), np.mean(accuracies[name])))
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    for name, color in zip(names, (RED, GREY), strict=True):
        violation, accuracy = 100 * np.array(points[name]).T
        axes.plot(violation, accuracy, ".-", color=color, label=name)
        for rho, x, y in zip(RHOS, violation, accuracy, strict=True):
            if name == "fresh rows":
                axes.annotate(
                    f"rho {rho}", (x, y), textcoords="offset points", xytext=(5, -9), fontsize=8
                )
    axes.set(xlabel="violation, points", ylabel="accuracy, %")
    axes.spines["right"].set_visible(False)
    axes.legend(fontsize=8, frameon=False)
    save(figure, "rho")


# ---- delta

DELTAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
MISSES = ClassLimit("fnr", 1, 0.05)


def choosing_delta() -> None:
    shares, accuracies, estimated = [], [], []
    splits = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        splits.append(
            Split(merit_and_giveaway(500, random), merit_and_giveaway(FRESH_ROWS, random))
        )
    for delta in DELTAS:
        line = ("--certify", "0.3", "--delta", str(delta))
        answers = [
            auto(split, (MISSES,), 60, "--seed", str(seed), *line)
            for seed, split in enumerate(splits)
        ]
        certified = [
            answer
            for answer in answers
            if answer.report["certificate"][0]["verdict"] == "certified"
        ]
        shares.append(len(certified) / len(answers))
        accuracies.append(np.mean([answer.outcome.accuracy for answer in certified] or [np.nan]))
    for seed, split in enumerate(splits):
        estimated.append(auto(split, (MISSES,), 60, "--seed", str(seed)).outcome.accuracy)
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    other = axes.twinx()
    lines = axes.plot(DELTAS, 100 * np.array(shares), ".-", color=BLUE, label="certified runs")
    lines += other.plot(
        DELTAS, 100 * np.array(accuracies), ".--", color=RED, label="accuracy of certified models"
    )
    lines.append(
        other.axhline(
            100 * np.mean(estimated), linestyle=":", color=RED, label="accuracy, no certificate"
        )
    )
    axes.set(xscale="log", xlabel="delta", ylabel="certified runs, %", ylim=(0, 103))
    axes.set_xticks(DELTAS, [f"{delta:g}" for delta in DELTAS])
    axes.minorticks_off()
    other.set_ylabel("accuracy on fresh rows, %")
    axes.legend(handles=lines, fontsize=8, frameon=False, loc="lower right")
    save(figure, "delta")


FIGURES = {"training_rows": training_rows_mislead, "rho": choosing_rho, "delta": choosing_delta}

if __name__ == "__main__":
    for name in sys.argv[1:] or FIGURES:
        FIGURES[name]()
