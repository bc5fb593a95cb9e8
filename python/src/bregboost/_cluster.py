"""Which worker of a Dask cluster has which rows, and one task on each of them."""

import contextlib
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import dask
import distributed
import numpy as np
from dask import array as da
from dask import dataframe as dd
from distributed.scheduler import KilledWorker

from bregboost._errors import PeerError
from bregboost._row_parts import RowParts

DaskCollection = da.Array | dd.DataFrame | dd.Series
_LOOK_EVERY = 0.5  # seconds
_PATIENCE = 10.0  # seconds from the first failure until its cause must be known
_FAREWELL = 5.0  # seconds for workers to end what nobody waits for


def check_collection(field: str, value: object) -> None:
    """Raise unless it is one of Dask's."""
    if not isinstance(value, (da.Array, dd.DataFrame, dd.Series)):
        raise TypeError(
            f"{field}: {type(value).__name__}; allowed: a Dask DataFrame, Series or Array"
        )


def partitions(field: str, value: DaskCollection) -> list[Any]:
    """Its parts along the rows, delayed."""
    delayed = value.to_delayed()
    if isinstance(value, da.Array) and value.ndim == 2:
        if delayed.shape[1] != 1:
            raise ValueError(
                f"{field}: {delayed.shape[1]} chunks of columns; allowed: 1 (rechunk first, "
                "X.rechunk({1: -1}))"
            )
        delayed = delayed[:, 0]
    return list(np.ravel(delayed))


class Placed(NamedTuple):
    """Rows of one worker: futures of parts, each of which has all columns, in the order of names.

    A tuple, since Dask finds futures in those.
    """

    names: tuple[str, ...]
    parts: list[Any]

    def table(self) -> dict[str, RowParts]:
        """Columns by name, once the futures are there."""
        return dict(zip(self.names, map(RowParts, zip(*self.parts, strict=True)), strict=True))


class Cluster:
    """The workers of a client.

    Parameters
    ----------
    client : distributed.Client or None
        None: the current one.
    """

    def __init__(self, client: distributed.Client | None) -> None:
        self.client = distributed.get_client() if client is None else client

    def place(
        self, columns: Mapping[str, DaskCollection], among: Sequence[str] = (), prefix: str = ""
    ) -> dict[str, "Placed"]:
        """Which parts each worker has.

        Parts at the same place of their columns stay together, and where they are, unless that
        leaves other workers with fewer of them. Without `among`, all workers may get some.
        """
        delayed = {name: partitions(name, column) for name, column in columns.items()}
        first, *others = delayed
        for name in others:
            if len(delayed[name]) != len(delayed[first]):
                found, allowed = len(delayed[name]), len(delayed[first])
                raise ValueError(
                    f"{prefix}{name}: {found} partitions; allowed: {allowed}, as of {first}"
                )
        tuples = [dask.delayed(tuple)(parts) for parts in zip(*delayed.values(), strict=True)]
        futures = self.client.compute(tuples)
        distributed.wait(futures)
        for future in futures:
            if future.status == "error":
                future.result()  # raises
        if 0 < len(futures) < len(among):
            raise ValueError(
                f"{prefix}{first}: {len(futures)} partitions; allowed: at least {len(among)}, one "
                "for each worker that trains (repartition first)"
            )
        workers = list(among or self._present())
        most = -(-len(futures) // len(workers))
        holders = self.client.who_has(futures)
        placed: dict[str, list[Any]] = {worker: [] for worker in workers}
        for future in futures:
            here = [worker for worker in holders[future.key] if worker in placed]
            free = [worker for worker in here if len(placed[worker]) < most]
            placed[min(free or workers, key=lambda worker: len(placed[worker]))].append(future)
        names = tuple(delayed)
        return {worker: Placed(names, parts) for worker, parts in placed.items() if parts}

    def run(
        self, work: Callable[..., Any], by_worker: Mapping[str, Sequence[Any]], *arguments: Any
    ) -> list[Any]:
        """``work(*its, *arguments)`` on each worker at once.

        A worker that fails or is lost is an error, and ends the work of the others.
        """
        futures = {
            worker: self.client.submit(
                work, *its, *arguments, workers=[worker], allow_other_workers=False, pure=False,
                retries=0,
            )
            for worker, its in by_worker.items()
        }  # fmt: skip
        try:
            self._wait(futures)
            return [future.result() for future in futures.values()]
        except BaseException:
            with contextlib.suppress(OSError):  # without a scheduler there is nobody to tell
                self._call_off(futures)
            raise

    def _wait(self, futures: Mapping[str, Any]) -> None:
        """Return when all have ended well; raise why they have not.

        The others end soon after the first one; then it can be told which one that was.
        """
        trouble = Trouble()
        until = math.inf
        while time.monotonic() < until:
            lost = self._lost(futures)
            trouble.note(futures, lost)
            waiting = [
                future
                for worker, future in futures.items()
                if not future.done() and worker not in lost
            ]
            if not waiting and (trouble.has_cause() or not trouble):
                break
            if trouble and until == math.inf:
                until = time.monotonic() + _PATIENCE
            if waiting:
                with contextlib.suppress(TimeoutError, distributed.TimeoutError):
                    distributed.wait(waiting, timeout=_LOOK_EVERY, return_when="FIRST_COMPLETED")
            else:
                time.sleep(_LOOK_EVERY)
        if trouble:
            raise trouble.error()

    def _call_off(self, futures: Mapping[str, Any]) -> None:
        """Workers notice when they next need each other; until then what connects them stays."""
        self.client.cancel(list(futures.values()))
        keys = [future.key for future in futures.values()]
        until = time.monotonic() + _FAREWELL
        while time.monotonic() < until:
            present = self._present()
            workers = [worker for worker in futures if worker in present]
            if not any(self.client.run(has_any, keys, workers=workers, on_error="ignore").values()):
                return
            time.sleep(_LOOK_EVERY)

    def _present(self) -> Collection[str]:
        """Asked for each time: in what `scheduler_info` keeps, workers are missing now and then."""
        return self.client.nthreads()

    def _lost(self, futures: Mapping[str, Any]) -> set[str]:
        present = self._present()
        return {
            worker
            for worker, future in futures.items()
            if worker not in present
            or (future.status == "error" and isinstance(future.exception(), KilledWorker))
        }


class Trouble:
    """What is known of workers that fail: one of them does first, the others for that reason."""

    def __init__(self) -> None:
        self._errors: dict[str, BaseException] = {}  # in the order in which they became known
        self._lost: tuple[str, ...] = ()  # the first ones; others may have ended for lack of them

    def __bool__(self) -> bool:
        return bool(self._errors or self._lost)

    def note(self, futures: Mapping[str, Any], lost: Collection[str]) -> None:
        """What has happened since the last time."""
        for worker, future in futures.items():
            if worker not in lost and worker not in self._errors and future.status == "error":
                self._errors[worker] = future.exception()
        self._lost = self._lost or tuple(worker for worker in futures if worker in lost)

    def has_cause(self) -> bool:
        """Whether something went wrong other than that connections broke."""
        return bool(self._lost or self._own_errors())

    def error(self) -> BaseException:
        """For the caller of `fit`."""
        own = self._own_errors()
        if self._lost and not own:
            return RuntimeError(
                f"workers: {', '.join(self._lost)} lost while training; allowed: workers that stay "
                "until fit returns. Nothing is fitted"
            )
        worker, error = next(iter((own or self._errors).items()))
        texts = {str(other) for other in self._errors.values()}
        return error if len(texts) == 1 < len(self._errors) else with_worker(worker, error)

    def _own_errors(self) -> dict[str, BaseException]:
        return {
            worker: error
            for worker, error in self._errors.items()
            if not isinstance(error, PeerError)
        }


def with_worker(worker: str, error: BaseException) -> BaseException:
    """The error, whose text says where it happened."""
    error.args = (f"{error} (on worker {worker})",)
    if worker in str(error):
        return error
    named = RuntimeError(f"{error!r} on worker {worker}")  # it writes its text itself
    named.__cause__ = error
    return named


def has_any(keys: Sequence[str], dask_worker: distributed.Worker) -> bool:
    """Whether the worker is still at one of these tasks."""
    return any(key in dask_worker.state.tasks for key in keys)


def cancellation(worker: distributed.Worker) -> Callable[[], None]:
    """Raises as soon as nobody waits any more for the task that runs in this thread."""
    key = worker.get_current_task()

    def check() -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise PeerError("workers: the training was called off")

    return check
