"""Draws docs/figures/calibration.svg: cost and a limited rate against the threshold."""

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt

TARGET = Path(__file__).resolve().parents[1] / "docs" / "figures" / "calibration.svg"
ROWS = 4000
BOUND = 0.1  # on misses
RHO = 5.0


def main() -> None:
    random = np.random.default_rng(3)
    positive = random.random(ROWS) < 0.3
    apart = 2.0  # of two Gaussians; scores are the log-odds
    x = random.standard_normal(ROWS) + apart * positive
    scores = apart * (x - apart / 2) + np.log(0.3 / 0.7)

    order = np.argsort(scores)
    above, labels = scores[order], positive[order]
    thresholds = (above[1:] + above[:-1]) / 2
    misses = np.cumsum(labels)[:-1] / labels.sum()
    alarms = (~labels).sum() - np.cumsum(~labels)[:-1]
    error = (misses * labels.sum() + alarms) / ROWS
    merit = error + RHO * np.maximum(misses - BOUND, 0.0)
    best = np.argmin(merit)

    figure, axes = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
    axes.plot(thresholds, 100 * misses, color="#b2182b", label="misses (limited)")
    axes.plot(thresholds, 100 * error, color="#2166ac", label="error (cost)")
    axes.plot(thresholds, 100 * merit, ":", color="#4d4d4d", label=f"merit, rho = {RHO:g}")
    axes.axhline(100 * BOUND, linestyle="--", linewidth=1, color="#b2182b", label="the bound")
    axes.axvline(0.0, linewidth=0.8, color="grey")
    axes.annotate(
        "untouched",
        (0.0, 47),
        ha="left",
        fontsize=8,
        color="grey",
        xytext=(3, 0),
        textcoords="offset points",
    )
    for values, color in ((misses, "#b2182b"), (error, "#2166ac")):
        axes.plot(thresholds[best], 100 * values[best], "o", color=color)
    axes.axvline(thresholds[best], linewidth=0.8, color="black")
    axes.annotate(
        "chosen",
        (thresholds[best], 47),
        ha="right",
        fontsize=8,
        xytext=(-3, 0),
        textcoords="offset points",
    )
    axes.set(xlabel="threshold on the score", ylabel="%", xlim=(-4, 3), ylim=(0, 50))
    axes.legend(fontsize=7, frameon=False, loc="upper right")
    axes.spines[["top", "right"]].set_visible(False)
    plt.rcParams["svg.hashsalt"] = "bregboost"  # the same drawing gives the same file
    figure.savefig(TARGET, metadata={"Date": None})
    print(f"threshold {thresholds[best]:.2f}: misses {misses[best]:.1%}, error {error[best]:.1%}")
    zero = np.searchsorted(thresholds, 0.0)
    print(f"threshold 0: misses {misses[zero]:.1%}, error {error[zero]:.1%}")


if __name__ == "__main__":
    main()
