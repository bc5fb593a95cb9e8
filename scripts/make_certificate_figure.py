"""Draws what confidence costs in rows into docs/figures/certificate_rows.svg."""

from pathlib import Path

import matplotlib
import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta

matplotlib.use("svg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 0.05
DELTA = 0.1
OBSERVED = ((0.0, "#2166ac", (-42, -12)), (0.01, "#4d4d4d", (4, 6)), (0.04, "#b2182b", (4, 6)))


def upper_bound(observed: float, rows: np.ndarray) -> np.ndarray:
    """Clopper-Pearson, with counts continued between whole numbers."""
    events = observed * rows
    return beta.ppf(1 - DELTA, events + 1, rows - events)


def main() -> None:
    rows = np.geomspace(20, 20000, 400)
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    for observed, color, text_offset in OBSERVED:
        bound = 100 * upper_bound(observed, rows)
        axes.plot(rows, bound, color=color, label=f"observed rate {observed:.0%}")
        needed = brentq(lambda n, p=observed: upper_bound(p, n) - LIMIT, rows[0], rows[-1])
        axes.plot(needed, 100 * LIMIT, "o", color=color)
        axes.annotate(
            f"{np.ceil(needed):.0f} rows",
            (needed, 100 * LIMIT),
            textcoords="offset points",
            xytext=text_offset,
            fontsize=8,
            color=color,
        )
    axes.axhline(100 * LIMIT, linestyle=":", color="grey", label="the limit, 5%")
    axes.set(
        xscale="log",
        xlabel="certification rows",
        ylabel="upper bound at 90% confidence, %",
        ylim=(0, 15),
    )
    axes.legend(fontsize=8, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    plt.rcParams["svg.hashsalt"] = "bregboost"  # the same drawing gives the same file
    figure.savefig(ROOT / "docs" / "figures" / "certificate_rows.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
