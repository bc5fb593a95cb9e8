"""What the paper prints in its Tables 1 and 2, from printed.json."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

SETS = 100  # of hyper-parameters, that its figures are means over


@dataclass(frozen=True)
class Figure:
    """Mean and standard deviation over the paper's sets, in percent."""

    mean: float
    deviation: float


@dataclass(frozen=True)
class PrintedRow:
    table: str
    problem: str
    learner: str
    method: str  # plain, paper, or a peer's own name
    name: str  # the paper's
    accuracy: Figure
    measure: Figure


@lru_cache
def printed_rows() -> tuple[PrintedRow, ...]:
    content = json.loads(Path(__file__).with_name("printed.json").read_text(encoding="utf-8"))
    return tuple(
        PrintedRow(
            row["table"],
            row["task"],
            row["learner"],
            row["method"],
            row["name"],
            Figure(*row["accuracy"]),
            Figure(*row["measure"]),
        )
        for row in content["rows"]
    )


def printed(problem: str, learner: str, method: str) -> PrintedRow | None:
    """None where the paper has no such row."""
    found = (
        row
        for row in printed_rows()
        if (row.problem, row.learner, row.method) == (problem, learner, method)
    )
    return next(found, None)
