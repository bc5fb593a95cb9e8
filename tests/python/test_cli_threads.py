"""`--threads` is how many there are at most, in all that the program does."""

import os
import subprocess

import pytest
from cli_program import ENVIRONMENT, Program, make_table

LINEAR = ["--learner", "linear", "--drop", "city", "--drop", "income", "--drop", "group"]
FOLDS = 5  # have a thread each, and a team of its own while they are made; they take turns
ONE_OPENMP = pytest.mark.not_sanitized("Clang's OpenMP has threads beside those of GCC's")


def most_threads(cli: Program, *arguments: str) -> int:
    """Of a training, on a machine that would have four. OpenMP's stay until the end."""
    cli.write("rows.csv", make_table(20_000))
    training = ["train", "--data", "rows.csv", "--label", "label", "--out", "run", "--quiet"]
    training += ["--group", "group", "--constraint", "gap(error, by=group) <= 5%", *arguments]
    process = subprocess.Popen(
        [cli.path, *training],
        cwd=cli.folder,
        env={**ENVIRONMENT, "OMP_NUM_THREADS": "4"},
        stdout=subprocess.DEVNULL,
    )
    most = 0
    while process.poll() is None:
        most = max(most, len(os.listdir(f"/proc/{process.pid}/task")))
    assert process.returncode == 0
    return most


def test_there_are_several_threads(cli):
    assert most_threads(cli, *LINEAR) >= 4


def test_a_linear_training_on_one_thread(cli):
    assert most_threads(cli, *LINEAR, "--threads", "1") == 1


@pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=ONE_OPENMP)])
def test_trees_on_few_threads(cli, learner, threads):
    limit = ["--threads", str(threads), "--rounds", "5", "--no-compare"]
    assert most_threads(cli, "--learner", learner, *limit) <= threads * (1 + FOLDS)
