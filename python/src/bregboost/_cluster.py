"""Which worker of a Dask cluster has which rows, and one task on each of them."""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import dask
import distributed
import numpy as np
import pandas as pd
from dask import array as da
from dask import dataframe as dd
from scipy import sparse

Collection = da.Array | dd.DataFrame | dd.Series
_LOOK_EVERY = 0.5  # seconds
_LOOKS_AFTER_FAILURE = 6


def check_collection(field: str, value: object) -> None:
    """Raise unless it is one of Dask's."""
    if not isinstance(value, (da.Array, dd.DataFrame, dd.Series)):
        raise TypeError(
            f"{field}: {type(value).__name__}; allowed: a Dask DataFrame, Series or Array"
        )


def partitions(field: str, value: Collection) -> list[Any]:
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


def joined(parts: Sequence[Any]) -> Any:
    """Parts of one collection as one; those without rows are left out unless all are."""
    filled = [part for part in parts if part.shape[0]] or list(parts[:1])
    if isinstance(filled[0], (pd.DataFrame, pd.Series)):
        return pd.concat(filled) if len(filled) > 1 else filled[0]
    if sparse.issparse(filled[0]):
        return sparse.vstack(filled, format="csr")
    return np.concatenate(filled)


class Placed(NamedTuple):
    """Rows of one worker: futures of parts, each of which has all columns, in the order of names.

    A tuple, since Dask finds futures in those.
    """

    names: tuple[str, ...]
    parts: list[Any]

    def table(self) -> dict[str, Any]:
        """Columns by name, once the futures are there."""
        return dict(zip(self.names, map(joined, zip(*self.parts, strict=True)), strict=True))


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
        self, columns: Mapping[str, Collection], among: Sequence[str] = (), prefix: str = ""
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
        workers = list(among or self.client.scheduler_info(n_workers=-1)["workers"])
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

        A worker that is lost is an error, and ends the work of the others.
        """
        futures = {
            worker: self.client.submit(
                work, *its, *arguments, workers=[worker], allow_other_workers=False, pure=False,
                retries=0,
            )
            for worker, its in by_worker.items()
        }  # fmt: skip
        try:
            self._watch(futures)
            return [future.result() for future in futures.values()]
        finally:
            self.client.cancel(list(futures.values()))

    def _watch(self, futures: Mapping[str, Any]) -> None:
        """Return when all have ended; raise when one has failed or its worker is gone."""
        while True:
            self._check_present(futures)
            failed = [future for future in futures.values() if future.status == "error"]
            if failed:
                # A worker that is gone fails its peers first.
                for _ in range(_LOOKS_AFTER_FAILURE):
                    time.sleep(_LOOK_EVERY)
                    self._check_present(futures)
                failed[0].result()  # raises
            if all(future.done() for future in futures.values()):
                return
            waiting = [future for future in futures.values() if not future.done()]
            with contextlib.suppress(TimeoutError):
                distributed.wait(waiting, timeout=_LOOK_EVERY, return_when="FIRST_COMPLETED")

    def _check_present(self, futures: Mapping[str, Any]) -> None:
        present = self.client.scheduler_info(n_workers=-1)["workers"]
        lost = [worker for worker in futures if worker not in present]
        if lost:
            raise RuntimeError(
                f"workers: {', '.join(lost)} lost while training; allowed: workers that stay until "
                "fit returns. Nothing is fitted"
            )
