"""Runs by key, in a file that is whole at any time. A run that is there is not run again."""

import json
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Beside, then renamed: readers see the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(path.suffix + ".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


class ResultsFile:
    def __init__(self, path: Path, program: str) -> None:
        """`program` says which build the runs are of: runs of others are not mixed with them."""
        self.path, self.program, self.runs = path, program, {}
        if not path.exists():
            return
        content = json.loads(path.read_text())
        if content["program"] != program:
            raise SystemExit(
                f"out: '{path}' has runs of another build of the program; allowed: a file of this "
                "build, or a new one"
            )
        self.runs: dict[str, dict] = content["runs"]

    def add(self, key: str, record: dict) -> None:
        self.runs[key] = record
        write_whole(self.path, json.dumps({"program": self.program, "runs": self.runs}, indent=1))
