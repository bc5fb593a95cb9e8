"""The connections that LightGBM's workers have beside its own."""

import multiprocessing
import re
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import lightgbm
import numpy as np
import pytest
from bregboost._engines import LightgbmNetwork, free_ports
from bregboost._errors import PeerError
from bregboost._star import Meeting, Star

Work = Callable[[Star], Any]


def meet(size: int, seconds: float = 20.0) -> Meeting:
    names = tuple(f"worker-{rank}" for rank in range(size))
    return Meeting(names, ("127.0.0.1", free_ports()[0]), b"key", seconds)


def no_check() -> None:
    pass


def join(rank: int, meeting: Meeting, work: Work, check: Callable[[], None] = no_check) -> Any:
    with Star.joined(rank, meeting, check) as star:
        return work(star)


def run(meeting: Meeting, *works: Work) -> list[Any]:
    """Results or errors of threads, by rank."""
    with ThreadPoolExecutor(len(works)) as pool:
        joined = [pool.submit(join, rank, meeting, work) for rank, work in enumerate(works)]
        return [future.exception() or future.result() for future in joined]


def test_all_get_the_same() -> None:
    def work(star: Star) -> tuple[list[bytes], np.ndarray, np.ndarray]:
        values = np.array([1.0, star.rank])
        total, largest = star.reduce(values, np.add), star.reduce(values, np.maximum)
        return star.gather(b"x" * star.rank), total, largest

    for all_bytes, total, largest in run(meet(3), work, work, work):
        assert all_bytes == [b"", b"x", b"xx"]
        assert total.tolist() == [3.0, 3.0]
        assert largest.tolist() == [1.0, 2.0]


def test_a_worker_that_does_not_come_is_named() -> None:
    meeting = meet(3, seconds=1.0)
    first, second, *_ = run(meeting, lambda star: star, lambda star: star.gather(b""))
    assert "worker-2 did not connect in 1 seconds" in str(first)
    assert isinstance(second, PeerError)


def test_the_first_worker_does_not_come() -> None:
    with pytest.raises(PeerError, match="worker-0 could not be reached in 1 seconds"):
        join(1, meet(2, seconds=1.0), no_check)


def test_no_wait_for_workers_once_the_training_is_called_off() -> None:
    def called_off() -> None:
        raise PeerError("called off")

    for rank in (0, 1):
        with pytest.raises(PeerError, match="called off"):
            join(rank, meet(2), no_check, called_off)


def test_strangers_are_turned_away() -> None:
    meeting = meet(2)

    def first(star: Star) -> list[bytes]:
        return star.gather(b"first")

    with ThreadPoolExecutor(2) as pool:
        result = pool.submit(join, 0, meeting, first)
        with pytest.raises(PeerError, match="the connection to worker-0 broke"):
            join(1, meeting._replace(key=b"another"), lambda star: star.gather(b"stranger"))
        with socket.create_connection(meeting.address):
            pass
        pool.submit(join, 1, meeting, lambda star: star.gather(b"second"))
        assert result.result(timeout=20) == [b"first", b"second"]


def test_a_worker_that_fails_is_named_and_noticed() -> None:
    noticed = threading.Event()

    def fail(star: Star) -> None:
        raise ValueError("own")

    def wait(star: Star) -> None:
        with star.watched(noticed.set):
            assert noticed.wait(20)
        star.gather(b"")

    first, second, third = run(meet(3), wait, fail, wait)
    assert "the connection to worker-1 broke" in str(first)
    assert isinstance(second, ValueError)
    assert "the connection to worker-0 broke" in str(
        third
    )  # which has failed for lack of the other


def test_who_ends_first_is_not_lost() -> None:
    noticed = threading.Event()

    def slow(star: Star) -> None:
        with star.watched(noticed.set):
            time.sleep(0.5)

    assert run(meet(2), lambda star: None, slow) == [None, None]
    assert not noticed.is_set()


def lightgbm_network(meeting: Meeting, ports: list[int], rank: int) -> Any:
    network = LightgbmNetwork([f"127.0.0.1:{port}" for port in ports], meeting, time_out=5)
    return network.joined(SimpleNamespace(address=meeting.names[rank]), no_check)


def train(**parameters: Any) -> lightgbm.Booster:
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 3))
    data = lightgbm.Dataset(X, label=X[:, 0] > 0, params={"verbose": -1})
    return lightgbm.train({"objective": "binary", "verbose": -1, **parameters}, data, 5)


def train_with_others(meeting: Meeting, ports: list[int], results: Any) -> None:
    begin = time.monotonic()
    try:
        with lightgbm_network(meeting, ports, 0):
            train(tree_learner="data", num_machines=2, pre_partition=True)
    except PeerError as error:
        results.put((str(error), time.monotonic() - begin))
    results.put(train().num_trees())


def say_nothing(meeting: Meeting, ports: list[int], over: Any) -> None:
    """LightGBM's connections stay, ours breaks."""
    Star.workers = lambda star: star
    with lightgbm_network(meeting, ports, 1) as star:
        star._lines[0].close()
        over.wait(60)


def test_lightgbm_does_not_wait_for_a_worker_that_is_gone() -> None:
    """Without our connection it would, for the five minutes of time_out."""
    context = multiprocessing.get_context("spawn")
    results, over = context.Queue(), context.Event()
    meeting, ports = meet(2), [free_ports()[0], free_ports()[0]]
    processes = [
        context.Process(target=train_with_others, args=(meeting, ports, results)),
        context.Process(target=say_nothing, args=(meeting, ports, over)),
    ]
    for process in processes:
        process.start()
    try:
        text, seconds = results.get(timeout=60)
        assert re.search("Socket (recv|send) error", text)  # whichever it was at
        assert seconds < 20
        assert results.get(timeout=60) == 5  # the process can go on
    finally:
        over.set()
        for process in processes:
            process.join(timeout=30)
