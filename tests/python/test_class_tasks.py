"""Tasks of several classes, and what the comparison of few and all offsets counts."""

import lzma
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.common.class_tasks import CLASS_TASKS, ClassTask
from benchmarks.common.rows import Rows, Split
from benchmarks.limits.offsets import Judged, Pair, Scores, calibrated, judge, line

TASK = ClassTask("beasts", "kind", {1: 0.1, 2: 0.25}, "name")


def test_features_are_what_is_left(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "rownames": range(1, 9),
            "name": list("abcdefgh"),
            "kind": ["cat", "dog", "ant", "bat", None, "dog", "cat", "ant"],
            "legs": range(8),
        }
    )
    (tmp_path / "beasts.pkl.compress").write_bytes(lzma.compress(pickle.dumps(table)))
    split = TASK.split(tmp_path, seed=0)
    legs = np.concatenate([split.training.features, split.test.features])[:, 0]
    labels = np.concatenate([split.training.labels, split.test.labels])
    # Alphabetical: ant, bat, cat, dog.
    assert dict(zip(legs, labels, strict=True)) == {0: 2, 1: 3, 2: 0, 3: 1, 5: 3, 6: 2, 7: 0}
    assert len(split.training.labels) == 3


def test_limits_are_about_the_named_classes() -> None:
    assert [limit.text for limit in TASK.limits] == [
        "error(class=1) <= 10%",
        "error(class=2) <= 25%",
    ]
    assert all(len(task.limits) == 2 for task in CLASS_TASKS.values())


def test_offsets_decide_and_violations_add_up() -> None:
    scores = np.array([[2.0, 1.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.5, 2.0], [0.0, 3.0, 2.0]])
    labels = np.array([0, 1, 2, 2])
    plain = judge(TASK, scores, labels, np.zeros(3))
    assert plain.accuracy == 0.5
    assert plain.violation == pytest.approx(0.9 + 0.25)
    moved = judge(TASK, scores, labels, np.array([0.0, 1.5, 3.0]))
    assert moved.accuracy == 0.5  # the third and the last
    assert moved.violation == pytest.approx(0.9)
    assert moved.loss(2.0) == pytest.approx(0.5 + 1.8)


def test_all_offsets_fit_their_own_rows_best() -> None:
    random = np.random.default_rng(5)
    labels = random.integers(4, size=600)
    scores = random.normal(size=(600, 4))
    scores[np.arange(600), labels] += 1.0
    scores[:, 3] += 0.5
    halves = [Rows(scores[part], labels[part]) for part in (slice(300), slice(300, 600))]
    pair = calibrated(
        TASK, Split(*halves), Scores(*(half.features for half in halves)), rho=5.0, seed=0
    )
    of_all, few = pair.unseen
    assert (
        of_all.loss(5.0)
        <= few.loss(5.0)
        < judge(TASK, halves[0].features, halves[0].labels, np.zeros(4)).loss(5.0)
    )
    assert pair.test[0] != pair.test[1]


def test_means_are_over_data_sets() -> None:
    def pair(all_offsets: tuple[float, float], few: tuple[float, float]) -> Pair:
        judged = Judged(*all_offsets), Judged(*few)
        return Pair(unseen=judged, test=judged)

    first = [pair((0.8, 0.0), (0.7, 0.0)), pair((0.6, 0.0), (0.6, 0.0))]
    second = [pair((0.5, 0.02), (0.5, 0.0))]
    assert line(5.0, "lightgbm", [first, second]) == [
        "5",
        "lightgbm",
        "60.00",  # of 70 and 50
        "57.50",
        "1.00",
        "0.00",
        "-2.50 ± 7.50",  # of 5 and -10
        "-2.50 ± 7.50",
        "1 of 2",
    ]
