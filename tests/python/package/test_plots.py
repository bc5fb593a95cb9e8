"""Pictures: what they carry, and that nothing in them overlaps or is cut off."""

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import matplotlib
import numpy as np
import pytest
from bregboost._frontier import FrontierResult
from bregboost._history import history_frame
from bregboost._plots import plot_frontier, plot_history, plot_rates
from bregboost._report import Report
from report_samples import FNR, GAP, SMALL, long_texts, small, with_limits, without_numbers

matplotlib.use("agg")

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

BOUND = "bound: limits hold up to here"


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    plt.close("all")


class Fitted:
    """What plots see of a model."""

    def __init__(self, data: dict[str, object]) -> None:
        self.report_ = Report(data)


def segments(ax: Axes) -> tuple[list[float], list[tuple[float, float]]]:
    """Where bounds are, and from where to where intervals reach."""
    lines = [
        line
        for collection in ax.collections
        if isinstance(collection, LineCollection)
        for line in collection.get_segments()
    ]
    bounds = [line[0, 0] for line in lines if line[0, 0] == line[1, 0]]
    intervals = [(line[0, 0], line[1, 0]) for line in lines if line[0, 0] != line[1, 0]]
    return bounds, intervals


def notes(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def right_axes(ax: Axes) -> Axes:
    (right,) = (other for other in ax.figure.axes if other is not ax)
    return right


def legend_texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def frontier(swept: str = "bound", n: int = 6) -> FrontierResult:
    points = [
        {
            "bound": 0.01 * (i + 1),
            "rho": 2.0**i,
            "objective": 0.7 + 0.02 * i,
            "total_violation": 0.0 if i else 0.01,
            "dominated": i == 2,
            "measurements": [{"text": f"fnr <= {i + 1}%", "value": 0.01, "satisfied": i > 0}],
        }
        for i in range(n)
    ]
    return FrontierResult(points, swept=swept, objective_name="accuracy")


def test_rates_are_labelled_measured_and_bounded() -> None:
    ax = plot_rates(Report(small()))
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [FNR, GAP, "sex=F", "sex=M"]
    bounds, intervals = segments(ax)
    assert bounds == [0.05, 0.02]
    assert intervals == [(0.02, 0.0498), (0.001, 0.041)]
    dots = [c.get_offsets()[0, 0] for c in ax.collections if not isinstance(c, LineCollection)]
    assert dots == [0.0487, 0.0231, 0.1231, 0.1462]
    assert notes(ax) == ["4.87%, certified", "2.31%, not certified", "12.31%", "14.62%"]
    assert legend_texts(ax) == ["holds", "does not hold", "group", "bound", "90% confidence"]
    assert ax.get_xlabel() == "rate"
    assert ax.xaxis.get_major_formatter()(0.025) == "2.5%"


def test_rates_of_a_fitted_model_and_on_given_axes() -> None:
    _, given = plt.subplots()
    assert plot_rates(Fitted(small()), given) is given


def test_bounds_of_largest_and_smallest_rates_hold_for_every_group() -> None:
    groups = [{"group": f"a={i}", "value": 0.1 * i, "rows": 9} for i in range(1, 4)]
    limit = {"text": "max(fnr, by=a) <= 40%", "value": 0.3, "bound": 0.4, "satisfied": True}
    ax = plot_rates(Report({"constraints": [limit | {"groups": groups}]}))
    assert segments(ax) == ([0.4] * 4, [])


def test_of_many_groups_the_extremes_are_drawn() -> None:
    groups = [{"group": f"a={i}", "value": 0.1 * i, "rows": 9} for i in range(9)]
    data = small()
    data["constraints"][1]["groups"] = groups
    ax = plot_rates(Report(data), max_groups=2)
    assert [label.get_text() for label in ax.get_yticklabels()] == [FNR, GAP, "a=0", "a=8"]
    with pytest.raises(ValueError, match="max_groups: -1; allowed: 0 or more"):
        plot_rates(Report(data), max_groups=-1)


def test_losses_have_an_axis_of_their_own() -> None:
    loss = {"text": "max(loss, by=a) <= 3", "value": 2.5, "bound": 3.0, "satisfied": True}
    alone = plot_rates(Report({"constraints": [loss]}))
    assert alone.get_xlabel() == "loss"
    assert alone.xaxis.get_major_formatter()(2.5) != "250%"
    share = {"text": FNR, "value": 0.04, "bound": 0.05, "satisfied": True}
    both = plot_rates(Report({"constraints": [share, loss]}))
    (top,) = (ax for ax in both.figure.axes if ax is not both)
    assert (both.get_xlabel(), top.get_xlabel()) == ("rate", "loss")
    assert segments(both)[0] == [0.05]
    assert segments(top)[0] == [3.0]
    assert both.get_xlim()[1] < 0.1 < top.get_xlim()[0]


def test_undefined_rates_are_said_not_drawn() -> None:
    ax = plot_rates(Report(without_numbers(small())))
    assert segments(ax) == ([], [])
    assert notes(ax) == ["undefined, not certified"] * 2 + ["undefined"] * 2
    assert ax.get_legend() is None


def test_no_limits() -> None:
    ax = plot_rates(Report({"constraints": []}))
    assert notes(ax) == ["no limits"]


def test_history_shows_distances_from_bounds() -> None:
    ax = plot_history(Report(small()))
    first, second, bound = ax.lines
    assert first.get_label() == FNR
    np.testing.assert_allclose(first.get_ydata(), [0.04, 0.02, 0.0], atol=1e-15)
    np.testing.assert_allclose(second.get_ydata(), [0.02, 0.01, 0.0], atol=1e-15)
    assert list(bound.get_ydata()) == [0, 0]
    assert ax.get_xlabel() == "training step"
    assert ax.get_ylabel() == "distance beyond the bound (percentage points)"
    assert ax.yaxis.get_major_formatter()(0.02) == "2"
    right = right_axes(ax)
    np.testing.assert_allclose(right.lines[0].get_ydata(), [0.6, 0.5, 0.4])
    assert right.get_ylabel() == "error on unseen rows"
    assert right.yaxis.get_major_formatter()(0.4) == "40%"
    assert legend_texts(ax) == [FNR, GAP, BOUND, "error (right)"]
    assert all(tick == round(tick) for tick in ax.get_xticks())


@pytest.mark.parametrize(
    ("facts", "label"),
    [
        ({"objective_name": "balanced_error", "maximise": False}, "balanced_error on unseen rows"),
        ({"objective_name": "recall", "maximise": True}, "1 - recall on unseen rows"),
        ({"objective_name": "recall + tnr", "maximise": True}, "cost on unseen rows"),
        (
            {"objective_name": "loss", "maximise": False, "validation": "none"},
            "loss on training rows",
        ),
        ({"objective_name": None}, "objective (less is better)"),
    ],
)
def test_history_names_what_was_minimised(facts: dict[str, Any], label: str) -> None:
    right = right_axes(plot_history(Report(small(**facts))))
    assert right.get_ylabel() == label
    share = right.yaxis.get_major_formatter()(0.4) == "40%"
    assert share == ("loss" not in label and "objective" not in label)


def test_floors_are_broken_from_below() -> None:
    limit = {"text": "precision >= 60%", "value": 0.5, "bound": 0.6, "satisfied": False}
    history = [{"k": 0, "values": [0.5]}, {"k": 1, "values": [0.65]}, {"k": 2, "values": [None]}]
    ax = plot_history(Report({"constraints": [limit], "history": history}))
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.1, -0.05, math.nan])


def test_history_of_a_model_and_its_table_look_alike() -> None:
    model = plot_history(Fitted(small()))
    table = plot_history(history_frame(SMALL["history"], [FNR, GAP]))
    for of_model, of_table in zip(model.lines, table.lines, strict=True):
        np.testing.assert_allclose(of_model.get_xydata(), of_table.get_xydata(), atol=1e-15)
    assert legend_texts(model)[:-1] == legend_texts(table)[:-1]
    assert legend_texts(table)[-1] == "objective (right)"  # whose name the table does not know


def test_history_alone_shows_the_worst_violation() -> None:
    ax = plot_history(SMALL["history"])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.02, 0.01, 0.02 / 3])
    assert legend_texts(ax) == ["worst limit", BOUND, "objective (right)"]


def test_steps_are_counted_on_where_a_solver_starts_anew() -> None:
    ax = plot_history([{"k": 0}, {"k": 7}])
    assert list(ax.lines[0].get_xdata()) == [0, 7]
    ax = plot_history([{"k": 0}, {"k": 1}, {"k": 0}])
    assert list(ax.lines[0].get_xdata()) == [0, 1, 2]


def test_frontier_of_bounds() -> None:
    ax = plot_frontier(frontier())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("bound of fnr", "accuracy on unseen rows")
    assert ax.xaxis.get_major_formatter()(0.01) == ax.yaxis.get_major_formatter()(0.01) == "1%"
    assert legend_texts(ax) == ["holds every limit", "breaks a limit", "not worth choosing"]
    holding, breaking, dominated = (np.asarray(c.get_offsets()) for c in ax.collections)
    np.testing.assert_allclose(holding[:, 0], [0.02, 0.04, 0.05, 0.06])
    np.testing.assert_allclose(breaking, [[0.01, 0.7]])
    np.testing.assert_allclose(dominated, [[0.03, 0.74]])
    layers = [collection.get_zorder() for collection in ax.collections]
    assert layers[2] < min(layers[:2])  # what is not worth choosing hides nothing that is
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [0.01, 0.02, 0.04, 0.05, 0.06])


def test_frontier_of_rho_labels_what_has_room() -> None:
    ax = plot_frontier(frontier("rho"))
    assert ax.get_xlabel() == "total violation (percentage points)"
    assert ax.xaxis.get_major_formatter()(0.01) == "1"
    assert notes(ax) == ["rho 2", "rho 8", "rho 16", "rho 32", "rho 1"]
    crowd = plot_frontier(frontier("rho", n=200))
    assert len(notes(crowd)) < 30


def test_undefined_points_are_not_drawn() -> None:
    undefined = [{"bound": 0.1, "objective": None}, {"bound": math.nan, "objective": 0.5}]
    ax = plot_frontier(FrontierResult(undefined))
    assert len(ax.collections) == 0


PICTURES = {
    f"{plot.__name__} {name}": (plot, data)
    for plot in (plot_rates, plot_history)
    for name, data in {
        "1": with_limits(["fnr <= 2%"]),
        "2": small(),
        "10": with_limits([f"gap(fpr, by=(sex, g{j})) <= {2 * j + 2}%" for j in range(10)]),
        "10 long": with_limits(long_texts(10)),
        "$": with_limits(["error(price=$5$) <= 2%"]),
    }.items()
} | {f"frontier {swept}": (plot_frontier, frontier(swept)) for swept in ("bound", "rho")}


@pytest.mark.parametrize(("plot", "data"), PICTURES.values(), ids=PICTURES)
def test_nothing_overlaps_or_is_cut_off(plot: Callable[..., Axes], data: dict[str, Any]) -> None:
    ax = plot(data if isinstance(data, FrontierResult) else Report(data))
    figure = ax.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    legend = ax.get_legend().get_window_extent(renderer)
    for other in figure.axes:
        assert not legend.overlaps(other.get_window_extent(renderer))
        for axis in (other.xaxis, other.yaxis):
            beside = axis.get_tightbbox(renderer)
            assert beside is None or not legend.overlaps(beside)
    labels = [label.get_window_extent(renderer) for label in ax.get_yticklabels()]
    assert not any(a.overlaps(b) for a, b in pairwise(labels))
    texts = [text.get_window_extent(renderer) for text in ax.texts]
    assert not any(a.overlaps(b) for i, a in enumerate(texts) for b in texts[:i])
    tight = figure.get_tightbbox(renderer)
    assert tight.x0 >= -0.01
    assert tight.y0 >= -0.01
    assert tight.x1 <= figure.get_figwidth() + 0.01
    assert tight.y1 <= figure.get_figheight() + 0.01
    box = ax.get_window_extent(renderer)
    assert box.width > 0.3 * figure.bbox.width


def test_bounds_take_the_colour_of_the_style() -> None:
    with plt.style.context("dark_background"):
        assert plot_history(Report(small())).lines[2].get_color() == "white"
    assert plot_history(Report(small())).lines[2].get_color() == "black"


@pytest.mark.parametrize(
    ("plot", "field"),
    [
        (plot_rates, "report_or_model"),
        (plot_history, "history_or_model"),
        (plot_frontier, "result"),
    ],
)
def test_other_things_are_refused(plot: Callable[..., Axes], field: str) -> None:
    with pytest.raises(TypeError, match=f"{field}: int; allowed: "):
        plot(3)


WITHOUT_LIBRARIES = """
import sys
for name in ("matplotlib", "pandas", "tqdm"):
    sys.modules[name] = None
from bregboost._plots import plot_rates
from bregboost._progress import Progress
from bregboost._report import Report
try:
    plot_rates(Report({"constraints": []}))
except ImportError as error:
    print(error)
"""


def test_without_matplotlib_the_extra_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LIBRARIES], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        "ax: a picture needs Matplotlib, which is not installed; "
        "allowed after: pip install bregboost[plot]\n"
    )
