"""Accuracy against what is limited, all methods of a task in one picture."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from benchmarks.common.statistics import Summary
from benchmarks.peers.cells import LEARNER_NAMES, Cell

# Okabe and Ito's colours, which the colour-blind tell apart; markers differ as well.
STYLES = {
    "bregboost": ("#0072B2", "o"),
    "plain": ("#5A5A5A", "X"),
    "tuned": ("#E69F00", "D"),
    "fairgbm": ("#D55E00", "^"),
    "reduction": ("#CC79A7", "v"),
    "reduction_as_given": ("#CC79A7", "1"),
    "thresholds": ("#882255", "P"),
    "oxonfair": ("#009E73", "s"),
    "mapie": ("#44AA99", "*"),
    "forest_cx": ("#999933", "<"),
    "forest_er": ("#999933", ">"),
}
LINE_STYLES = {"lightgbm": "-", "xgboost": "--"}
ROOM_BELOW = 0.35  # of the range of the methods that must be seen
LEAST_ROOM = 0.3  # points
ALWAYS_SEEN = ("bregboost", "plain")
SIZE = (9.0, 4.4)  # inches
LEGEND_WIDTH = 34  # characters


def percent(values: Sequence[float]) -> Summary:
    return Summary.of(100.0 * np.asarray(values, dtype=float))


def mean_x(cell: Cell) -> float:
    return percent(cell.axis_values).mean


def lowest_accuracy(cells: Sequence[Cell]) -> float:
    """Where the vertical axis ends: methods far below would squeeze the others."""
    must_be_seen = [cell for cell in cells if cell.method in ALWAYS_SEEN] or cells
    seen = [percent(cell.accuracy).mean for cell in must_be_seen]
    return min(seen) - max(LEAST_ROOM, ROOM_BELOW * (max(seen) - min(seen)))


def horizontal_range(cells: Sequence[Cell]) -> tuple[float, float]:
    """From 0, unless all are far from it."""
    places = [mean_x(cell) for cell in cells]
    room = 0.06 * max(places)
    left = 0.0 if min(places) < 0.6 * max(places) else min(places) - 3.0 * room
    return left, max(places) + room


def draw_frontiers(axes: Axes, cells: Sequence[Cell]) -> None:
    """The settings of one method and learner, joined from strict to lenient."""
    for method in ("tuned", "bregboost"):
        for learner, style in LINE_STYLES.items():
            line = [c for c in cells if (c.method, c.learner) == (method, learner)]
            if len(line) < 2:
                continue
            line.sort(key=lambda c: c.strictness)
            axes.plot(
                [mean_x(c) for c in line],
                [percent(c.accuracy).mean for c in line],
                style,
                color=STYLES[method][0],
                linewidth=1.8 if method == "bregboost" else 0.9,
                marker=".",
                markersize=5,
                alpha=0.9 if method == "bregboost" else 0.6,
                zorder=2,
            )


def draw_point(axes: Axes, cell: Cell, bottom: float) -> None:
    """With one standard deviation over seeds; at the edge, with a word in the legend, if it is
    below."""
    colour, marker = STYLES[cell.method]
    x, y = percent(cell.axis_values), percent(cell.accuracy)
    is_below = y.mean < bottom
    note = f": {y.mean:.1f}, below the axis" if is_below else ""
    hollow = cell.learner == "xgboost"
    axes.errorbar(
        x.mean,
        bottom if is_below else y.mean,
        xerr=x.deviation,
        yerr=None if is_below else y.deviation,
        fmt=marker,
        color=colour,
        markerfacecolor="white" if hollow else colour,
        markersize=8,
        markeredgewidth=1.5,
        elinewidth=0.9,
        alpha=0.95,
        clip_on=not is_below,
        label=textwrap.fill(cell.name + note, LEGEND_WIDTH, break_on_hyphens=False),
        zorder=4 if cell.is_ours else 3,
    )


def draw(task: dict, cells: Sequence[Cell], noise_floor: float, path: Path) -> None:
    """`cells` are those of one task that have runs, with all settings."""
    shown = [cell for cell in cells if cell.setting == "default"]
    figure, axes = plt.subplots(figsize=SIZE, layout="constrained")
    bottom = lowest_accuracy(cells)
    draw_frontiers(axes, cells)
    for cell in shown:
        draw_point(axes, cell, bottom)
    limited_name, limit, limit_name = axis_texts(task, noise_floor)
    top = max(percent(cell.accuracy).mean for cell in shown)
    axes.set_ylim(bottom, top + 0.08 * (top - bottom))
    left, right = horizontal_range(cells)
    axes.set_xlim(left, right)
    if limit is not None:
        axes.axvspan(left, limit, color="#0072B2", alpha=0.06, linewidth=0, zorder=0)
        axes.axvline(limit, color="#5A5A5A", linewidth=0.9, linestyle=":", zorder=1)
        axes.set_title(f"shaded: {limit_name}", loc="left", fontsize=9, color="#5A5A5A")
    axes.set_xlabel(limited_name)
    axes.set_ylabel("accuracy on test rows, %")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        [handle[0] for handle in handles],
        labels,
        loc="upper left",
        bbox_to_anchor=(1.02, 1.0),
        borderaxespad=0.0,
        frameon=False,
        fontsize=8.5,
    )
    plt.rcParams["svg.hashsalt"] = "bregboost"  # the same drawing gives the same file
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    plt.close(figure)


def axis_texts(task: dict, noise_floor: float) -> tuple[str, float | None, str]:
    """What the horizontal axis shows, where its limit is, and what being left of that means."""
    if len(task["limits"]) == 1:
        rate = task["limits"][0].partition(" <=")[0]
        limit = 100.0 * task["bound"]
        return f"{rate} on test rows, %", limit, f"at most {limit:g}%, the limit"
    if task["measure"] == "violation":
        floor = 100.0 * noise_floor
        text = f"what chance alone makes of limits that hold exactly, {floor:.2f} points"
        return "violation of all limits, summed, points", floor, text
    if task["bound"]:
        limit = 100.0 * task["bound"]
        return f"{task['measure']} on test rows, points", limit, f"at most {limit:g}, the limit"
    return f"{task['measure']} on test rows, points", None, ""


def described(task: dict, cells: Sequence[Cell]) -> str:
    """For those who cannot see the picture."""
    points = [
        f"{cell.name} {percent(cell.accuracy).mean:.1f} at {mean_x(cell):.1f}"
        for cell in cells
        if cell.setting == "default"
    ]
    learners = " and ".join(LEARNER_NAMES[name] for name in LINE_STYLES)
    return (
        f"{task['title']}, accuracy against what is limited, in percent: {'; '.join(points)}. "
        f"Lines join the settings of bregboost and of tuned offsets, for {learners}"
    )
