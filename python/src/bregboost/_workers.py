"""Processes that have the rows of a training between them, as the core sees them."""

import contextlib
import re
from collections.abc import Callable, Iterator

import numpy as np

from bregboost import _core
from bregboost._errors import PeerError

Check = Callable[[], None]

_ABOUT_CONNECTIONS = re.compile("socket|allreduce|allgather|broadcast|communicat|connect", re.I)


def xgboost_workers(check: Check) -> _core.Workers:
    """Those of the communicator that XGBoost has in this thread; `check` may raise at any time."""
    from xgboost import collective

    rank, size = collective.get_rank(), collective.get_world_size()

    def total(values: np.ndarray) -> np.ndarray:
        check()
        return collective.allreduce(values, collective.Op.SUM)

    def maximum(values: np.ndarray) -> np.ndarray:
        check()
        return collective.allreduce(values, collective.Op.MAX)

    def gather(mine: bytes) -> list[bytes]:
        check()
        return [collective.broadcast(mine if root == rank else None, root) for root in range(size)]

    return _core.Workers.from_functions(
        rank=rank, size=size, sum=total, maximum=maximum, gather=gather
    )


@contextlib.contextmanager
def peer_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Errors of a library, of our own or its kinds, that tell of a broken connection.

    They are not this worker's fault.
    """
    try:
        yield
    except (RuntimeError, *kinds) as error:
        if not _ABOUT_CONNECTIONS.search(str(error)):
            raise
        text = " ".join(str(error).split())
        raise PeerError(f"workers: a connection broke ({text})") from error
