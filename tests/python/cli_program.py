"""The program `bregboost`, run in a folder of its own, and tables for it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROUNDS = ["--rounds", "20"]
# The libraries that these tests run with.
ENVIRONMENT = {**os.environ, "VIRTUAL_ENV": sys.prefix, "OMP_WAIT_POLICY": "passive"}


class Program:
    """Runs `bregboost` in a folder of its own."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        self.folder = folder

    def run(self, *arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
        environment = {**ENVIRONMENT, **settings.pop("env", {})}
        return subprocess.run(
            [self.path, *map(str, arguments)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            env=environment,
            timeout=120,
            **settings,
        )

    def ok(self, *arguments: str, **settings: Any) -> str:
        """What it prints, where it must succeed."""
        done = self.run(*arguments, **settings)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.ok(*arguments, "--json", "--quiet"))

    def train(self, *arguments: str, out: str = "run", data: str = "rows.csv") -> dict:
        """bregboost.json of a training of 20 rounds."""
        rounds = [] if "linear" in arguments else ROUNDS
        self.ok("train", "--data", data, "--label", "label", "--out", out, *rounds, *arguments)
        return json.loads((self.folder / out / "bregboost.json").read_text())

    def write(self, name: str, table: pd.DataFrame) -> None:
        table.to_csv(self.folder / name, index=False)


def make_table(rows: int = 1500, seed: int = 0) -> pd.DataFrame:
    """Texts, numbers and gaps; labels depend on them and on the group."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, rows),
            "income": np.round(rng.lognormal(3, 0.6, rows), 2),
            "city": rng.choice(["Oslo", "Rome, Italy", 'the "Hague"', "Łódź"], rows),
            "group": rng.choice(["a", "b"], rows, p=[0.6, 0.4]),
        }
    )
    score = 0.04 * (table["age"] - 50) + 0.03 * table["income"] + 0.8 * (table["city"] == "Oslo")
    score += 0.5 * (table["group"] == "a") + rng.logistic(size=rows) - 0.9
    table["label"] = np.where(score > 0, "good", "bad")
    table.loc[rng.random(rows) < 0.05, "income"] = np.nan
    return table
