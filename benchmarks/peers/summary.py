"""Runs to the small file that the page is made from, and to a table for other programs."""

import csv
import io
import os
import platform
from collections.abc import Iterable
from importlib import metadata

from benchmarks.common.machine import processor
from benchmarks.common.rate_limits import are_class_bounds
from benchmarks.peers.methods import METHODS
from benchmarks.peers.runs import PEER_TASKS

DIGITS = 5
PACKAGES = ("bregboost", "lightgbm", "xgboost-cpu", "scikit-learn", "numpy")
BY_SEED = ("accuracy", "violation", "measure", "noise_floor", "seconds", "plain_seconds")


def as_csv(records: Iterable[dict]) -> str:
    """One line per run; lists are separated by spaces."""
    flat = [
        {
            name: " ".join("" if part is None else repr(part) for part in value)
            if isinstance(value, list)
            else value
            for name, value in record.items()
        }
        for record in records
    ]
    names = list(dict.fromkeys(name for record in flat for name in record))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return text.getvalue()


def rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, DIGITS)
    return [rounded(part) for part in value] if isinstance(value, list) else value


def cells(records: Iterable[dict]) -> list[dict]:
    """Runs that differ in their seeds alone, as lists by seed."""
    by_cell: dict[tuple, list[dict]] = {}
    for record in records:
        key = tuple(record[name] for name in ("task", "method", "learner", "setting"))
        by_cell.setdefault(key, []).append(record)
    return [cell(sorted(runs, key=lambda run: run["seed"])) for runs in by_cell.values()]


def cell(runs: list[dict]) -> dict:
    names = {name: runs[0][name] for name in ("task", "method", "learner", "setting")}
    failures = [run["failure"] for run in runs if "failure" in run]
    done = [run for run in runs if "failure" not in run]
    lists = {
        name: [rounded(run[name]) for run in done] for name in ("seed", *BY_SEED, "values", "held")
    }
    lists["seeds"] = lists.pop("seed")
    return names | lists | ({"failure": failures[0]} if failures else {})


def as_document(records: Iterable[dict], command: str, threads: int) -> dict:
    records = list(records)
    used = {record["method"] for record in records}
    return {
        "about": {
            "command": command,
            "machine": f"{processor()}, {os.cpu_count()} cores",
            "threads": threads,
            "python": platform.python_version(),
            "versions": {name: metadata.version(name) for name in PACKAGES},
        },
        "tasks": {
            name: {
                "title": task.title,
                "limits": [limit.text for limit in task.limits],
                "by_group": not are_class_bounds(task.limits),
                "measure": task.measure,
                "bound": task.limits[0].bound if len(task.limits) == 1 else task.bound,
            }
            for name, task in PEER_TASKS.items()
        },
        "methods": {
            name: {
                "title": method.title,
                "deterministic": method.deterministic,
                "group_at_prediction": method.group_at_prediction,
                "version": method.package_version(),
            }
            for name, method in METHODS.items()
            if name in used
        },
        "cells": cells(records),
    }


def updated(before: dict, now: dict) -> dict:
    """`before` with the cells of `now` in place of the same ones: other packages do not change with
    ours. Both are of one set of versions and the same seeds. The machines may differ: every cell
    has its own plain training beside it, and shows its time as a ratio to that."""
    for name in ("threads", "python", "versions"):
        if before["about"][name] != now["about"][name]:
            raise ValueError(
                f"{name}: {now['about'][name]}; allowed beside the results that are there: "
                f"{before['about'][name]}"
            )
    if before["tasks"] != now["tasks"]:
        raise ValueError("tasks: not those of the results that are there; allowed: the same")

    def places(document: dict) -> dict[tuple, list[int]]:
        names = ("task", "method", "learner", "setting")
        return {tuple(cell[name] for name in names): cell["seeds"] for cell in document["cells"]}

    new, old = places(now), places(before)
    known = sum(old.get(key) == seeds for key, seeds in new.items())
    if known < max(len(new), 1):
        raise ValueError(
            f"runs: {len(new)} cells, {known} of them with the same seeds as before; allowed: one "
            "or more, all of them there"
        )
    fresh = dict(zip(new, now["cells"], strict=True))
    cells_by_place = zip(old, before["cells"], strict=True)
    update = {name: now["about"][name] for name in ("command", "machine")}
    about = before["about"] | {"updates": [*before["about"].get("updates", []), update]}
    return before | {
        "about": about,
        "methods": before["methods"] | now["methods"],
        "cells": [fresh.get(key, cell) for key, cell in cells_by_place],
    }
