"""The distributed engines of the libraries: how their processes find each other."""

import contextlib
import ctypes
import secrets
import socket
from collections.abc import Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol

from bregboost import _core
from bregboost._backends import backend_for
from bregboost._workers import Star, xgboost_workers

if TYPE_CHECKING:
    from bregboost._cluster import Cluster

_TIMEOUT = 60  # seconds for workers to find each other


class Network(Protocol):
    """What a worker needs to know to join the others; goes to it as a pickle."""

    def joined(self, worker: Any) -> contextlib.AbstractContextManager[_core.Workers]:
        """The workers, while the context lasts."""

    def prepared(self, estimator: Any, worker: Any) -> Any:
        """The estimator as this worker trains it: its threads, its place in the network."""


def engine_of(owner: Any) -> Any:
    """Of the estimator's library."""
    engines = {"lightgbm": LightgbmEngine, "xgboost": XgboostEngine}
    backend = backend_for(owner.estimator, owner._task)
    if backend.name not in engines:
        raise TypeError(
            f"estimator: {type(backend.estimator).__name__}; allowed on a cluster: those of "
            "LightGBM and XGBoost"
        )
    if owner.deploy != "fold_mean":
        raise ValueError(f"deploy: {owner.deploy!r}; allowed on a cluster: 'fold_mean'")
    if owner.validation not in ("auto", "holdout"):
        raise ValueError(
            f"validation: {owner.validation!r}; allowed on a cluster: 'auto', 'holdout'"
        )
    return engines[backend.name]()


def with_threads(estimator: Any, threads: int) -> Any:
    """A copy, with that many unless it names a number."""
    estimator = copy(estimator)
    if estimator.n_jobs is None:
        estimator.n_jobs = threads
    return estimator


def host_of(address: str) -> str:
    """Of an address such as tcp://10.0.0.5:40331."""
    return address.split("://")[-1].rsplit(":", 1)[0]


class XgboostEngine:
    """XGBoost's tracker and communicator."""

    @contextlib.contextmanager
    def network(self, cluster: "Cluster", workers: Sequence[str]) -> Iterator["XgboostNetwork"]:
        """Alive as long as the context."""
        from xgboost.core import XGBoostError
        from xgboost.tracker import RabitTracker

        tracker = RabitTracker(
            n_workers=len(workers),
            host_ip=host_of(cluster.client.scheduler.address),
            sortby="task",
            timeout=_TIMEOUT,
        )
        tracker.start()
        try:
            yield XgboostNetwork(tracker.worker_args())
        finally:
            with contextlib.suppress(XGBoostError):  # that a worker is lost has been said
                tracker.free()


class XgboostNetwork:
    """Of `Network`."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._arguments = arguments

    @contextlib.contextmanager
    def joined(self, worker: Any) -> Iterator[_core.Workers]:
        """Ranks follow the names of Dask's workers."""
        from xgboost import collective

        own = {"dmlc_task_id": f"[bregboost-{worker.name}]:{worker.address}"}
        with collective.CommunicatorContext(**self._arguments, **own):
            yield xgboost_workers()

    def prepared(self, estimator: Any, worker: Any) -> Any:
        """Of the communicator the library knows already."""
        return with_threads(
            backend_for(estimator, "classification").estimator, worker.state.nthreads
        )


class LightgbmEngine:
    """LightGBM's sockets, one of which every worker listens on, and ours for the limits."""

    @contextlib.contextmanager
    def network(self, cluster: "Cluster", workers: Sequence[str]) -> Iterator["LightgbmNetwork"]:
        """Of free ports of the workers."""
        ports = cluster.run(free_ports, {worker: [] for worker in workers})
        machines = {
            worker: f"{host_of(worker)}:{own[0]}"
            for worker, own in zip(workers, ports, strict=True)
        }
        star = (host_of(workers[0]), ports[0][1])
        yield LightgbmNetwork(machines, star, secrets.token_bytes(16))


def free_ports() -> tuple[int, int]:
    """Two of this machine."""
    with socket.socket() as first, socket.socket() as second:
        first.bind(("", 0))
        second.bind(("", 0))
        return first.getsockname()[1], second.getsockname()[1]


class LightgbmNetwork:
    """Of `Network`."""

    def __init__(self, machines: dict[str, str], star: tuple[str, int], key: bytes) -> None:
        self._machines = machines  # by Dask's address
        self._star = star
        self._key = key

    @contextlib.contextmanager
    def joined(self, worker: Any) -> Iterator[_core.Workers]:
        """LightGBM's network is one for the whole process."""
        from lightgbm.basic import _LIB, _c_str, _safe_call

        rank = list(self._machines).index(worker.address)
        port = int(self._machines[worker.address].rsplit(":", 1)[1])
        size = len(self._machines)
        with Star.joined(rank, size, self._star, self._key, _TIMEOUT) as star:
            _safe_call(
                _LIB.LGBM_NetworkInit(
                    _c_str(",".join(self._machines.values())),
                    ctypes.c_int(port),
                    ctypes.c_int(_TIMEOUT // 60 or 1),
                    ctypes.c_int(size),
                )
            )
            try:
                yield star.workers()
            finally:
                _safe_call(_LIB.LGBM_NetworkFree())

    def prepared(self, estimator: Any, worker: Any) -> Any:
        """Trees of all workers' rows."""
        estimator = backend_for(estimator, "classification").estimator
        own = with_threads(estimator, worker.state.nthreads)
        return own.set_params(
            tree_learner="data", num_machines=len(self._machines), pre_partition=True
        )
