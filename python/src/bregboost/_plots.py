"""Pictures of a fit: what its limits cost, how it was trained, where its rates are."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from bregboost._frontier import FrontierPoint, FrontierResult
from bregboost._history import VALUE_COLUMN
from bregboost._json_data import plain
from bregboost._plot_style import (
    BAD,
    COLOURS,
    GOOD,
    LINE_STYLES,
    NEUTRAL,
    legend_above,
    legend_beside,
    legend_height,
    line_colour,
    new_axes,
    show_counts,
    show_percent,
    show_points,
    tidy,
    wrapped,
)
from bregboost._rate_rows import RateRow, rate_rows
from bregboost._report import Report
from bregboost._units import bound_text, in_percent, relation, stated_bound

if TYPE_CHECKING:
    import pandas
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_POINTS = " (percentage points)"
_HEIGHT = 4.2  # inches
_LINE_HEIGHT = 0.17  # inches of a line of labels
_AXIS_LABEL_WIDTH = 70  # characters
_NEAREST_LABELS = 0.05  # of the axes: texts at points nearer than this would overlap


def plot_frontier(result: FrontierResult, ax: "Axes | None" = None) -> "Axes":
    """What limits cost: the objective against the bound, or against the violation for many rho.

    Parameters
    ----------
    result : FrontierResult
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> points = [{"bound": 0.05, "objective": 0.9, "total_violation": 0.0}]
    >>> plot_frontier(FrontierResult(points, objective_name="accuracy")).get_ylabel()
    'accuracy on unseen rows'
    """
    if not isinstance(result, FrontierResult):
        raise TypeError(f"result: {type(result).__name__}; allowed: FrontierResult")
    ax = new_axes(_HEIGHT) if ax is None else ax
    tidy(ax)
    by_bound = result.swept == "bound"
    drawn = [
        (x, point.objective, point)
        for point in result.points
        if (x := point.bound if by_bound else point.total_violation) is not None
        and point.objective is not None
    ]
    line = sorted((x, y) for x, y, point in drawn if not point.dominated)
    ax.plot([x for x, _ in line], [y for _, y in line], color=NEUTRAL, zorder=2)
    kinds = (
        ("holds every limit", GOOD, "o", 4, lambda p: p.satisfied and not p.dominated),
        ("breaks a limit", BAD, "X", 4, lambda p: not p.satisfied and not p.dominated),
        ("not worth choosing", NEUTRAL, "s", 3, lambda p: p.dominated),  # hides none of the others
    )
    for name, colour, marker, layer, belongs in kinds:
        places = [(x, y) for x, y, point in drawn if belongs(point)]
        if places:
            xs, ys = zip(*places, strict=True)
            ax.scatter(xs, ys, color=colour, marker=marker, s=45, label=name, zorder=layer)
    if not by_bound:
        _label_rhos(ax, drawn, below=result.maximise)
    of = f" of {result.constraint}" if result.constraint else ""
    if by_bound:
        ax.set_xlabel(wrapped(f"bound{of}", _AXIS_LABEL_WIDTH))
        show_percent(ax.xaxis, result.bounds_in_percent)
    else:
        ax.set_xlabel(f"total violation{_POINTS if result.violations_in_percent else ''}")
        show_points(ax.xaxis, result.violations_in_percent)
    ax.set_ylabel(f"{result.objective_name} on unseen rows")
    show_percent(ax.yaxis, "loss" not in result.objective_name)
    legend_beside(ax, *ax.get_legend_handles_labels())
    return ax


def plot_history(history_or_model: object, ax: "Axes | None" = None) -> "Axes":
    """How a training went: how far every limit was from its bound, and what was minimised.

    A limit holds where its line is at or below zero, the bound. The objective is drawn as something
    to lower: for accuracy, the error.

    Parameters
    ----------
    history_or_model : Report, fitted model, its ``history_``, or sequence of mappings
        Rows without the limits' values show the worst violation.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default. The objective gets an axis of its own on the right.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> history = [{"k": k, "objective": 0.5 - 0.1 * k, "exact_violation": 0.0} for k in range(3)]
    >>> plot_history(history).get_xlabel()
    'training step'
    """
    history, limits, cost = _history_of(history_or_model)
    height = max(_HEIGHT, 1.0 + legend_height([text for text, _ in limits]))
    ax = new_axes(height) if ax is None else ax
    tidy(ax)
    steps = _steps(history)
    percent = all(in_percent(text) for text, _ in limits)
    for j, (text, bound) in enumerate(limits):
        excess = [_excess(row, j, text, bound) for row in history]
        style = LINE_STYLES[j // len(COLOURS) % len(LINE_STYLES)]
        ax.plot(steps, excess, color=COLOURS[j % len(COLOURS)], linestyle=style, label=text)
    if not limits:
        worst = [_number(row.get("exact_violation")) for row in history]
        ax.plot(steps, worst, color=BAD, label="worst limit")
    ax.axhline(0.0, color=line_colour(ax), linewidth=1.2, label="bound: limits hold up to here")
    ax.set_xlabel("training step")
    show_counts(ax.xaxis)
    ax.set_ylabel(f"distance beyond the bound{_POINTS if percent else ''}")
    show_points(ax.yaxis, percent)
    handles, labels = ax.get_legend_handles_labels()
    right = ax.twinx()
    right.spines["top"].set_visible(False)
    objective = [_number(row.get("objective")) for row in history]
    handles += right.plot(steps, objective, color=NEUTRAL, linestyle="-.", linewidth=1.2)
    right.set_ylabel(cost.label)
    show_percent(right.yaxis, cost.percent)
    legend_beside(ax, handles, [*labels, f"{cost.name} (right)"], right_axis=True)
    return ax


def plot_rates(report_or_model: object, ax: "Axes | None" = None, *, max_groups: int = 6) -> "Axes":
    """Where every limit's rate is and where its bound; below it, the rates of its groups.

    Parameters
    ----------
    report_or_model : Report, or fitted model
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure, as tall as it must be, by default. Losses beside shares get an
        axis of their own on top.
    max_groups : int
        Of each limit; of more groups, those with the lowest and highest rates.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> limit = {"text": "fnr <= 5%", "value": 0.03, "bound": 0.05, "satisfied": True}
    >>> ax = plot_rates(Report({"constraints": [limit]}))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['fnr <= 5%']
    """
    if max_groups < 0:
        raise ValueError(f"max_groups: {max_groups}; allowed: 0 or more")
    report = _report_of(report_or_model, "report_or_model")
    certificate = report.certificate
    rows = rate_rows(report.to_dict()["constraints"] or [], certificate, max_groups)
    lines = sum(row.height for row in rows)
    shares = any(row.percent for row in rows) or not rows
    mixed = shares and not all(row.percent for row in rows)
    height = (1.8 if mixed else 1.3) + _LINE_HEIGHT * max(lines, 4)
    ax = new_axes(height) if ax is None else ax
    tidy(ax)
    of_losses = ax.twiny() if mixed else ax
    places = _draw_rows(ax, of_losses, rows)
    ax.set_yticks(places, [row.label for row in rows])
    for label, row in zip(ax.get_yticklabels(), rows, strict=True):
        label.set_alpha(_faintness(row))
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(lines + 0.5, 0.0)
    ax.set_xlabel("rate" if shares else "loss")
    show_percent(ax.xaxis, shares)
    if mixed:
        of_losses.set_xlabel("loss")
        of_losses.spines["right"].set_visible(False)
    if not rows:
        ax.text(0.5, 0.5, "no limits", transform=ax.transAxes, ha="center", va="center")
    legend_above(ax, *_rate_legend(ax, rows, certificate.confidence), top_axis=mixed)
    return ax


def _label_rhos(
    ax: "Axes", drawn: Sequence[tuple[float, float, FrontierPoint]], below: bool
) -> None:
    """At the points worth choosing, as many as have room, on the side that the line leaves free."""
    chosen = sorted((x, y, point.rho) for x, y, point in drawn if not point.dominated)
    if not chosen:
        return
    width, height = (
        max(numbers) - min(numbers) or 1.0
        for numbers in ([x for x, _, _ in drawn], [y for _, y, _ in drawn])
    )
    labelled: list[tuple[float, float]] = []
    for x, y, rho in chosen:
        place = x / width, y / height
        if rho is None or any(
            max(abs(a - b) for a, b in zip(place, other, strict=True)) < _NEAREST_LABELS
            for other in labelled
        ):
            continue
        labelled.append(place)
        ax.annotate(
            f"rho {rho:.4g}",
            (x, y),
            xytext=(6, -4 if below else 4),
            textcoords="offset points",
            va="top" if below else "bottom",
        )
    ax.margins(0.12)


def _draw_rows(ax: "Axes", of_losses: "Axes", rows: list[RateRow]) -> list[float]:
    """Returns where the rows are, in lines from the top."""
    places, top = [], 0.0
    for row in rows:
        middle = top + (row.space_above + row.height) / 2
        top += row.height
        places.append(middle)
        _draw_row(ax if row.percent else of_losses, row, middle)
        beside = ax.get_yaxis_transform()
        ax.text(1.01, middle, row.note, transform=beside, va="center", alpha=_faintness(row))
    return places


def _draw_row(ax: "Axes", row: RateRow, middle: float) -> None:
    colour = _row_colour(row)
    if row.low is not None and row.high is not None:
        ax.hlines(middle, row.low, row.high, color=colour, linewidth=5, alpha=0.45)
    if row.bound is not None:
        half = (row.height - row.space_above) / 2 + 0.1
        ax.vlines(row.bound, middle - half, middle + half, color=line_colour(ax), linewidth=1.6)
    if row.value is not None:
        size = 18 if row.held is None else 48
        ax.scatter([row.value], [middle], color=colour, marker=_row_marker(row), s=size, zorder=3)


def _row_colour(row: RateRow) -> str:
    return NEUTRAL if row.held is None else GOOD if row.held else BAD


def _faintness(row: RateRow) -> float:
    return 0.7 if row.held is None else 1.0


def _row_marker(row: RateRow) -> str:
    return "X" if row.held is False else "o"


def _rate_legend(
    ax: "Axes", rows: list[RateRow], confidence: float | None
) -> tuple[list["Artist"], list[str]]:
    """What occurs among the rows, once each."""
    from matplotlib.lines import Line2D

    names = {True: "holds", False: "does not hold", None: "group"}
    found: dict[str, Artist] = {}
    for held, name in names.items():
        row = next((row for row in rows if row.held is held and row.value is not None), None)
        if row is not None:
            marker, colour = _row_marker(row), _row_colour(row)
            size = 4 if held is None else 7
            found[name] = Line2D([], [], linestyle="", marker=marker, color=colour, markersize=size)
    if any(row.bound is not None for row in rows):
        found["bound"] = Line2D(
            [], [], linestyle="", marker="|", color=line_colour(ax), markersize=11
        )
    if any(row.low is not None for row in rows):
        surely = "" if confidence is None else f"{bound_text(confidence, percent=True)} "
        found[f"{surely}confidence"] = Line2D([], [], color=NEUTRAL, linewidth=5, alpha=0.5)
    return list(found.values()), list(found)


def _report_of(report_or_model: object, field: str) -> Report:
    report = getattr(report_or_model, "report_", report_or_model)
    if not isinstance(report, Report):
        given = type(report_or_model).__name__
        raise TypeError(f"{field}: {given}; allowed: a Report or a fitted model")
    return report


class _Cost(NamedTuple):
    """What a training minimised."""

    name: str = "objective"
    label: str = "objective (less is better)"
    percent: bool = False


def _cost_of(data: dict[str, Any]) -> _Cost:
    """The objective, or what a rate that is made large lacks to 1."""
    name = data.get("objective_name")
    if not name:
        return _Cost()
    percent = "loss" not in name
    if data.get("maximise"):
        is_one_rate = re.fullmatch(r"[a-z]+(\([^()]*\))?", name)
        name = "error" if name == "accuracy" else f"1 - {name}" if is_one_rate else "cost"
    rows = "training" if data.get("validation") == "none" else "unseen"
    return _Cost(name, f"{name} on {rows} rows", percent)


_Limits = list[tuple[str, float | None]]


def _history_of(source: Any) -> tuple[list[dict[str, Any]], _Limits, _Cost]:
    """The rows, text and bound of every limit whose values they have, and what they minimise."""
    if isinstance(source, Sequence) and all(isinstance(row, Mapping) for row in source):
        return plain(source, "history_or_model"), [], _Cost()
    if hasattr(source, "columns"):
        return *_history_of_frame(source), _Cost()
    data = _report_of(source, "history_or_model").to_dict()
    history, cost = data.get("history") or [], _cost_of(data)
    if not any(row.get("values") for row in history):
        return history, [], cost
    limits = data["constraints"] or []
    return history, [(str(limit.get("text")), limit.get("bound")) for limit in limits], cost


def _history_of_frame(
    frame: "pandas.DataFrame",
) -> tuple[list[dict[str, Any]], _Limits]:
    columns = [name for name in frame.columns if str(name).startswith(VALUE_COLUMN)]
    history = plain(frame.to_dict("records"), "history_or_model")
    for row in history:
        row["values"] = [row[name] for name in columns]
    texts = [name.removeprefix(VALUE_COLUMN) for name in columns]
    return history, [(text, stated_bound(text)) for text in texts]


def _steps(history: list[dict[str, Any]]) -> list[int]:
    """The rows' own numbers; their places where a solver counts from zero again."""
    numbers = [row["k"] for row in history if row.get("k") is not None]
    if len(numbers) == len(history) and all(a < b for a, b in pairwise(numbers)):
        return numbers
    return list(range(len(history)))


def _excess(row: dict[str, Any], j: int, text: str, bound: float | None) -> float:
    values = row.get("values") or []
    value = values[j] if j < len(values) else None
    if value is None or bound is None:
        return float("nan")
    return value - bound if relation(text) == "<=" else bound - value


def _number(value: float | None) -> float:
    return float("nan") if value is None else value
