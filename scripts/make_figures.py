"""Draws the figures of the documentation into docs/figures. Run by `make figures`."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples"))
import demo  # noqa: E402

LIMITS = [0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3]


def price_of_a_limit(target: Path) -> None:
    """What a limit on misses costs in false alarms, and its multiplier."""
    rows, unseen = demo.load()
    models = [demo.train(rows, f"fnr <= {limit:.0%}") for limit in LIMITS]
    percent = [100 * limit for limit in LIMITS]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.2), layout="constrained")
    series = (("misses", 0, "#b2182b"), ("false alarms", 1, "#2166ac"))
    for name, index, color in series:
        for data, style, where in ((rows, "--", "training"), (unseen, "-", "unseen")):
            values = [demo.rates(model, data)[index] for model in models]
            left.plot(percent, values, style, color=color, label=f"{name}, {where} rows")
    left.plot(percent, percent, ":", color="grey", label="the limit on misses")
    left.set(xlabel="limit on misses, %", ylabel="rate, %", ylim=(0, 31))
    left.legend(fontsize=7, frameon=False)
    right.plot(percent, [model["multipliers"][0] for model in models], "o-", color="#4d4d4d")
    right.set(xlabel="limit on misses, %", ylabel="price (multiplier)", ylim=(0, None))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    plt.rcParams["svg.hashsalt"] = "bregboost"  # the same drawing gives the same file
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    folder = ROOT / "docs" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    price_of_a_limit(folder / "price_of_a_limit.svg")
