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
from bregboost._lightgbm_sockets import LightgbmSockets
from bregboost._star import Meeting, Star
from bregboost._workers import Check, peer_errors, xgboost_workers

if TYPE_CHECKING:
    from bregboost._cluster import Cluster

_TIMEOUT = 60  # seconds for workers to find each other
_LIGHTGBM_TIME_OUT = 10  # minutes for a worker that is there to answer


class Network(Protocol):
    """What a worker needs to know to join the others; goes to it as a pickle."""

    def joined(self, worker: Any, check: Check) -> contextlib.AbstractContextManager[_core.Workers]:
        """The workers, while the context lasts; they call `check`, which may raise."""

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
    if owner.checkpoint_dir is not None:
        raise ValueError(f"checkpoint_dir: {owner.checkpoint_dir!r}; allowed on a cluster: None")
    return engines[backend.name](backend.estimator)


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

    def __init__(self, estimator: Any) -> None:
        """Of any estimator alike."""

    @contextlib.contextmanager
    def network(self, cluster: "Cluster", workers: Sequence[str]) -> Iterator["XgboostNetwork"]:
        """Alive as long as the context."""
        from distributed.utils import get_ip
        from xgboost.core import XGBoostError
        from xgboost.tracker import RabitTracker

        tracker = RabitTracker(
            n_workers=len(workers),
            host_ip=get_ip(host_of(cluster.client.scheduler.address)),  # of this machine
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
    def joined(self, worker: Any, check: Check) -> Iterator[_core.Workers]:
        """Ranks follow the names of Dask's workers."""
        from xgboost import collective
        from xgboost.core import XGBoostError

        own = {"dmlc_task_id": f"[bregboost-{worker.name}]:{worker.address}"}
        with peer_errors(XGBoostError):
            collective.init(**self._arguments, **own)
            try:
                yield xgboost_workers(check)
            except BaseException:
                # Others see their connections break. What XGBoost says here is not the cause.
                with contextlib.suppress(XGBoostError):
                    collective.finalize()
                raise
            collective.finalize()

    def prepared(self, estimator: Any, worker: Any) -> Any:
        """Of the communicator the library knows already."""
        return with_threads(
            backend_for(estimator, "classification").estimator, worker.state.nthreads
        )


class LightgbmEngine:
    """LightGBM's sockets, one of which every worker listens on, and ours for the limits."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    @contextlib.contextmanager
    def network(self, cluster: "Cluster", workers: Sequence[str]) -> Iterator["LightgbmNetwork"]:
        """Of free ports of the workers."""
        ports = cluster.run(free_ports, {worker: [] for worker in workers})
        machines = [
            f"{host_of(worker)}:{own[0]}" for worker, own in zip(workers, ports, strict=True)
        ]
        time_out = int(self._estimator.get_params().get("time_out", _LIGHTGBM_TIME_OUT))
        meeting = Meeting(
            names=tuple(workers),
            address=(host_of(workers[0]), ports[0][1]),
            key=secrets.token_bytes(16),
            seconds=_TIMEOUT,
        )
        yield LightgbmNetwork(machines, meeting, time_out)


def free_ports() -> tuple[int, int]:
    """Two of this machine."""
    with socket.socket() as first, socket.socket() as second:
        first.bind(("", 0))
        second.bind(("", 0))
        return first.getsockname()[1], second.getsockname()[1]


class LightgbmNetwork:
    """Of `Network`."""

    def __init__(self, machines: list[str], meeting: Meeting, time_out: int) -> None:
        self._machines = machines  # by rank
        self._meeting = meeting
        self._time_out = time_out  # minutes

    @contextlib.contextmanager
    def joined(self, worker: Any, check: Check) -> Iterator[_core.Workers]:
        """LightGBM's network is one for the whole process."""
        from lightgbm.basic import _LIB, LightGBMError, _c_str, _safe_call

        rank = self._meeting.names.index(worker.address)
        sockets = LightgbmSockets(self._machines, rank)
        with (
            peer_errors(LightGBMError),
            Star.joined(rank, self._meeting, check) as star,
        ):
            with star.watched(sockets.cut):
                _safe_call(
                    _LIB.LGBM_NetworkInit(
                        _c_str(",".join(self._machines)),
                        ctypes.c_int(sockets.port),
                        ctypes.c_int(self._time_out),
                        ctypes.c_int(len(self._machines)),
                    )
                )
                sockets.keep()
            try:
                with star.watched(sockets.cut):
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
