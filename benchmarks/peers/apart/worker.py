"""Runs one peer in the environment that this is called with:

python -m benchmarks.peers.apart.worker <peer> <request file> <answer file>

A peer is a module `with_<package>` and a function in it, as in `fairlearn.reduction`: it takes a
`Request`, trains, and returns a function that says the classes of the request's test rows. That
function is not called before the clock has stopped.
"""

import importlib
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.peers.apart.request import Request


def main() -> None:
    peer, source, target = sys.argv[1:]
    package, _, function = peer.partition(".")
    train = getattr(importlib.import_module(f"benchmarks.peers.apart.with_{package}"), function)
    request = Request.read(Path(source))
    start = time.perf_counter()
    predict = train(request)
    seconds = time.perf_counter() - start
    np.savez(target, predicted=np.asarray(predict()).astype(int).ravel(), seconds=seconds)


if __name__ == "__main__":
    main()
