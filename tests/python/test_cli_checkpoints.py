"""Trainings of the command line that are killed at any moment, and taken up again."""

import random
import subprocess
import time

import pytest
from cli_program import ENVIRONMENT, Program, make_table

LEARNERS = pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])
CHECKPOINT = "checkpoints/training.checkpoint"
MODELS = {"lightgbm": "model.txt", "xgboost": "model.ubj"}


def arguments(learner: str, *more: str) -> list[str]:
    return [
        "train", "--data", "rows.csv", "--label", "label", "--positive", "good", "--group",
        "group", "--learner", learner, "--constraint", "gap(selection_rate, by=group) <= 5%",
        "--rounds", "60", "--quiet", "--no-compare", "--force",
        "--checkpoint-dir", "checkpoints", "--checkpoint-every", "10", *more,
    ]  # fmt: skip


def prepare(program: Program, learner: str) -> tuple[bytes, float]:
    """The model of a training that is not killed, and how long it took."""
    program.write("rows.csv", make_table(600))
    start = time.monotonic()
    program.ok(*arguments(learner, "--out", "whole"))
    seconds = time.monotonic() - start
    (program.folder / CHECKPOINT).unlink()
    return (program.folder / "whole" / MODELS[learner]).read_bytes(), seconds


def train_and_kill(program: Program, learner: str, after: float) -> bool:
    """True if the training was done before it was killed."""
    process = subprocess.Popen(
        [program.path, *arguments(learner, "--out", "run", "--resume")],
        cwd=program.folder,
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.kill()
    _, errors = process.communicate()
    assert process.returncode in (0, -9), errors
    return process.returncode == 0


@LEARNERS
def test_killed_trainings_end_with_the_same_model(learner, cli):
    expected, seconds = prepare(cli, learner)
    draw = random.Random(learner)
    for _ in range(3):
        done = False
        for _ in range(4):
            done = done or train_and_kill(cli, learner, draw.uniform(0.0, seconds))
        if not done:
            cli.ok(*arguments(learner, "--out", "run", "--resume"))
        assert (cli.folder / "run" / MODELS[learner]).read_bytes() == expected
        (cli.folder / CHECKPOINT).unlink()


def test_resume_needs_no_checkpoint(cli):
    expected, _ = prepare(cli, "lightgbm")
    cli.ok(*arguments("lightgbm", "--out", "run", "--resume"))
    assert (cli.folder / "run" / "model.txt").read_bytes() == expected


def failure(program: Program, *flags: str) -> tuple[int, str]:
    done = program.run(*flags)
    return done.returncode, done.stderr.strip()


def test_other_trainings_and_damage_are_refused_by_name(cli):
    prepare(cli, "lightgbm")
    whole = arguments("lightgbm", "--out", "run", "--resume")
    cli.ok(*whole)
    code, text = failure(cli, *whole, "--rho", "3")
    assert code == 3
    assert text.startswith(f"bregboost: checkpoint '{CHECKPOINT}': of a training with another list")
    table = make_table(600)
    table.loc[5, "age"] += 1
    cli.write("rows.csv", table)
    code, text = failure(cli, *whole)
    assert (code, "another set of features" in text) == (3, True)
    file = cli.folder / CHECKPOINT
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    code, text = failure(cli, *whole)
    expected = f"bregboost: checkpoint '{CHECKPOINT}': is damaged: the checksum is another"
    assert (code, text) == (3, expected)


def test_a_full_disk_is_named_and_the_last_checkpoint_stays(cli):
    prepare(cli, "lightgbm")
    whole = arguments("lightgbm", "--out", "run")
    cli.ok(*whole)
    before = (cli.folder / CHECKPOINT).read_bytes()
    # A limit on the size of files stands for a disk without room.
    limited = f"ulimit -f 16; exec '{cli.path}' \"$@\""
    done = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; {limited}", "bregboost", *whole],
        cwd=cli.folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 5
    expected = f"bregboost: checkpoint '{CHECKPOINT}': cannot be written: File too large"
    assert done.stderr.strip() == expected
    assert (cli.folder / CHECKPOINT).read_bytes() == before
    assert [file.name for file in (cli.folder / "checkpoints").iterdir()] == ["training.checkpoint"]


def test_flags_are_checked(cli):
    cli.write("rows.csv", make_table(600))
    base = ["train", "--data", "rows.csv", "--label", "label", "--out", "run"]
    code, text = failure(cli, *base, "--resume")
    assert (code, text) == (
        2, "bregboost: resume: true; allowed without a checkpoint directory: false",
    )  # fmt: skip
    numbers = ["--group", "group", "--drop", "city", "--drop", "income", "--learner", "linear"]
    code, text = failure(cli, *base, *numbers, "--checkpoint-dir", "folder")
    assert (code, "allowed for linear models" in text) == (2, True)
