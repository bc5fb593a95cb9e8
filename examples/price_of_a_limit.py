"""A tumour classifier that should not miss malignant cases: a plain linear model, and the same
model under limits on its miss rate. `make figures` draws what it finds.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

BUILD = Path(__file__).resolve().parents[1] / os.environ.get("BREGBOOST_BUILD_DIR", "build/release")
PROGRAM = BUILD / "examples" / "constrained_linear"
LIMITS = [None, "fnr <= 5%", "fnr <= 2%", "fnr <= 1%"]

NOTES = """
fnr is the miss rate: malignant cases called benign. A false alarm is the reverse.
In training each miss is replaced by a smooth loss that is never smaller, so the training miss rate
ends well below its limit, and costs more false alarms than it had to.
The limit is on the training rows only. Where the unseen miss rate is above it, the model does not
keep it on new cases; with {malignant} malignant ones among them, one case is {step:.1f} points.
The price is the limit's multiplier: making the limit one point stricter raises what is minimised,
mean loss plus penalty, by about price / 100. The stricter the limit, the higher its price.
"""


def load() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Half of the rows to train on and half to judge by, in units of the training half."""
    data = load_breast_cancer(as_frame=True)
    diagnosis = pd.Series(data.target_names[data.target], name="diagnosis")
    x, x_test, y, y_test = train_test_split(
        data.data, diagnosis, test_size=0.5, stratify=diagnosis, random_state=0
    )
    scaled = [(part - x.mean()) / x.std() for part in (x, x_test)]
    return scaled[0].join(y), scaled[1].join(y_test)


def train(table: pd.DataFrame, limit: str | None) -> dict:
    """Minimises the mean cross-entropy with a small penalty, under the limit if there is one."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "train.csv"), Path(folder, "model.json")
        table.to_csv(data, index=False)
        command = [PROGRAM, "--data", data, "--out", out, "--l2", "0.01"]
        command += ["--label", "diagnosis", "--positive", "malignant"]
        command += ["--surrogate", "logistic_base2"]
        command += ["--constraint", limit] if limit else []
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())


def rates(model: dict, table: pd.DataFrame) -> list[float]:
    """Miss rate, false alarm rate and accuracy, in percent. Scores are log-odds of malignant."""
    scores = table[model["features"]].to_numpy() @ model["coefficients"] + model["intercept"][0]
    alarm = scores > 0
    malignant = (table["diagnosis"] == "malignant").to_numpy()
    events = ~alarm[malignant], alarm[~malignant], alarm == malignant
    return [100 * np.mean(event) for event in events]


def main() -> None:
    if not PROGRAM.is_file():
        sys.exit(f"no program {PROGRAM}: run `make figures`, which builds it")
    rows, unseen = load()
    print(
        f"Breast cancer: {len(rows)} rows to train on, {len(unseen)} held out. Rates in percent.\n"
    )
    pair = f"{'train':>7} {'unseen':>6}"
    print(f"{'':<12} {'miss rate':>14}  {'false alarms':>14}  {'accuracy':>14}  {'price':>6}")
    print(f"{'limit':<12} {pair}  {pair}  {pair}")
    for limit in LIMITS:
        model = train(rows, limit)
        if model["reason"] != "converged":
            sys.exit(f"'{limit}' ended with '{model['reason']}'")
        pairs = zip(rates(model, rows), rates(model, unseen), strict=True)
        cells = "  ".join(f"{seen:7.1f} {new:6.1f}" for seen, new in pairs)
        price = f"{model['multipliers'][0]:6.2f}" if limit else f"{'-':>6}"
        print(f"{limit or 'none':<12} {cells}  {price}")
    malignant = int((unseen["diagnosis"] == "malignant").sum())
    print(NOTES.format(malignant=malignant, step=100 / malignant), end="")


if __name__ == "__main__":
    main()
