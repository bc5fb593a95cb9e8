"""Workers that die or fail in the middle of a training on a real cluster."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bregboost import _cluster, dask
from bregboost._cluster import Cluster, Trouble
from bregboost._errors import PeerError
from bregboost.dask import ConstrainedClassifier
from dask import array as da
from dask import config
from distributed import Client, LocalCluster, Worker
from distributed.scheduler import KilledWorker
from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

ROWS = 4000
SOON = 30  # seconds
ENGINES = ["lightgbm", "xgboost"]

# Calls of a worker that come before the rounds, and those of a round, at most.
CALLS_BEFORE, CALLS_OF_A_ROUND = 40, 3


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    # A worker that is killed comes back. Dask would give it up if there is none some seconds later,
    # be it that the one which came back has been killed just then.
    with (
        config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        client.run(import_all)
        yield client


def import_all() -> None:
    """What takes a worker many seconds on a busy machine, and is not what is timed."""
    for engine in ENGINES:
        estimator(engine, rounds=1).fit(np.array([[0.0], [1.0]]), [0, 1])


def estimator(engine: str, rounds: int) -> LGBMClassifier | XGBClassifier:
    if engine == "lightgbm":
        return LGBMClassifier(n_estimators=rounds, num_leaves=8, verbose=-1)
    return XGBClassifier(n_estimators=rounds, max_depth=3)


def make_rows() -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, 4))
    return {"X": X, "y": (X[:, 0] + random.logistic(size=ROWS) > 0).astype(int)}


def spread(**columns: np.ndarray) -> dict[str, da.Array]:
    """In four partitions, two for each worker."""
    parts = {}
    for name, values in columns.items():
        parts[name] = da.from_array(values, chunks=(len(values) // 4, *values.shape[1:]))
    return parts


def addresses(client: Client) -> list[str]:
    return sorted(client.nthreads())


def check_that_the_cluster_still_trains(client: Client, engine: str) -> None:
    client.wait_for_workers(2, timeout=60)
    client.run(import_all)
    model = ConstrainedClassifier(estimator(engine, rounds=10), "fnr <= 30%")
    begin = time.monotonic()
    assert model.fit(**spread(**make_rows())).status_ == "satisfied"
    assert time.monotonic() - begin < SOON


def kill_at_call(number: int, note: Path) -> None:
    """Once, some milliseconds after this worker has asked the others for something that often."""
    calls = 0
    cancellation = dask.cancellation

    def kill() -> None:
        note.write_text(str(time.time()))
        os.kill(os.getpid(), signal.SIGKILL)

    def counting(worker: Worker) -> Callable[[], None]:
        check = cancellation(worker)

        def count() -> None:
            nonlocal calls
            calls += 1
            if calls == number:
                threading.Timer(0.02, kill).start()
            check()

        return count

    dask.cancellation = counting


@pytest.mark.parametrize("engine", ENGINES)
def test_a_worker_killed_in_round_20(client: Client, engine: str, tmp_path: Path) -> None:
    killed, note = addresses(client)[0], tmp_path / "killed"
    client.run(kill_at_call, CALLS_BEFORE + 20 * CALLS_OF_A_ROUND, note, workers=[killed])
    model = ConstrainedClassifier(estimator(engine, rounds=5000), "fnr <= 20%")
    with pytest.raises(RuntimeError, match=f"workers: {killed} lost while training"):
        model.fit(**spread(**make_rows()))
    assert time.time() - float(note.read_text()) < SOON
    assert not hasattr(model, "estimator_")
    check_that_the_cluster_still_trains(client, engine)


def bad_weight() -> tuple[dict[str, Any], str]:
    weight = np.ones(ROWS)
    weight[-1] = -1.0
    return spread(**make_rows(), sample_weight=weight), "sample_weight: -1.0 in row"


def bad_evaluation_label() -> tuple[dict[str, Any], str]:
    rows = spread(**make_rows())
    labels = make_rows()["y"]
    labels[-1] = 7
    evaluation = spread(X=make_rows()["X"], y=labels)
    return rows | {"eval_set": (evaluation["X"], evaluation["y"])}, "eval_set: class '7'; allowed:"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bad", [bad_weight, bad_evaluation_label])
def test_an_error_on_one_worker(
    client: Client, engine: str, bad: Callable[[], tuple[dict[str, Any], str]]
) -> None:
    rows, message = bad()
    model = ConstrainedClassifier(estimator(engine, rounds=100), "fnr <= 20%")
    begin = time.monotonic()
    with pytest.raises(ValueError, match=message) as raised:
        model.fit(**rows)
    assert time.monotonic() - begin < SOON
    assert sum(f"(on worker {address})" in str(raised.value) for address in addresses(client)) == 1
    assert not hasattr(model, "estimator_")
    check_that_the_cluster_still_trains(client, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_workers_stop_when_the_caller_does(
    client: Client, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: Cluster, futures: Mapping[str, Any]) -> None:
        time.sleep(1.0)
        raise KeyboardInterrupt

    rows = spread(**make_rows())
    model = ConstrainedClassifier(estimator(engine, rounds=100_000), "fnr <= 20%")
    wait = Cluster._wait
    monkeypatch.setattr(
        Cluster, "_wait", lambda *given: (wait if is_short(given[1]) else interrupted)(*given)
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(**rows)
    monkeypatch.undo()
    check_that_the_cluster_still_trains(client, engine)


def is_short(futures: Mapping[str, Any]) -> bool:
    """The search of free ports, before the training."""
    return all("free_ports" in future.key for future in futures.values())


def failed(error: BaseException) -> SimpleNamespace:
    return SimpleNamespace(status="error", exception=lambda: error)


RUNNING = SimpleNamespace(status="pending")


def test_own_errors_come_before_those_of_connections() -> None:
    trouble = Trouble()
    assert not trouble
    futures = {"a": failed(PeerError("broke")), "b": RUNNING}
    trouble.note(futures, lost=())
    assert trouble
    assert not trouble.has_cause()
    assert str(trouble.error()) == "broke (on worker a)"
    trouble.note(futures | {"b": failed(ValueError("bad row"))}, lost=())
    assert trouble.has_cause()
    assert isinstance(trouble.error(), ValueError)
    assert str(trouble.error()).startswith("bad row (on worker b)")


def test_the_first_lost_worker_is_the_cause() -> None:
    trouble = Trouble()
    trouble.note({"a": RUNNING, "b": RUNNING, "c": failed(PeerError("broke"))}, lost={"b"})
    trouble.note({"a": RUNNING, "b": RUNNING, "c": failed(PeerError("broke"))}, lost={"a", "b"})
    assert "workers: b lost while training" in str(trouble.error())


def test_an_error_of_all_workers_names_none() -> None:
    trouble = Trouble()
    trouble.note({"a": failed(ValueError("bad limit")), "b": failed(ValueError("bad limit"))}, ())
    assert str(trouble.error()) == "bad limit"


def test_a_text_that_cannot_be_changed() -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            return "odd"

    error = _cluster.with_worker("a-worker", Odd())
    assert "on worker a-worker" in str(error)
    assert isinstance(error.__cause__, Odd)


def test_a_worker_that_dask_gives_up_is_lost() -> None:
    client = SimpleNamespace(nthreads=lambda: {"a": 1, "b": 1})
    futures = {"a": failed(KilledWorker("task", None, 0)), "b": RUNNING}
    assert Cluster(client)._lost(futures) == {"a"}
