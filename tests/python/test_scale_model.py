"""The model of what a cluster costs, against the code that it counts."""

import json

import numpy as np
import pytest
import xgboost
from bregboost import _core, as_constraints
from bregboost._backends import backend_for

from benchmarks.common.arguments import ROOT
from benchmarks.common.markdown import marks, with_part
from benchmarks.scale import cluster, model
from benchmarks.scale.model import Training

PAGE = ROOT / "docs" / "scale.md"
ROUNDS = 40


def test_page_shows_what_the_model_prints() -> None:
    text = PAGE.read_text()
    assert with_part(text, model.PART, model.render()) == text


def test_page_states_the_measured_rates() -> None:
    text = " ".join(PAGE.read_text().split())
    for engine, phrase in (
        ("xgboost", "XGBoost at depth 6 takes {:g} ns per row and round alone and {:g} ns under"),
        ("lightgbm", "LightGBM with 31 leaves {:g} and {:g} ("),
    ):
        assert phrase.format(model.ALONE[engine], model.UNDER_LIMITS[engine]) in text


def test_page_shows_what_the_benchmark_measured() -> None:
    file = ROOT / "benchmarks" / "results" / "cluster.json"
    text = PAGE.read_text()
    assert cluster.PART in text
    if file.is_file():
        assert with_part(text, cluster.PART, cluster.render(json.loads(file.read_text()))) == text


def test_table_of_the_benchmark() -> None:
    results = {
        "about": {
            "rows": 2_000_000, "features": 20, "rounds": 100, "repeats": 3,
            "machine": "a machine", "cores": 2,
        },
        "cells": [
            {"workers": workers, "learner": "xgboost", "way": way, "seconds": seconds}
            for workers, way, seconds in (
                (1, "alone", [2.0, 2.0, 4.0]),
                (1, "auto", [3.0, 2.0, 4.0]),
                (2, "alone", [1.0, 1.0, 1.0]),
                (2, "auto", [1.2, 1.1, 1.3]),
            )
        ],
    }  # fmt: skip
    text = cluster.render(results)
    assert "2,000,000 x 20 generated rows, 100 rounds" in text
    assert "|  |  | 1 worker | 2 workers |" in text
    assert "| XGBoost | alone | 2.0 s | 1.0 s |" in text
    assert "| 3.0 s, 1.00 (1.00 to 1.50) | 1.2 s, 1.20 (1.10 to 1.30) |" in text


def test_part_between_marks() -> None:
    begins, ends = marks("x")
    assert with_part(f"a {begins} old {ends} b", "x", "new") == f"a {begins}\n\nnew\n\n{ends} b"
    with pytest.raises(ValueError, match="page: no '<!-- x: begins -->'"):
        with_part("no marks", "x", "new")


def sums_of_a_training(groups: int, limits: list[str], rounds: int = ROUNDS) -> list[int]:
    """How many numbers workers add up in each message."""
    counts: list[int] = []

    def counted(values: np.ndarray) -> np.ndarray:
        counts.append(len(values))
        return values

    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 3))
    y = (X[:, 0] + random.logistic(size=4000) > 0).astype(np.int32)
    group = random.integers(groups, size=4000).astype(np.int32)
    backend = backend_for(
        xgboost.XGBClassifier(n_estimators=rounds, max_depth=2, n_jobs=1), "classification"
    )
    data = backend.make_data(X)
    workers = _core.Workers.from_functions(
        rank=0, size=1, sum=counted, maximum=counted, gather=lambda mine: [mine]
    )
    rows = _core.RowData(
        codes=y,
        classes=["0", "1"],
        groups=[("group", [str(level) for level in range(groups)], group)],
        workers=workers,
    )
    features = _core.XgboostDataset(data.keep, data.handle, backend.library())
    options = _core.FitOptions()
    options.validation = "hold_out"
    boosting = _core.BoostedOptions(backend.parameters(data.columns), model.ROUNDS_PER_STEP)
    _core.fit_xgboost(features, rows, as_constraints(limits), boosting, options)
    return counts


def occurrences(counts: list[int], pattern: list[int]) -> int:
    """In a row, whichever of them comes first."""
    turns = [pattern[turn:] + pattern[:turn] for turn in range(len(pattern))]
    windows = [counts[at : at + len(pattern)] for at in range(len(counts) - len(pattern) + 1)]
    return max(sum(window == turn for window in windows) for turn in turns)


@pytest.mark.parametrize("groups", [2, 20])
def test_messages_of_a_step(groups: int) -> None:
    limits = ["fnr <= 20%", "gap(error, by=group) <= 20%"]
    once, twice = (sums_of_a_training(groups, limits, rounds) for rounds in (ROUNDS, 2 * ROUNDS))
    training = Training(groups=groups)
    steps = ROUNDS / model.ROUNDS_PER_STEP

    def added(judged: bool) -> int:
        """By the steps that the longer training has more, so that what happens once is out."""
        pattern = model.step_sums(training, judged)
        return occurrences(twice, pattern) - occurrences(once, pattern)

    assert added(judged=True) == pytest.approx(model.SHARE_JUDGED * steps, abs=1)
    assert added(judged=False) == steps  # in every step, judged or not
    judging = len(model.step_sums(training, True)) - len(model.step_sums(training, False))
    messages = len(model.step_sums(training, False)) * steps + judging * added(judged=True)
    assert len(twice) - len(once) == messages
    assert len(once) < model.FIRST_SUMS + 6 * steps


def test_more_limits_send_no_more() -> None:
    few = ["gap(error, by=group) <= 20%"]
    many = [*few, "fnr <= 30%", "fpr <= 60%", "gap(fnr, by=group) <= 50%"]
    assert sums_of_a_training(2, many) == sums_of_a_training(2, few)


@pytest.mark.parametrize("engine", ["xgboost", "lightgbm"])
def test_one_worker_sends_nothing(engine: str) -> None:
    alone = Training(engine=engine, workers=1)
    assert model.engine_network(alone) == (0.0, 0.0)
    assert model.own_network(alone) == (0.0, 0.0)
