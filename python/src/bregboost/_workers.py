"""Processes that have the rows of a training between them, as the core sees them."""

import contextlib
import time
from collections.abc import Callable, Iterator
from functools import reduce
from multiprocessing.connection import Client, Connection, Listener

import numpy as np

from bregboost import _core

Reduce = Callable[[np.ndarray, np.ndarray], np.ndarray]


def xgboost_workers() -> _core.Workers:
    """Those of the communicator that XGBoost has in this thread."""
    from xgboost import collective

    rank, size = collective.get_rank(), collective.get_world_size()

    def total(values: np.ndarray) -> np.ndarray:
        return collective.allreduce(values, collective.Op.SUM)

    def maximum(values: np.ndarray) -> np.ndarray:
        return collective.allreduce(values, collective.Op.MAX)

    def gather(mine: bytes) -> list[bytes]:
        return [collective.broadcast(mine if root == rank else None, root) for root in range(size)]

    return _core.Workers.from_functions(
        rank=rank, size=size, sum=total, maximum=maximum, gather=gather
    )


class Star:
    """Connections of the first worker to all others, for a library that has none to lend.

    What crosses them is small: the first worker puts it together, in the order of ranks, and sends
    the same bytes to all.
    """

    def __init__(self, rank: int, size: int, connections: list[Connection]) -> None:
        self.rank = rank
        self.size = size
        self._connections = connections  # of the first: to ranks 1, 2, ...; else: to the first

    @classmethod
    @contextlib.contextmanager
    def joined(
        cls, rank: int, size: int, address: tuple[str, int], key: bytes, timeout: float
    ) -> Iterator["Star"]:
        """Connected while the context lasts."""
        connections: list[Connection] = []
        try:
            if rank == 0:
                with Listener(address, backlog=size, authkey=key) as listener:
                    by_rank = {}
                    for _ in range(size - 1):
                        connection = listener.accept()
                        connections.append(connection)
                        by_rank[connection.recv()] = connection
                connections = [by_rank[other] for other in range(1, size)]
            else:
                connections.append(_connect(address, key, timeout))
                connections[0].send(rank)
            yield cls(rank, size, connections)
        finally:
            for connection in connections:
                connection.close()

    def gather(self, mine: bytes) -> list[bytes]:
        """Of all workers, by rank."""
        if self.rank == 0:
            all_bytes = [mine, *(connection.recv_bytes() for connection in self._connections)]
            for connection in self._connections:
                connection.send(all_bytes)
            return all_bytes
        self._connections[0].send_bytes(mine)
        return self._connections[0].recv()

    def reduce(self, values: np.ndarray, combine: Reduce) -> np.ndarray:
        """Combined in the order of ranks."""
        if self.rank > 0:
            self._connections[0].send_bytes(values.tobytes())
            return np.frombuffer(self._connections[0].recv_bytes())
        received = (np.frombuffer(connection.recv_bytes()) for connection in self._connections)
        result = reduce(combine, received, values)
        for connection in self._connections:
            connection.send_bytes(result.tobytes())
        return result

    def workers(self) -> _core.Workers:
        """For the core."""
        return _core.Workers.from_functions(
            rank=self.rank,
            size=self.size,
            sum=lambda values: self.reduce(values, np.add),
            maximum=lambda values: self.reduce(values, np.maximum),
            gather=self.gather,
        )


def _connect(address: tuple[str, int], key: bytes, timeout: float) -> Connection:
    """As soon as the first worker listens."""
    until = time.monotonic() + timeout
    while True:
        try:
            return Client(address, authkey=key)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
