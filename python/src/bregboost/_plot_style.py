"""What the pictures share: palette, axes in percent, legends beside the data.

Colours tell apart for the colour-blind and stand out on light and dark pages; texts and bounds take
the colour of the axes' labels, whatever the style.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bregboost._units import NO_BREAK_SPACE, with_unbroken_bound

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.typing import ColorType

# Okabe & Ito, "Color universal design" (2008), without black and yellow.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINE_STYLES = ("-", "--", ":")
GOOD, BAD, NEUTRAL = "#0072B2", "#D55E00", "#8C8C8C"

_WIDTH = 8.5  # inches
_LEGEND_WIDTH = 34  # characters
_LEGEND_LINES = 3  # of one entry
# Points between axes and legend; the larger ones leave room for the numbers of a second axis.
_BESIDE_AXES, _BESIDE_RIGHT_AXIS = 8.0, 64.0
_ABOVE_AXES, _ABOVE_TOP_AXIS = 6.0, 40.0


def new_axes(height: float) -> "Axes":
    """Axes of a figure `height` inches tall that makes room for what stands outside them."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "ax: a picture needs Matplotlib, which is not installed; "
            "allowed after: pip install bregboost[plot]"
        ) from error
    return pyplot.subplots(figsize=(_WIDTH, height), layout="constrained")[1]


def tidy(ax: "Axes") -> None:
    """No frame, a faint grid behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)


def show_percent(axis: "Axis", percent: bool) -> None:
    """Numbers in percent, for shares."""
    from matplotlib.ticker import FuncFormatter

    if percent:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g}%"))


def show_points(axis: "Axis", percent: bool) -> None:
    """Numbers in points, for differences of shares."""
    from matplotlib.ticker import FuncFormatter

    if percent:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g}"))


def show_counts(axis: "Axis") -> None:
    """Whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))


def line_colour(ax: "Axes") -> "ColorType":
    """Of bounds: that of the labels."""
    return ax.xaxis.label.get_color()


def wrapped(text: str, width: int, most_lines: int | None = None) -> str:
    """Lines of at most `width` characters, free of Matplotlib's mathematics.

    Of too many, the first ones and the end, where a limit has its bound.

    Examples
    --------
    >>> text = "fpr(sex=F, race=other) - 2 * fpr(sex=M, race=other) <= 1%"
    >>> wrapped(text, 24, most_lines=2).splitlines()
    ['fpr(sex=F, race=other) -', '… race=other) <= 1%']
    """
    lines = textwrap.wrap(with_unbroken_bound(text), width, break_on_hyphens=False) or [""]
    if most_lines is not None and len(lines) > most_lines:
        end = text[2 - width :]
        lines = [*lines[: most_lines - 1], f"… {end.partition(' ')[2] or end}"]
    return "\n".join(lines).replace(NO_BREAK_SPACE, " ").replace("$", r"\$")


def legend_text(label: str) -> str:
    """A label of :func:`legend_beside`."""
    return wrapped(label, _LEGEND_WIDTH, _LEGEND_LINES)


def legend_height(labels: Sequence[str]) -> float:
    """Inches of a legend on the right."""
    return 0.18 * sum(1 + legend_text(label).count("\n") for label in labels)


def legend_beside(
    ax: "Axes",
    handles: Sequence["Artist"],
    labels: Sequence[str],
    right_axis: bool = False,
) -> None:
    """A legend on the right, outside the axes."""
    from matplotlib.transforms import ScaledTranslation

    if not handles:
        return
    points = _BESIDE_RIGHT_AXIS if right_axis else _BESIDE_AXES
    shift = ScaledTranslation(points / 72, 0, ax.figure.dpi_scale_trans)
    ax.legend(
        handles,
        [legend_text(label) for label in labels],
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        bbox_transform=ax.transAxes + shift,
        borderaxespad=0.0,
        frameon=False,
    )


def legend_above(
    ax: "Axes", handles: Sequence["Artist"], labels: Sequence[str], top_axis: bool = False
) -> None:
    """A legend in a row above the axes."""
    from matplotlib.transforms import ScaledTranslation

    if not handles:
        return
    points = _ABOVE_TOP_AXIS if top_axis else _ABOVE_AXES
    ax.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        bbox_transform=ax.transAxes + ScaledTranslation(0, points / 72, ax.figure.dpi_scale_trans),
        borderaxespad=0.0,
        frameon=False,
        ncols=len(handles),
        columnspacing=1.4,
    )
