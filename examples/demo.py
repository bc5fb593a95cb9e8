"""Two models under limits from the command line: tumours that must not be missed, and two groups
whose error rates must not drift apart. `make demo` builds the program and runs this.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / os.environ.get("BREGBOOST_BUILD_DIR", "build/release") / "bregboost"
FOLDER = ROOT / "build" / "demo"


def breast_cancer() -> pd.DataFrame:
    """569 tumours, 212 of them malignant; part of scikit-learn, so nothing is downloaded."""
    data = load_breast_cancer(as_frame=True)
    return data.data.assign(diagnosis=data.target_names[data.target])


def two_groups(rows: int = 4000) -> pd.DataFrame:
    """Applicants of two groups, whose past decisions are noisier in one of them: a model that is
    free makes more errors there. The way to work tells the groups apart, more or less."""
    rng = np.random.default_rng(0)
    skill, experience, way = rng.normal(size=(3, rows))
    group = rng.choice(["north", "south"], rows, p=[0.6, 0.4])
    way += np.where(group == "south", 1.5, -1.5)
    noise = np.where(group == "south", 0.9, 0.5) * rng.logistic(size=rows)
    hired = skill + 0.6 * experience + noise > 0.3
    table = pd.DataFrame({"skill": skill, "experience": experience, "way_to_work": way})
    return table.assign(group=group, hired=np.where(hired, "yes", "no"))


def train(name: str, table: pd.DataFrame, *flags: str) -> None:
    """Runs the program as anybody would, and shows how."""
    data, out = FOLDER / f"{name}.csv", FOLDER / name
    table.to_csv(data, index=False)
    command = ["train", "--data", data, *flags, "--out", out, "--force", "--quiet"]
    shown = [part.relative_to(ROOT) if isinstance(part, Path) else part for part in command]
    print(f"$ bregboost {shlex.join(map(str, shown))}\n", flush=True)
    subprocess.run([PROGRAM, *command], check=True)
    print(f"Report: {out / 'report.html'}\n", flush=True)


def main() -> None:
    if not PROGRAM.is_file():
        sys.exit(f"no program {PROGRAM}: run `make demo`, which builds it")
    FOLDER.mkdir(parents=True, exist_ok=True)
    print("Of the malignant tumours at least 98% must be found.\n")
    train(
        "tumours", breast_cancer(), "--label", "diagnosis", "--positive", "malignant",
        "--constraint", "tpr >= 98%",
    )  # fmt: skip
    print("Error rates of the groups may differ by 5 points, and the group is no feature.\n")
    train(
        "applicants", two_groups(), "--label", "hired", "--positive", "yes", "--group", "group",
        "--constraint", "gap(error, by=group) <= 5%",
    )  # fmt: skip


if __name__ == "__main__":
    main()
