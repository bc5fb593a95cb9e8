"""The table of README.md: a line per task, from the same file as the page of results."""

from collections.abc import Sequence

from benchmarks.common.markdown import table
from benchmarks.common.statistics import Summary
from benchmarks.peers.cells import Cell, cells_of
from benchmarks.peers.section import comparable, percent, traits

HEADER = (
    "task",
    "plain LightGBM",
    "bregboost, LightGBM",
    "bregboost, XGBoost",
    "best other method",
)


def render(results: dict) -> str:
    cells = [cell for cell in cells_of(results) if cell.setting == "default" and cell.seeds]
    lines = []
    for name, task in results["tasks"].items():
        here = [cell for cell in cells if cell.task == name]
        if not here:
            continue
        ours = {cell.learner: cell for cell in here if cell.is_ours}
        plain = next(c for c in here if (c.method, c.learner) == ("plain", "lightgbm"))
        best = best_other([cell for cell in here if not cell.is_ours])
        lines.append(
            [
                task["title"].replace("<=", "at most"),
                numbers(plain),
                numbers(ours["lightgbm"]),
                numbers(ours["xgboost"]),
                f"{numbers(best)}: {best.name}{traits(best)}",
            ]
        )
    return table(HEADER, lines)


def numbers(cell: Cell) -> str:
    accuracy, violation = Summary.of(cell.accuracy).mean, Summary.of(cell.violation).mean
    return f"{percent(accuracy, 1)} / {percent(violation, 1)} / {cell.time_ratio:.0f}x"


def best_other(cells: Sequence[Cell]) -> Cell:
    """The most accurate within the noise of the limits; without one, the least violation."""
    within = [cell for cell in comparable(cells) if cell.is_within_noise]
    if within:
        return max(within, key=lambda cell: Summary.of(cell.accuracy).mean)
    return min(comparable(cells), key=lambda cell: Summary.of(cell.violation).mean)
