"""Results of a benchmark in a file that is whole at any time.

What is there is not run again; what another build made, or other ranges of hyper-parameters, is not
mixed in.
"""

import csv
import hashlib
import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import xgboost
from bregboost import _core

from benchmarks.common.machine import processor
from benchmarks.common.results_file import write_whole
from benchmarks.paper.parameters import RANGES, SEED


def origin() -> dict[str, str]:
    """What results of one file have in common."""
    build = Path(_core.__file__).read_bytes()
    return {
        "bregboost": version("bregboost"),
        "build": hashlib.sha256(build).hexdigest()[:12],
        "lightgbm": version("lightgbm"),
        "xgboost": xgboost.__version__,  # whose package may be called xgboost-cpu
        "seed": str(SEED),
        "ranges": "; ".join(f"{name} {values}" for name, values in RANGES.items()),
    }


def machine() -> dict[str, Any]:
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.system(),
    }


class Store:
    """Records by key, in two kinds: `runs` and `courses`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.origin = origin()
        self.runs: dict[str, dict[str, Any]] = {}
        self.courses: dict[str, dict[str, Any]] = {}
        if not path.exists():
            return
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["origin"] != self.origin:
            raise SystemExit(
                f"out: '{path}' has results of {content['origin']}; allowed: those of "
                f"{self.origin}, or a new file"
            )
        self.runs, self.courses = content["runs"], content["courses"]

    def add_run(self, key: str, record: Mapping[str, Any]) -> None:
        self.runs[key] = dict(record)
        self._save()

    def add_course(self, key: str, record: Mapping[str, Any]) -> None:
        self.courses[key] = dict(record)
        self._save()

    def write_csv(self, path: Path) -> None:
        """The runs as a table; columns that a run lacks stay empty."""
        columns = list(dict.fromkeys(name for run in self.runs.values() for name in run))
        beside = path.with_name(path.name + ".part")
        with beside.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(self.runs.values())
        beside.replace(path)

    def _save(self) -> None:
        content = {"origin": self.origin, "runs": self.runs, "courses": self.courses}
        write_whole(self.path, json.dumps(content, indent=1))
