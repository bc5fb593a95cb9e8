"""Runs put together: what the page shows, small enough to be kept with the sources."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.paper.problems import PROBLEMS
from benchmarks.paper.runs import METHODS
from benchmarks.paper.store import Store, machine

PERCENT = ("accuracy", "measure", "large_groups")
DIGITS = 3  # of percent
LOSS_DIGITS = 4


@dataclass(frozen=True)
class Mean:
    """Mean and standard deviation over sets."""

    value: float
    deviation: float
    count: int

    @classmethod
    def of(cls, values: Iterable[float]) -> "Mean":
        array = np.array(list(values), dtype=float)
        deviation = float(array.std(ddof=1)) if len(array) > 1 else 0.0
        return cls(float(array.mean()), deviation, len(array))

    @property
    def standard_error(self) -> float:
        """Unknown (NaN) of a single value."""
        return self.deviation / math.sqrt(self.count) if self.count > 1 else math.nan

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {self.deviation:.2f}"


@dataclass(frozen=True)
class Cell:
    """The runs of one problem, learner and method, by the number of their set, in percent."""

    problem: str
    learner: str
    method: str
    columns: dict[str, dict[int, float]]
    failures: int

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "Cell":
        names = [name for name in (*PERCENT, "seconds") if name in content]
        return cls(
            content["problem"],
            content["learner"],
            content["method"],
            {name: dict(zip(content["set"], content[name], strict=True)) for name in names},
            content["failures"],
        )

    @property
    def sets(self) -> int:
        return len(self.columns["accuracy"])

    def values(self, name: str) -> list[float]:
        return list(self.columns[name].values())

    def mean(self, name: str) -> Mean:
        return Mean.of(self.values(name))

    @property
    def has_large_groups(self) -> bool:
        return "large_groups" in self.columns

    def shares_sets(self, other: "Cell") -> bool:
        return bool(self.columns["accuracy"].keys() & other.columns["accuracy"].keys())

    def difference(self, other: "Cell", name: str) -> Mean:
        """This minus the other, set by set where both have one."""
        mine, others = self.columns[name], other.columns[name]
        return Mean.of(value - others[number] for number, value in mine.items() if number in others)

    def ratio(self, other: "Cell", name: str) -> float:
        """The median ratio over sets."""
        mine, others = self.columns[name], other.columns[name]
        ratios = [value / others[number] for number, value in mine.items() if number in others]
        return float(np.median(ratios))


def cells_of(results: Mapping[str, Any]) -> dict[tuple[str, str, str], Cell]:
    cells = [Cell.of(content) for content in results["cells"]]
    return {(cell.problem, cell.learner, cell.method): cell for cell in cells if cell.sets}


def summarised(store: Store, command: str) -> dict[str, Any]:
    """All that a store has, rounded."""
    by_cell: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for run in store.runs.values():
        by_cell.setdefault((run["problem"], run["learner"], run["method"]), []).append(run)

    def place(cell: tuple[str, str, str]) -> tuple[int, str, int]:
        return list(PROBLEMS).index(cell[0]), cell[1], METHODS.index(cell[2])

    return {
        "command": command,
        "machine": machine(),
        "origin": store.origin,
        "cells": [summarised_cell(cell, by_cell[cell]) for cell in sorted(by_cell, key=place)],
        "courses": [summarised_course(c) for c in sorted(store.courses.values(), key=course_place)],
    }


def summarised_cell(cell: tuple[str, str, str], runs: list[dict[str, Any]]) -> dict[str, Any]:
    problem, learner, method = cell
    done = sorted((run for run in runs if "failure" not in run), key=lambda run: run["number"])
    refused = [run["failure"] for run in runs if "failure" in run]
    content: dict[str, Any] = {"problem": problem, "learner": learner, "method": method}
    content["failures"] = len(refused)
    if refused:
        content["failure"] = refused[0]
    content["set"] = [run["number"] for run in done]
    for name in PERCENT:
        values = [run[name] for run in done]
        if None not in values:
            content[name] = [round(100 * value, DIGITS) for value in values]
    content["seconds"] = [round(run["seconds"], DIGITS) for run in done]
    return content


def course_place(course: Mapping[str, Any]) -> tuple[str, int, float]:
    """Courses end in any order."""
    return course["learner"], METHODS.index(course["method"]), course["alpha"] or 0.0


def summarised_course(course: Mapping[str, Any]) -> dict[str, Any]:
    rounded = {
        name: [round(value, LOSS_DIGITS) for value in course[name]]
        for name in ("objective", "difference")
    }
    return dict(course) | rounded


def updated(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """`before` with the cells of `now` in place of the same ones; another build of bregboost, all
    else alike."""
    for name in ("machine", "origin"):
        mine, others = ({**part[name], "build": None} for part in (now, before))
        if mine != others:
            raise SystemExit(f"{name}: {mine}; allowed beside the results that are there: {others}")

    def place(cell: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(cell[name] for name in ("problem", "learner", "method"))

    fresh = {place(cell): cell for cell in now["cells"]}
    known = {place(cell): cell for cell in before["cells"]}
    for key, cell in fresh.items():
        if key not in known or known[key]["set"] != cell["set"]:
            raise SystemExit(f"cell: {key}; allowed: one of the results that are there, same sets")
    return {
        **before,
        "updated_by": now["command"],
        "cells": [fresh.get(key, cell) for key, cell in known.items()],
    }


def as_json(results: Mapping[str, Any]) -> str:
    """A line for every cell and course, so that changes can be read."""
    lines = []
    for name, value in results.items():
        if isinstance(value, list):
            entries = ",\n".join(f"  {json.dumps(entry)}" for entry in value)
            lines.append(f" {json.dumps(name)}: [\n{entries}\n ]")
        else:
            lines.append(f" {json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def as_text(results: Mapping[str, Any]) -> str:
    """For a terminal."""
    table = [["problem", "learner", "method", "sets", "refused", "accuracy", "measure", "seconds"]]
    for cell in cells_of(results).values():
        counts = [str(cell.sets), str(cell.failures)]
        numbers = [str(cell.mean(name)) for name in ("accuracy", "measure", "seconds")]
        table.append([cell.problem, cell.learner, cell.method, *counts, *numbers])
    widths = [max(len(row[j]) for row in table) for j in range(len(table[0]))]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )
