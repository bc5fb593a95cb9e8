"""The distributed engines of the libraries: how their processes find each other."""

import contextlib
import ctypes
import os
import secrets
import socket
from collections.abc import Iterator, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol

from bregboost import _core
from bregboost._backends import backend_for
from bregboost._star import Star
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
        machines = {
            worker: f"{host_of(worker)}:{own[0]}"
            for worker, own in zip(workers, ports, strict=True)
        }
        star = (host_of(workers[0]), ports[0][1])
        time_out = int(self._estimator.get_params().get("time_out", _LIGHTGBM_TIME_OUT))
        yield LightgbmNetwork(machines, star, secrets.token_bytes(16), time_out)


def free_ports() -> tuple[int, int]:
    """Two of this machine."""
    with socket.socket() as first, socket.socket() as second:
        first.bind(("", 0))
        second.bind(("", 0))
        return first.getsockname()[1], second.getsockname()[1]


class LightgbmNetwork:
    """Of `Network`."""

    def __init__(
        self, machines: dict[str, str], star: tuple[str, int], key: bytes, time_out: int
    ) -> None:
        self._machines = machines  # by Dask's address
        self._star = star
        self._key = key
        self._time_out = time_out  # minutes

    @contextlib.contextmanager
    def joined(self, worker: Any, check: Check) -> Iterator[_core.Workers]:
        """LightGBM's network is one for the whole process."""
        from lightgbm.basic import _LIB, LightGBMError, _c_str, _safe_call

        names = list(self._machines)
        rank = names.index(worker.address)
        sockets = LightgbmSockets(list(self._machines.values()), rank)
        with (
            peer_errors(LightGBMError),
            Star.joined(rank, names, self._star, self._key, _TIMEOUT) as star,
        ):
            with star.watched(sockets.cut):
                _safe_call(
                    _LIB.LGBM_NetworkInit(
                        _c_str(",".join(self._machines.values())),
                        ctypes.c_int(sockets.port),
                        ctypes.c_int(self._time_out),
                        ctypes.c_int(len(names)),
                    )
                )
                sockets.keep()
            try:
                with star.watched(sockets.cut):
                    yield star.workers(check)
            finally:
                _safe_call(_LIB.LGBM_NetworkFree())

    def prepared(self, estimator: Any, worker: Any) -> Any:
        """Trees of all workers' rows."""
        estimator = backend_for(estimator, "classification").estimator
        own = with_threads(estimator, worker.state.nthreads)
        return own.set_params(
            tree_learner="data", num_machines=len(self._machines), pre_partition=True
        )


class LightgbmSockets:
    """LightGBM's connections in this process.

    It reads for ever from one that the other side has closed: zero bytes are no error to it.
    """

    def __init__(self, machines: Sequence[str], rank: int) -> None:
        addresses = [machine.rsplit(":", 1) for machine in machines]
        self._peers = {(host, int(port)) for host, port in addresses}
        self.port = int(addresses[rank][1])
        self._kept: list[int] | None = None

    def keep(self) -> None:
        """Those that are there now; one that breaks no longer knows whose it was."""
        self._kept = self._find()

    def cut(self) -> None:
        """Make errors of all that LightGBM does with them.

        In the midst of a message above 100 kB, which it sends in a thread while it receives
        another, LightGBM does not survive errors, and this process ends.
        """
        no_socket = os.open(os.devnull, os.O_RDWR)
        for descriptor in self._find() if self._kept is None else self._kept:
            with contextlib.suppress(OSError), _socket_of(descriptor) as connection:
                connection.shutdown(socket.SHUT_RDWR)  # wakes who waits
            os.dup2(no_socket, descriptor)  # if closed, the number might become another's
        os.close(no_socket)

    def _find(self) -> list[int]:
        return [descriptor for descriptor in _descriptors() if self._is_ours(descriptor)]

    def _is_ours(self, descriptor: int) -> bool:
        try:
            with _socket_of(descriptor) as connection:
                if connection.family != socket.AF_INET:
                    return False
                own_port = connection.getsockname()[1]
                return own_port == self.port or connection.getpeername() in self._peers
        except OSError:  # no socket, or not connected
            return False


def _descriptors() -> list[int]:
    return [int(name) for name in os.listdir("/proc/self/fd")]


def _socket_of(descriptor: int) -> socket.socket:
    return socket.socket(fileno=os.dup(descriptor))
