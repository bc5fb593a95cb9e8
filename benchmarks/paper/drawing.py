"""The pictures of the section: accuracy against the paper's measure, and courses of CBPR."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchmarks.paper.printed import printed
from benchmarks.paper.problems import PROBLEMS, Problem
from benchmarks.paper.summary import Cell

LEARNER_TITLES = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
METHOD_TITLES = {
    "plain": "plain",
    "paper": "the paper's method",
    "paper_linearized": "the paper's method, linearised",
    "auto": "bregboost",
    "auto_relaxed": "bregboost, limit at the paper's level",
}
# Okabe and Ito's colours and shapes of their own: the methods tell apart without colour, too.
COLOURS = {
    "plain": "#6E6E6E",
    "paper": "#D55E00",
    "paper_linearized": "#CC79A7",
    "auto": "#0072B2",
    "auto_relaxed": "#009E73",
}
SHAPES = {"plain": "s", "paper": "^", "paper_linearized": "P", "auto": "o", "auto_relaxed": "v"}
# From dark to light, of the palette cividis, which the colour-blind see alike.
ALPHA_COLOURS = ("#00204D", "#3F4D6B", "#8A8678", "#D9B93F")
RUG = (0.0, 0.035)  # where the means are marked at the axes, in their lengths
STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "svg.hashsalt": "bregboost",  # the same drawing gives the same file
}


@contextmanager
def figure_in(path: Path, rows: int, height: float, **shared: Any) -> Iterator[tuple[Figure, Any]]:
    """Two columns of axes, saved at the end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(rows, 2, figsize=(9.0, height), layout="constrained", **shared)
        yield figure, axes
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        plt.close(figure)


def draw_scatter(name: str, cells: Mapping[tuple[str, str, str], Cell], path: Path) -> None:
    """Every set a point; means larger, and marked at the axes; the paper's own means hollow."""
    problem = PROBLEMS[name]
    methods = [m for m in METHOD_TITLES if any(cell[::2] == (name, m) for cell in cells)]
    with figure_in(path, rows=1, height=4.4, sharex=True, sharey=True) as (figure, axes):
        for ax, (learner, title) in zip(axes, LEARNER_TITLES.items(), strict=True):
            for method in methods:
                if (name, learner, method) in cells:
                    draw_cell(ax, cells[name, learner, method])
            for method in ("plain", "paper"):
                draw_printed(ax, name, learner, method)
            ax.set_title(title)
            ax.set_xlabel(f"{problem.measure_title}, points")
        axes[0].set_ylabel("accuracy on test rows, %")
        figure.legend(handles=scatter_legend(methods), loc="outside lower center", ncols=3)


def draw_cell(ax: Axes, cell: Cell) -> None:
    colour, shape = COLOURS[cell.method], SHAPES[cell.method]
    measure, accuracy = cell.mean("measure").value, cell.mean("accuracy").value
    ax.scatter(
        cell.values("measure"),
        cell.values("accuracy"),
        s=18,
        marker=shape,
        color=colour,
        alpha=0.45,
        linewidths=0,
    )
    ax.scatter(measure, accuracy, s=110, marker=shape, color=colour, edgecolors="white", zorder=4)
    edge = {"color": colour, "linewidth": 2.5, "zorder": 5}
    ax.plot([measure] * 2, RUG, transform=ax.get_xaxis_transform(), **edge)
    ax.plot(RUG, [accuracy] * 2, transform=ax.get_yaxis_transform(), **edge)


def draw_printed(ax: Axes, name: str, learner: str, method: str) -> None:
    row = printed(name, learner, method)
    if row is not None:
        ax.scatter(
            row.measure.mean,
            row.accuracy.mean,
            s=90,
            marker="D",
            facecolors="none",
            edgecolors=COLOURS[method],
            linewidths=1.8,
            zorder=3,
        )


def scatter_legend(methods: Sequence[str]) -> list[Line2D]:
    handles = [
        Line2D([], [], linestyle="none", marker=SHAPES[m], color=COLOURS[m], label=METHOD_TITLES[m])
        for m in methods
    ]
    sizes = {
        "large, and at the axes: mean": {"marker": "o", "markersize": 9},
        "hollow: the mean in print": {"marker": "D", "fillstyle": "none"},
    }
    handles += [
        Line2D([], [], linestyle="none", color="black", label=label, **size)
        for label, size in sizes.items()
    ]
    return handles


def draw_courses(courses: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Loss on the left, loss difference of the groups on the right; a row for each learner."""
    alphas = sorted({course["alpha"] for course in courses} - {None})
    colours = dict(zip(alphas, ALPHA_COLOURS, strict=False))
    learners = [name for name in LEARNER_TITLES if any(c["learner"] == name for c in courses)]
    size = {"rows": len(learners), "height": 1.0 + 2.7 * len(learners)}
    with figure_in(path, **size, sharex=True, squeeze=False) as (figure, axes):
        for (left, right), learner in zip(axes, learners, strict=True):
            for course in (c for c in courses if c["learner"] == learner):
                look = course_look(course["alpha"], colours)
                left.plot(course["iteration"], course["objective"], **look)
                right.plot(course["iteration"], course["difference"], **look)
                if course["alpha"] is not None:
                    right.axhline(course["alpha"], color=look["color"], linestyle=":", linewidth=1)
            left.set_title(f"{LEARNER_TITLES[learner]}: mean loss")
            right.set_title(f"{LEARNER_TITLES[learner]}: loss difference of the sexes")
        for ax in axes[-1]:
            ax.set_xlabel("iteration")
        handles = [
            Line2D([], [], label=alpha_title(alpha), **course_look(alpha, colours))
            for alpha in (*alphas, None)
        ]
        dotted = {"color": "black", "linestyle": ":", "linewidth": 1}
        handles.append(Line2D([], [], label="the alpha asked for", **dotted))
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def alpha_title(alpha: float | None) -> str:
    return "no limit" if alpha is None else f"alpha {alpha:g}"


def course_look(alpha: float | None, colours: Mapping[float, str]) -> dict[str, Any]:
    if alpha is None:
        return {"color": "black", "linestyle": "--", "linewidth": 1.4}
    return {"color": colours[alpha], "linestyle": "-", "linewidth": 1.8}


def describe(problem: Problem) -> str:
    """Of a scatter, for those who do not see it."""
    return (
        f"{problem.title}: accuracy on test rows against {problem.measure_title}, a point for each "
        "set of hyper-parameters, for LightGBM and XGBoost"
    )
