"""Training on a real cluster of processes."""

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bregboost import ConstrainedClassifier as OnOneMachine
from bregboost.dask import ConstrainedClassifier
from dask import array as da
from dask import dataframe as dd
from distributed import Client, LocalCluster
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression
from xgboost import XGBClassifier

from benchmarks.scale import agreement

ROWS = 6000


@contextlib.contextmanager
def cluster_of(workers: int) -> Iterator[Client]:
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster_of(2) as client:
        yield client


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {f"x{j}": random.integers(0, 64, size=ROWS).astype(float) for j in range(5)}
    )
    frame["city"] = random.choice(["north", "south", "west"], p=[0.5, 0.4, 0.1], size=ROWS)
    score = (frame["x0"] - frame["x1"]) / 16.0 + 0.8 * (frame["city"] == "south")
    frame["bought"] = np.where(score + random.logistic(size=ROWS) > 0.5, "yes", "no")
    return frame


def features(table: dd.DataFrame | pd.DataFrame) -> dd.DataFrame | pd.DataFrame:
    return table[[f"x{j}" for j in range(5)]]


def test_frames_with_groups(client: Client, table: pd.DataFrame) -> None:
    spread = dd.from_pandas(table, npartitions=5)
    model = ConstrainedClassifier(
        XGBClassifier(n_estimators=30, max_depth=3), ["fnr <= 25%", "gap(error, by=city) <= 15%"]
    )
    model.fit(features(spread), spread["bought"], sensitive_features=spread[["city"]])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model._unseen is None  # rows stay where they are
    with pytest.raises(TypeError, match="recalibrate: a model from a cluster; allowed: fit with"):
        model.recalibrate("fnr <= 10%")
    rows = model.report_.to_dict()["rows"]
    assert rows["training"] + rows["unseen"] == ROWS
    assert model.status_ == "satisfied"
    predicted = model.predict(features(spread)).compute()
    assert (predicted.to_numpy() == model.predict(features(table))).all()
    assert (predicted == table["bought"]).mean() > 0.75
    shares = model.predict_proba(features(spread)).compute()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    plain = model.estimator_.predict(features(table))
    assert (model.classes_[plain] == predicted.to_numpy()).all()


def test_arrays_weights_and_an_empty_partition(client: Client, table: pd.DataFrame) -> None:
    X = features(table).to_numpy()
    y = (table["bought"] == "yes").to_numpy().astype(int)
    chunks = (2500, 0, 3000, 500)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=ROWS)
    model = ConstrainedClassifier(XGBClassifier(n_estimators=20, max_depth=3), "fnr <= 20%")
    model.fit(
        da.from_array(X, chunks=(chunks, 5)),
        da.from_array(y, chunks=(chunks,)),
        da.from_array(weight, chunks=(chunks,)),
    )
    assert model.status_ == "satisfied"
    predicted = model.predict(da.from_array(X, chunks=(1000, 5)))
    missed = (predicted.compute() == 0)[y == 1]
    assert np.average(missed, weights=weight[y == 1]) < 0.25


def test_certificate_by_counts(client: Client, table: pd.DataFrame) -> None:
    spread = dd.from_pandas(table, npartitions=4)
    model = ConstrainedClassifier(
        XGBClassifier(n_estimators=20, max_depth=3), "fnr <= 30%", certify=0.3
    )
    model.fit(features(spread), spread["bought"])
    assert model.status_ == "certified"
    assert model.certificate_["fnr <= 30%"].rows == pytest.approx(
        0.3 * (table["bought"] == "yes").sum(), abs=3
    )


def test_own_rows(client: Client, table: pd.DataFrame) -> None:
    training, unseen = table[:4000], table[4000:]
    spread, other = dd.from_pandas(training, npartitions=3), dd.from_pandas(unseen, npartitions=2)
    model = ConstrainedClassifier(XGBClassifier(n_estimators=20, max_depth=3), "fnr <= 20%")
    model.fit(features(spread), spread["bought"], eval_set=(features(other), other["bought"]))
    assert model.report_.to_dict()["rows"] == {
        "training": 4000, "unseen": 2000, "certification": 0,
    }  # fmt: skip


def in_chunks(rows: int, columns: int = 5) -> Callable[[pd.DataFrame], da.Array]:
    return lambda table: da.from_array(features(table).to_numpy(), chunks=(rows, columns))


def in_one_partition(table: pd.DataFrame) -> tuple[dd.DataFrame, dd.Series]:
    spread = dd.from_pandas(table, npartitions=1)
    return features(spread), spread["bought"]


@pytest.mark.parametrize(
    ("field", "make", "message"),
    [
        ("y", np.asarray, "y: ndarray; allowed: a Dask DataFrame, Series or Array"),
        ("X", in_chunks(1500, columns=3),
         "X: 2 chunks of columns; allowed: 1 (rechunk first, X.rechunk({1: -1}))"),
        ("sample_weight", lambda table: da.ones(len(table), chunks=len(table)),
         "sample_weight: 1 partitions; allowed: 4, as of X"),
        ("eval_set", in_one_partition,
         "eval_X: 1 partitions; allowed: at least 2, one for each worker that trains (repartition"),
    ],
)  # fmt: skip
def test_bad_input(
    client: Client, table: pd.DataFrame, field: str, make: Callable[..., Any], message: str
) -> None:
    spread = dd.from_pandas(table, npartitions=4)
    given = {"X": features(spread), "y": spread["bought"]} | {field: make(table)}
    model = ConstrainedClassifier(XGBClassifier(n_estimators=5), "fnr <= 20%")
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}"):
        model.fit(**given)
    assert not hasattr(model, "estimator_")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": LogisticRegression()},
         "estimator: LogisticRegression; allowed on a cluster: those of LightGBM and XGBoost"),
        ({"deploy": "refit"}, "deploy: 'refit'; allowed on a cluster: 'fold_mean'"),
        ({"validation": "folds"}, "validation: 'folds'; allowed on a cluster: 'auto', 'holdout'"),
        ({"checkpoint_dir": "here"}, "checkpoint_dir: 'here'; allowed on a cluster: None"),
    ],
)  # fmt: skip
def test_what_is_for_one_machine(
    client: Client, table: pd.DataFrame, settings: dict[str, Any], message: str
) -> None:
    spread = dd.from_pandas(table, npartitions=4)
    model = ConstrainedClassifier(
        **{"estimator": "xgboost", "constraints": "fnr <= 20%"} | settings
    )
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(message)}$"):
        model.fit(features(spread), spread["bought"])


def test_lightgbm_holds_the_same_limits(client: Client, table: pd.DataFrame) -> None:
    spread = dd.from_pandas(table, npartitions=4)
    limits = ["fnr <= 25%", "gap(error, by=city) <= 15%"]
    estimator = LGBMClassifier(n_estimators=30, num_leaves=8, verbose=-1)
    model = ConstrainedClassifier(estimator, limits)
    model.fit(features(spread), spread["bought"], sensitive_features=spread[["city"]])
    assert model.status_ == "satisfied"
    assert model.estimator_.get_params() == estimator.get_params()  # nothing of the network
    alone = OnOneMachine(estimator, limits, validation="holdout")
    alone.fit(features(table), table["bought"], sensitive_features=table[["city"]])
    agreed = model.predict(features(spread)).compute().to_numpy() == alone.predict(features(table))
    assert agreed.mean() > 0.9


def check_trees_of_one_machine(table: pd.DataFrame, solver: str, limits: list[str]) -> None:
    """Of the cluster that is connected; one city is on one worker alone."""
    table = table.sort_values("city")
    spread = dd.from_pandas(table, npartitions=5, sort=False)
    estimator = XGBClassifier(n_estimators=15, max_depth=3, n_jobs=1)
    model = ConstrainedClassifier(estimator, limits, solver=solver)
    model.fit(features(spread), spread["bought"], sensitive_features=spread["city"])
    alone = OnOneMachine(estimator, limits, solver=solver)
    alone.fit(features(table), table["bought"], sensitive_features=table["city"])
    ours, theirs = (
        fitted.estimator_.get_booster().trees_to_dataframe() for fitted in (model, alone)
    )
    columns = ["Tree", "Node", "Feature", "Split"]
    pd.testing.assert_frame_equal(ours[columns], theirs[columns])
    np.testing.assert_allclose(model.multipliers_, alone.multipliers_, atol=1e-5, rtol=1e-5)


LIMITS_BY_CITY = ["fnr <= 15%", "gap(error, by=city) <= 5%"]


def test_the_papers_solver_grows_the_trees_of_one_machine(
    client: Client, table: pd.DataFrame
) -> None:
    check_trees_of_one_machine(table, "cbpr", LIMITS_BY_CITY)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_any_number_of_workers_grows_the_trees_of_one_machine(
    workers: int, table: pd.DataFrame
) -> None:
    with cluster_of(workers):
        check_trees_of_one_machine(table, "abpp", LIMITS_BY_CITY[:1])
        check_trees_of_one_machine(table, "cbpr", LIMITS_BY_CITY)


# On fewer rows they agree no better than two trainings on one machine do whose bins differ
# (docs/scale.md has the figures).
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("library", agreement.ESTIMATORS)
def test_continuous_features_give_the_same_rates(client: Client, library: str, seed: int) -> None:
    """The limited ones, on fresh rows, in points: features have more values than a sketch keeps."""
    found = agreement.differences(library, rows=400_000, seed=seed)
    assert np.abs(found["cluster"]).max() < 0.5
