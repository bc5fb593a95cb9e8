"""What was set out to be reached on test rows, and what is reached."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.common.statistics import Summary, dominates
from benchmarks.peers.cells import LEARNER_NAMES, OURS, Cell

LONGEST_RATIO = 6.0  # to plain LightGBM
LEAST_SPEED_UP = 8.0  # over fairlearn's reduction
REDUCTION = "reduction"


@dataclass(frozen=True)
class Target:
    """Shares. `largest` bounds the task's measure: violation, gap, worst gap or spread."""

    task: str
    accuracy: float
    largest: float
    measure: str
    on_frontier: bool = False  # at any setting, not the default alone
    reason: str = ""  # why it is hard, shown where it is missed

    @property
    def text(self) -> str:
        where = " on the frontier" if self.on_frontier else ""
        accuracy, largest = 100.0 * self.accuracy, 100.0 * self.largest
        return f"accuracy at least {accuracy:g} at {self.measure} at most {largest:g}{where}"


TARGETS = (
    Target(
        "drybean",
        0.907,
        0.015,
        "violation",
        reason="the four bounds are not met together on unseen rows either: rho decides what is "
        "given up for them",
    ),
    Target(
        "credit",
        0.93,
        0.01,
        "violation",
        reason="a test split has fewer than a hundred frauds, and one of them is more than a point "
        "of the miss rate",
    ),
    Target("credit_relaxed", 0.99, 0.1163, "miss rate"),
    Target("adult_error", 0.857, 0.05, "gap"),
    Target("adult_odds", 0.868, 0.025, "worst gap"),
    Target("adult_selection", 0.86, 0.05, "gap"),
    Target("adult_relaxed", 0.871, 0.093, "gap"),
    Target("compas", 0.605, 0.08, "spread", on_frontier=True),
    Target("compas", 0.57, 0.065, "spread", on_frontier=True),
)


@dataclass(frozen=True)
class Reached:
    """The setting that comes nearest to a target, by its mean over seeds."""

    target: Target
    cell: Cell

    @property
    def accuracy(self) -> float:
        return Summary.of(self.cell.accuracy).mean

    @property
    def measure(self) -> float:
        return Summary.of(self.cell.measure).mean

    @property
    def missing_accuracy(self) -> float:
        return max(0.0, self.target.accuracy - self.accuracy)

    @property
    def excess(self) -> float:
        return max(0.0, self.measure - self.target.largest)

    @property
    def is_met(self) -> bool:
        return self.missing_accuracy == 0.0 and self.excess == 0.0

    @property
    def verdict(self) -> str:
        if self.is_met:
            return "met"
        parts = []
        if self.missing_accuracy:
            parts.append(f"{100.0 * self.missing_accuracy:.2f} of accuracy")
        if self.excess:
            parts.append(f"{100.0 * self.excess:.2f} of {self.target.measure}")
        reason = f": {self.target.reason}" if self.target.reason else ""
        return f"missed by {' and '.join(parts)}{reason}"


def reached(target: Target, cells: Sequence[Cell], learner: str) -> Reached | None:
    """None without runs."""
    ours = [
        cell
        for cell in cells
        if cell.is_ours
        and (cell.task, cell.learner) == (target.task, learner)
        and cell.seeds
        and (target.on_frontier or cell.setting == "default")
    ]
    candidates = [Reached(target, cell) for cell in ours]
    return min(candidates, key=lambda c: c.missing_accuracy + c.excess, default=None)


def dominating(cell: Cell, others: Sequence[Cell]) -> list[str]:
    """Names of peers that are clearly better in both accuracy and violation, on the same seeds."""
    return [
        other.name
        for other in others
        if other.method != OURS
        and other.seeds == cell.seeds
        and dominates(other.scores, cell.scores)
    ]


def speed_up(cell: Cell, others: Sequence[Cell]) -> float | None:
    """How many times faster than fairlearn's reduction; None where that does not apply."""
    reductions = [other for other in others if other.method == REDUCTION and other.seeds]
    return reductions[0].time_ratio / cell.time_ratio if reductions else None


def overview(cells: Sequence[Cell], tasks: dict[str, dict]) -> list[list[str]]:
    """A line per task and learner: target, what is reached, time, and who dominates."""
    with_runs = [cell for cell in cells if cell.setting == "default" and cell.seeds]
    lines = []
    for target in TARGETS:
        for learner in ("lightgbm", "xgboost"):
            found = reached(target, cells, learner)
            if found is None:
                continue
            here = [cell for cell in with_runs if cell.task == target.task]
            cell = next(cell for cell in here if cell.is_ours and cell.learner == learner)
            faster = speed_up(cell, here)
            lines.append(
                [
                    f"[{tasks[target.task]['title']}](#{anchor(tasks[target.task]['title'])})",
                    LEARNER_NAMES[learner],
                    target.text,
                    f"{100.0 * found.accuracy:.2f} / {100.0 * found.measure:.2f}",
                    found.verdict,
                    f"{cell.time_ratio:.1f}{'' if cell.time_ratio <= LONGEST_RATIO else ' (over)'}",
                    ""
                    if faster is None
                    else f"{faster:.0f}{'' if faster >= LEAST_SPEED_UP else ' (under)'}",
                    ", ".join(dominating(cell, here)) or "none",
                ]
            )
    return lines


OVERVIEW_HEADER = (
    "task",
    "learner",
    "target",
    "reached",
    "verdict",
    f"time / plain (at most {LONGEST_RATIO:g})",
    f"times faster than fairlearn's reduction (at least {LEAST_SPEED_UP:g})",
    "dominated by",
)


def anchor(title: str) -> str:
    """Of a heading, as GitHub and the rendered pages name it."""
    kept = [letter for letter in title.lower() if letter.isalnum() or letter in "-_ "]
    return "".join(kept).replace(" ", "-")
